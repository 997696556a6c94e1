#include "thread/observation/guard_turns.h"

#include "os/locks/lock_rank.h"
#include "os/locks/mutex.h"
#include "os/process/common_calls.h"
#include "os/process/library_thread.h"

namespace tarn::internal {

// A child by fork has forgotten it, and the next switch starts another; one by clone has none. Nor has a
// process of one thread: libc and libraries would take their locks from then on.
void GuardTurns::ensure_thread(void (*look)()) {
  if (os::is_only_thread() || os::makes_common_calls_only()) return;
  std::uint32_t none = 0;
  if (!thread_of_.compare_exchange_strong(none, os::process_id(), std::memory_order_relaxed)) return;
  look_.store(look, std::memory_order_relaxed);
  if (!os::start_thread(run)) thread_of_.store(0, std::memory_order_relaxed);
}

void GuardTurns::run() {
  constexpr std::uint64_t kLookMs = 10;
  constexpr unsigned kLooksToAskForOthers =
      200;  // main may have left the process to others, which have ended
  const auto goes_on = [](unsigned looks) {
    return guard_turns.one_in() != 0 && !os::makes_common_calls_only() &&
           (looks % kLooksToAskForOthers != 0 || !os::is_last_thread());
  };
  const std::uint32_t process = os::process_id();
  std::uint32_t none = 0;
  do {
    for (unsigned looks = 1; goes_on(looks); ++looks) {
      std::atomic<std::uint32_t> nobody_wakes{0};
      os::wait_on(&nobody_wakes, 0, kLookMs);
      guard_turns.look_.load(std::memory_order_relaxed)();
    }
    guard_turns.thread_of_.store(0, std::memory_order_seq_cst);
    // They may have been switched on again while the thread was about to leave.
  } while (goes_on(kLooksToAskForOthers) &&
           guard_turns.thread_of_.compare_exchange_strong(none, process, std::memory_order_seq_cst));
}

}  // namespace tarn::internal
