// The watcher of growth runs in the thread that takes memory, under the library's locks. So it takes no lock
// of libc's and allocates nothing: it writes each frame as a file and an offset. Looking up the names needs
// the loader's lock, so disarming does it.
//
// The library's own unwinder finds the frames, as far as the loader tells of files without a lock
// (os/stack/loaded_file.h).
#include "tarn/steady_state.h"

#include <atomic>
#include <csignal>
#include <cstdlib>

#include "base/printable.h"
#include "base/text.h"
#include "os/fatal.h"
#include "os/memory/growth_watch.h"
#include "os/stack/code_place.h"
#include "os/stack/unwind.h"

namespace TARN_NAMESPACE {
namespace {

constexpr int kMostFrames = 64;
constexpr std::size_t kNameBytes = 64;

constinit std::atomic<bool> is_taken{false};
constinit std::atomic<std::size_t> count{0};
AtGrowth action_at_growth;
char guard_name[kNameBytes];
void* frames[kMostFrames];
constinit std::atomic<int> frame_count{0};  // set after the frames are written

// \param name of the function that the frame is of; nullptr: it is not looked up
void write_frame(const void* frame, const char* name) {
  const auto address = reinterpret_cast<std::uintptr_t>(frame);
  internal::FixedText<256> line;
  line.add("  ");
  if (internal::os::add_code_place(line, address)) line.add(' ');
  if (name != nullptr) internal::add_shown(line.add('('), name, kNameBytes), line.add(") ");
  line.add('[').add_hex(address).add("]\n");
  internal::os::write_line(line);
}

void report(const char* what) {
  internal::FixedText<256> line;
  line.add("tarn: growth in '").add(guard_name).add("': ").add(what).add("; the stack:\n");
  internal::os::write_line(line);
  const auto found = static_cast<int>(internal::os::capture_stack(frames, kMostFrames));
  for (int i = 0; i < found; ++i) write_frame(frames[i], nullptr);
  frame_count.store(found, std::memory_order_release);
}

void report_names() {
  const int found = frame_count.load(std::memory_order_acquire);
  if (found == 0) return;
  internal::FixedText<256> line;
  line.add("tarn: growth in '").add(guard_name).add("': the stack with names:\n");
  internal::os::write_line(line);
  for (int i = 0; i < found; ++i) write_frame(frames[i], internal::os::exported_name(frames[i]));
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
