// The watcher of growth runs in the thread that takes memory, under the library's locks. So it takes no lock
// of libc's and allocates nothing: it writes each frame as a file and an offset. Looking up the names needs
// the loader's lock, so disarming does it.
//
// The unwinder finds the frames. From glibc 2.35 on it asks the loader without a lock; with an older glibc no
// frames are shown.
#include "tarn/steady_state.h"

#include <execinfo.h>
#include <gnu/libc-version.h>

#include <atomic>
#include <csignal>
#include <cstdlib>

#include "base/text.h"
#include "os/fatal.h"
#include "os/memory/growth_watch.h"
#include "os/stack/code_place.h"

namespace TARN_NAMESPACE {
namespace {

constexpr int kMostFrames = 64;
constexpr std::size_t kNameBytes = 64;

constinit std::atomic<bool> is_taken{false};
constinit std::atomic<std::size_t> count{0};
AtGrowth action_at_growth;
char guard_name[kNameBytes];
bool may_unwind;
void* frames[kMostFrames];
constinit std::atomic<int> frame_count{0};  // set after the frames are written

bool unwinder_takes_no_lock() {
  char* end = nullptr;
  const long major = std::strtol(gnu_get_libc_version(), &end, 10);
  return major > 2 || (major == 2 && *end == '.' && std::strtol(end + 1, nullptr, 10) >= 35);
}

void write_frame(const void* frame) {
  const auto address = reinterpret_cast<std::uintptr_t>(frame);
  internal::FixedText<256> line;
  line.add("  ");
  if (internal::os::add_code_place(line, address)) line.add(' ');
  line.add('[').add_hex(address).add("]\n");
  internal::os::write_line(line);
}

void report(const char* what) {
  internal::FixedText<256> line;
  line.add("tarn: growth in '").add(guard_name).add("': ").add(what).add("; the stack:\n");
  internal::os::write_line(line);
  const int found = may_unwind ? backtrace(frames, kMostFrames) : 0;
  for (int i = 0; i < found; ++i) write_frame(frames[i]);
  frame_count.store(found, std::memory_order_release);
}

void report_names() {
  const int found = frame_count.load(std::memory_order_acquire);
  if (found == 0) return;
  internal::FixedText<256> line;
  line.add("tarn: growth in '").add(guard_name).add("': the stack with names:\n");
  internal::os::write_line(line);
  backtrace_symbols_fd(frames, found, 2);
}

void on_growth(const char* what) {
  if (count.fetch_add(1, std::memory_order_relaxed) != 0 || action_at_growth == AtGrowth::kCount) return;
  report(what);
  if (action_at_growth != AtGrowth::kAbort) return;
  std::signal(SIGABRT, SIG_DFL);  // the program's handler might allocate while a lock of ours is held
  std::abort();
}

}  // namespace

namespace detail {

bool arm_steady_state(AtGrowth action, const char* name) noexcept {
  if (is_taken.exchange(true)) return false;
  void* frame = nullptr;
  backtrace(&frame, 1);  // loads the unwinder now, because loading allocates
  may_unwind = unwinder_takes_no_lock();
  action_at_growth = action;
  internal::Text text(guard_name, kNameBytes - 1);
  text.add(name != nullptr ? name : "steady state");
  guard_name[text.length()] = '\0';
  frame_count.store(0, std::memory_order_relaxed);
  count.store(0, std::memory_order_relaxed);
  internal::os::growth_watcher.store(on_growth, std::memory_order_release);
  return true;
}

void disarm_steady_state() noexcept {
  internal::os::growth_watcher.store(nullptr, std::memory_order_relaxed);
  report_names();
  is_taken.store(false);
}

std::size_t steady_state_growth_count() noexcept { return count.load(std::memory_order_relaxed); }

}  // namespace detail
}  // namespace TARN_NAMESPACE
