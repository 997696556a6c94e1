#include "tarn/steady_state.h"

#include <execinfo.h>

#include <atomic>
#include <csignal>
#include <cstdlib>

#include "base/text.h"
#include "os/fatal.h"
#include "os/growth_watch.h"

namespace tarn {
namespace {

constexpr int kMostFrames = 64;
constexpr std::size_t kNameBytes = 64;

constinit std::atomic<bool> is_taken{false};
constinit std::atomic<std::size_t> count{0};
AtGrowth action_at_growth;
char guard_name[kNameBytes];

void report(const char* what) {
  internal::FixedText<256> line;
  line.add("tarn: growth in '").add(guard_name).add("': ").add(what).add("; the stack:\n");
  internal::os::write_line(line.data(), line.length());
  void* frames[kMostFrames];
  backtrace_symbols_fd(frames, backtrace(frames, kMostFrames), 2);
}

void on_growth(const char* what) {
  if (count.fetch_add(1, std::memory_order_relaxed) != 0 || action_at_growth == AtGrowth::kCount) return;
  report(what);
  if (action_at_growth != AtGrowth::kAbort) return;
  std::signal(SIGABRT, SIG_DFL);  // a handler might allocate, and a lock of ours may be held
  std::abort();
}

}  // namespace

namespace detail {

bool arm_steady_state(AtGrowth action, const char* name) noexcept {
  if (is_taken.exchange(true)) return false;
  void* frame = nullptr;
  backtrace(&frame, 1);  // loads the unwinder now: later it could not allocate
  action_at_growth = action;
  internal::Text text(guard_name, kNameBytes - 1);
  text.add(name);
  guard_name[text.length()] = '\0';
  count.store(0, std::memory_order_relaxed);
  internal::os::growth_watcher.store(on_growth, std::memory_order_release);
  return true;
}

void disarm_steady_state() noexcept {
  internal::os::growth_watcher.store(nullptr, std::memory_order_relaxed);
  is_taken.store(false);
}

std::size_t steady_state_growth_count() noexcept { return count.load(std::memory_order_relaxed); }

}  // namespace detail
}  // namespace tarn
