// Gives memory back, also while the process idles. A helper thread looks 50 ms after free memory has exceeded
// the page cache's limit, and twice per decay time while there is free memory; it ends when there is none.
// Where no helper can run, the threads that free do its work.
//
// Threads: any, with no lock held; configure() one at a time, and with whatever lock.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "page/give_back/give_back_policy.h"
#include "page/give_back/helper.h"

namespace tarn::internal {

class Background {
 public:
  /// Gives back pages that are free inside the tiers above. \returns whether all heaps were idle.
  using TrimIdle = bool (*)();

  /// Call apply_change() after a later call.
  void configure(bool may_have_helper, std::uint32_t decay_ms) {
    helper.configure(may_have_helper), clock_.set_decay(decay_ms);
  }
  /// After configure() while memory was kept: does at once what is due now, and ends a helper that may not be
  /// there any more.
  void apply_change();
  /// Sets the function that each tick calls. Without one all heaps count as idle.
  void set_trim_idle(TrimIdle trim_idle) { trim_idle_.store(trim_idle, std::memory_order_release); }

  /// Whether free memory may stay until a tick; \returns false when the decay time is 0.
  bool keeps_memory() const { return clock_.has_ticks(); }

  /// Call when the tiers above keep much free memory: some party will look whether it is needed.
  void note_kept();

  /// Call when memory was left in the tiers above. \returns false when no further tick comes.
  bool note_left();

  /// Call after pages came back to the page cache. Above the soft limit of memory they go back to the system
  /// in this call. \cost three loads unless there is something to start.
  void notice();

  /// The least free memory that makes a tick worth its cost.
  static constexpr std::size_t kWorthATick = 256 * 1024;  // bytes

  /// The helper's work; begin() is called before its thread starts.
  static void begin();
  static void run();
  static bool was_left();

 private:
  void watch_excess();
  bool sleep_unless_stopped(std::uint64_t time_ms);
  bool is_tick_due();
  void tick();
  void give_back_by_callers();
  void tick_by_callers();
  bool has_nothing_to_do() const;
  void look_until_idle();
  bool has_more_to_do();

  std::atomic<TrimIdle> trim_idle_{nullptr};
  std::atomic<bool> all_heaps_were_idle_{false};  // at the last tick
  std::atomic<bool> has_left_{false};             // memory was left since the last tick began
  std::atomic<bool> has_ended_{true};             // no helper looks any more
  static constexpr std::uint32_t kExcessMs = 50;

  TickClock clock_{2000};
  TickClock excess_clock_{2 * kExcessMs};  // of callers
  std::atomic<std::uint32_t> has_excess_{0};
  std::atomic<std::uint32_t> notices_{0};
  std::atomic<bool> is_ticking_{false};  // a caller does a tick's work
};

extern Background background;

}  // namespace tarn::internal
