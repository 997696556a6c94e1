// When memory goes back. Threads that free give back what exceeds the page cache's limit, a bounded part in
// each call; and twice per decay time, in steps spread over their slow calls, what was not needed since.
// Where the option "background" is on, a thread of the library's does it instead, also while the process
// idles: it looks 50 ms after free memory has exceeded the limit, and twice per decay time while there is
// some.
//
// Threads: any, with no lock held; configure() one at a time, and with whatever lock.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "os/memory/memory.h"
#include "os/process/common_calls.h"
#include "page/give_back/give_back_policy.h"

namespace tarn::internal {

/// How much of a look's work is to be done.
enum class LookShare : std::uint8_t { kStep, kAll };

/// How a look stands.
enum class LookState : std::uint8_t { kHasMore, kDone, kDoneAllIdle };

class Background {
 public:
  /// A look at the tiers above: gives back pages that are free inside of them.
  using TrimIdle = LookState (*)(LookShare share);

  /// Call apply_change() after a later call.
  void configure(bool may_have_thread, std::uint32_t decay_ms);
  /// After configure() while memory was kept: does at once what is due now.
  void apply_change();
  /// Sets the function that each look calls. Without one all heaps count as idle.
  void set_trim_idle(TrimIdle trim_idle) { trim_idle_.store(trim_idle, std::memory_order_release); }

  /// Whether free memory may stay until a look; \returns false when the decay time is 0.
  bool keeps_memory() const { return clock_.has_ticks(); }

  /// Whether the library's thread runs in this process.
  bool has_thread() const;
  /// Starts the library's thread if it may run and does not. \returns whether it runs.
  bool ensure_thread();

  /// Call when the tiers above keep much free memory.
  void note_kept();

  /// Whether a look has begun and is not done. \cost a load
  bool has_step() const { return has_step_.load(std::memory_order_relaxed); }
  /// Call while has_step(), and now and then: does a step of a look if one is due and no other thread
  /// gives back. \cost a look at the clock, and a step some 20 us
  void step();

  /// Call after `bytes` came back to the page cache. What exceeds the limit goes back to the system in this
  /// call and in later ones, unless the library's thread does it; what is above the soft limit of memory in
  /// this call. \cost three loads unless there is much; a system call where the library's thread runs.
  void notice(std::size_t bytes);

  /// For the child of a fork: it has none of the threads that were at work.
  void forget_after_fork();
  /// For that of a process with one thread. \post nothing is written unless the option is on
  void note_fork_of_one_thread() {
    if (may_run()) forget_after_fork();
  }

  /// The least free memory that makes a look worth its cost.
  static constexpr std::size_t kWorthATick = 256 * 1024;  // bytes

 private:
  static void run();
  void look_until_switched_off();
  void sleep(std::uint32_t wakes_seen, bool rests);
  void watch_excess();
  void wake();
  bool may_run() const {
    return may_have_thread_.load(std::memory_order_relaxed) && !os::makes_common_calls_only();
  }
  bool goes_on() const;
  bool begin_work();
  void end_work();
  bool is_tick_due();
  LookState look(LookShare share);
  LookState tick();
  void give_back_by_callers(std::size_t most);

  static constexpr std::uint32_t kExcessMs = 50;

  std::atomic<TrimIdle> trim_idle_{nullptr};
  TickClock clock_{2000};
  TickClock excess_clock_{2 * kExcessMs};  // of callers
  std::atomic<bool> has_begun_{false};     // a tick was due before
  std::atomic<std::uint32_t> at_work_{0};  // the process in which somebody looks
  std::atomic<bool> has_step_{false};
  std::size_t due_bytes_ = 0;  // of pages, after the look at the tiers above; who is at work changes it

  // The library's thread.
  std::atomic<bool> may_have_thread_{false};
  std::atomic<std::uint32_t> process_{0};  // that may start it
  std::atomic<bool> is_starting_{false};
  std::atomic<std::uint32_t> thread_of_{0};  // the process that has it: a child by clone has none
  std::atomic<std::uint32_t> failed_starts_{0};
  std::atomic<std::uint32_t> wakes_{0};
  std::atomic<bool> is_resting_{false};  // it sleeps for long, unless it is woken
  std::atomic<std::uint32_t> has_excess_{0};
};

extern Background background;

}  // namespace tarn::internal
