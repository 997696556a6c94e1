// Gives memory back, also in a process that idles: a helper thread looks 50 ms after free memory has exceeded the page
// cache's limit, and twice per decay time while there is any; it ends when there is none. Where it cannot be had, the
// threads that free do its work.
// Threads: notice() from any, with no lock held; configure() once, before the first block.
#pragma once
#include <atomic>
#include <cstdint>

namespace tarn::internal {

class Background {
 public:
  void configure(bool may_start, std::uint32_t decay_ms) { may_start_ = may_start, decay_ms_ = decay_ms; }

  /// Pages came back to the page cache. \cost two loads unless there is something to start.
  void notice();

  /// Starts the helper thread if it may and does not run. \returns whether it runs.
  bool ensure_helper();

  /// In the child of a fork, where no helper runs.
  void forget_after_fork();

  bool is_running() const { return is_running_.load(std::memory_order_relaxed) != 0; }

 private:
  static void run();
  void watch_excess();
  bool is_tick_due();
  void tick();
  void tick_by_callers();

  std::atomic<bool> may_start_{true};
  std::atomic<std::uint32_t> failed_starts_{0};
  bool all_heaps_were_idle_ = false;  // at the last tick
  std::uint32_t decay_ms_ = 2000;
  std::atomic<std::uint32_t> is_running_{0};
  std::atomic<std::uint32_t> has_excess_{0};  // the helper waits on it
  std::atomic<std::uint32_t> notices_{0};
  std::atomic<std::uint64_t> last_tick_ms_{0};
};

extern Background background;

}  // namespace tarn::internal
