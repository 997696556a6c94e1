// When blocks are due to be guarded (general/guarded/guarded_blocks.h): one in N, by chance, where that takes
// a small share of the time.
//
// Hits count nothing. So for a turn all threads are watched, each counts its calls, and the first that comes
// to its block ends the turn. Then all rest, in hits as ever, for 250 times what the turn is thought to have
// cost: the call of that block, which is measured, its free, and what each counted call takes more. A program
// that calls rarely gets one block in N so; one that calls all the time gets fewer. Where N is at most 100
// there is no rest: that is for tests, and costs what it costs.
//
// Pools' calls, and others that are slow by themselves, are not counted so. They are slow in a turn too: so a
// turn also ends when some thread has made 2 N of these.
//
// A rest ends in a slow call; where the process has threads also by one of the library's, as they may make
// none but hits.
// Threads: any; tools write `one_in` from outside, and count a switch.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "os/process/process.h"

namespace tarn::internal {

class GuardTurns {
 public:
  static constexpr std::uint32_t kAtAnyPrice = 100;

  std::uint32_t one_in() const { return one_in_.load(std::memory_order_relaxed); }
  bool is_at_any_price() const { return one_in() - 1 < kAtAnyPrice; }
  /// Whether threads are to count: once they have noticed.
  bool is_turn() const { return one_in() != 0 && rests_until_ns_.load(std::memory_order_relaxed) == 0; }

  /// \param one_in 0: none any more
  void set(std::uint32_t one_in) {
    one_in_.store(one_in, std::memory_order_relaxed);
    rests_until_ns_.store(0, std::memory_order_relaxed);
  }
  /// \returns whether a turn has ended; then the caller counts a switch.
  bool end(std::uint64_t block_ns) {
    if (is_at_any_price()) return false;
    if (block_ns > kMostNsOfBlock) block_ns = kMostNsOfBlock;
    const std::uint64_t cost_ns = 2 * block_ns + kSwitchNs + std::uint64_t{one_in()} * kNsOfCall;
    std::uint64_t none = 0;
    return rests_until_ns_.compare_exchange_strong(none, os::clock_ns() + cost_ns * kRest,
                                                   std::memory_order_relaxed);
  }
  /// \returns whether a turn has begun; then the caller counts a switch. \cost a load without guards, else a
  /// look at the clock.
  bool begin_if_due() {
    std::uint64_t until = one_in() == 0 ? 0 : rests_until_ns_.load(std::memory_order_relaxed);
    return until != 0 && os::clock_ns() >= until &&
           rests_until_ns_.compare_exchange_strong(until, 0, std::memory_order_relaxed);
  }

  /// Starts the library's thread for turns, unless there is one. \param look is called by it now and then, as
  /// long as blocks are to be guarded. \pre no lock is held
  void ensure_thread(void (*look)());
  /// For the child of a fork: it has no such thread.
  void forget_thread() { thread_of_.store(0, std::memory_order_relaxed); }

 private:
  friend class ObservedLayout;

  static void run();

  static constexpr std::uint64_t kRest = 250;
  // Measured on a virtual machine with two processors: a counted call more than a hit, and two switches.
  static constexpr std::uint64_t kNsOfCall = 3, kSwitchNs = 20'000;
  // The first ones read tables of the program's file, or were interrupted: that is not what the next costs.
  static constexpr std::uint64_t kMostNsOfBlock = 50'000;

  std::atomic<std::uint32_t> one_in_{0};
  std::atomic<std::uint64_t> rests_until_ns_{0};  // 0: a turn
  std::atomic<std::uint32_t> thread_of_{0};       // the process that has it
  std::atomic<void (*)()> look_{nullptr};
};
inline constinit GuardTurns guard_turns{};

}  // namespace tarn::internal
