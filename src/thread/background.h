// Gives memory back, also in a process that idles: a helper thread looks 50 ms after free memory has exceeded
// the page cache's limit, and twice per decay time while there is any; it ends when there is none. Where it
// cannot be had, the threads that free do its work.
//
// The helper is an optimisation, never a condition, and steps aside where a second thread would be in the
// way: while the process forks, and around each call that changes what a thread may do or belongs to
// (override/process_calls.cc). After a fork it comes back with the next slow call, since programs count their
// threads then; after other calls at once, made anew by a thread that has what the program has left it.
//
// Threads: any, with no lock held; configure() once, before the first block.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "os/helper_thread.h"

namespace tarn::internal {

class Background {
 public:
  void configure(bool may_start, std::uint32_t decay_ms) { may_start_ = may_start, decay_ms_ = decay_ms; }

  /// Pages came back to the page cache. \cost two loads unless there is something to start.
  void notice();

  /// Between two helpers, so that a program which forks all the time has none.
  static constexpr std::uint64_t kPauseMs = 8;
  /// After a call by number: who makes it so makes it for each thread, and may look for new ones until there
  /// is none.
  static constexpr std::uint64_t kLongPauseMs = 100;

  /// So much free memory is worth a look.
  static constexpr std::size_t kWorthATick = 256 * 1024;  // bytes

  /// Starts the helper thread if it may and does not run. \returns whether it runs.
  bool ensure_helper();

  /// A slow call is the time for what could not be started before. \cost a load.
  void on_slow_call() {
    if (is_wanted_.load(std::memory_order_relaxed)) [[unlikely]]
      start_wanted();
  }

  /// The calls that change privileges come to the library first (override/process_calls.cc). Where they do
  /// not, as in a static program or a library loaded at run time, a process with privileges gets no helper.
  void note_that_it_can_step_aside() { can_step_aside_.store(true, std::memory_order_relaxed); }

  /// Ends the helper until it is let back; calls nest.
  void step_aside();
  /// After a fork: the next slow call may start it again.
  void return_later(std::uint64_t after_ms = kPauseMs);
  /// After other calls: it starts at once when there is work left.
  void return_now();
  /// The program has a seccomp filter of its own: what is asked of the kernel from now on is the program's to
  /// allow.
  void forbid_helper();

  /// In the child of a fork, where no helper runs.
  enum class OtherThreads : std::uint8_t { kNone, kGone };
  void forget_after_fork(OtherThreads other_threads);

  bool is_running() const { return os::helper_is_alive(); }

 private:
  static void run();
  void watch_excess();
  bool has_work() const;
  bool sleep_unless_stopped(std::uint64_t time_ms);
  void start_wanted();
  os::HelperStart start_helper();
  bool is_tick_due();
  void tick();
  void tick_by_callers();

  std::atomic<bool> may_start_{true};
  std::atomic<bool> can_step_aside_{false};
  std::atomic<bool> is_wanted_{false};
  std::atomic<std::uint32_t> starting_{0};  // a thread starts or ends the helper
  std::atomic<std::uint32_t> pauses_{0};    // while it must not be there
  std::atomic<std::uint64_t> not_before_ms_{0};
  std::atomic<std::uint32_t> failed_starts_{0};
  std::atomic<bool> all_heaps_were_idle_{false};  // at the last tick
  std::uint32_t decay_ms_ = 2000;
  std::atomic<std::uint32_t> has_excess_{0};
  std::atomic<std::uint32_t> notices_{0};
  std::atomic<std::uint64_t> last_tick_ms_{0};
};

extern Background background;

/// No helper while it lives.
class HelperPause {
 public:
  HelperPause() { background.step_aside(); }
  ~HelperPause() { background.return_now(); }
  HelperPause(const HelperPause&) = delete;
  HelperPause& operator=(const HelperPause&) = delete;
};

}  // namespace tarn::internal
