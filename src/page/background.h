// Gives memory back, also in a process that idles: a helper thread looks 50 ms after free memory has exceeded
// the page cache's limit, and twice per decay time while there is any; it ends when there is none. Where it
// cannot be had, the threads that free do its work.
//
// Threads: any, with no lock held; configure() once, before the first block.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "page/give_back_policy.h"
#include "page/helper.h"

namespace tarn::internal {

class Background {
 public:
  /// Of pages that are free inside the tiers above. \returns whether there was nobody at work there.
  using TrimIdle = bool (*)();

  void configure(bool may_have_helper, std::uint32_t decay_ms) {
    helper.configure(may_have_helper), clock_.set_decay(decay_ms);
  }
  /// What is called at each tick. Without it all is idle.
  void set_trim_idle(TrimIdle trim_idle) { trim_idle_.store(trim_idle, std::memory_order_release); }

  /// Pages came back to the page cache. \cost two loads unless there is something to start.
  void notice();

  /// So much free memory is worth a look.
  static constexpr std::size_t kWorthATick = 256 * 1024;  // bytes

  /// The helper's work.
  static void run();
  static bool was_left();

 private:
  void watch_excess();
  bool sleep_unless_stopped(std::uint64_t time_ms);
  bool is_tick_due();
  void tick();
  void tick_by_callers();
  bool has_nothing_to_do() const;

  std::atomic<TrimIdle> trim_idle_{nullptr};
  std::atomic<bool> all_heaps_were_idle_{false};  // at the last tick
  TickClock clock_{2000};
  std::atomic<std::uint32_t> has_excess_{0};
  std::atomic<std::uint32_t> notices_{0};
};

extern Background background;

}  // namespace tarn::internal
