// When the helper thread (os/process/helper_thread.h) starts, steps aside and returns.
//
// The helper is an optimisation, never needed for correctness. It steps aside where a second thread would be
// in the way: while the process forks, and around each call that changes a thread's rights or namespaces
// (override/process_calls.cc). After a fork it comes back with the next slow call, since programs count their
// threads right after a fork. After the other calls it comes back at once, made anew by a thread that has
// only the rights that the program kept.
//
// HelperWork is what the helper does in its life; the one instance runs background.cc's work.
// Threads: any, with no lock held.
#pragma once
#include <atomic>
#include <cstdint>

#include "os/process/helper_thread.h"

namespace tarn::internal {

/// The work of a helper.
struct HelperWork {
  /// Called before the helper's thread starts.
  void (*begin)();
  /// The helper's whole life, on its own thread.
  void (*run)();
  /// Called when the helper was ended early or did not start: its announcements are void. \returns whether
  /// work is left.
  bool (*was_left)();
};

class Helper {
 public:
  /// Time between two helpers, so that a program which forks all the time has none. Python looks for a second
  /// thread right after a fork, which on a busy machine may be some time slices later.
  static constexpr std::uint64_t kPauseMs = 50;
  /// The same after a system call made by number: such programs call for each thread in turn, and may look
  /// for new threads until there is none.
  static constexpr std::uint64_t kLongPauseMs = 100;

  constexpr explicit Helper(HelperWork work) : work_(work) {}

  /// Whether the options allow a helper. One that runs goes on: HelperPause ends it.
  void configure(bool may_start) { may_start_.store(may_start, std::memory_order_relaxed); }
  bool may_start() const {
    return may_start_.load(std::memory_order_relaxed) && !is_forbidden_.load(std::memory_order_relaxed);
  }

  /// Starts the helper if it may and does not run. \returns whether it runs.
  bool ensure();
  bool is_running() const { return os::helper_is_alive(); }

  /// On a slow call: starts a helper that could not be started before. \cost a load.
  void on_slow_call() {
    if (is_wanted_.load(std::memory_order_relaxed)) [[unlikely]]
      start_wanted();
  }

  /// Says that calls which change privileges reach the library first (override/process_calls.cc). Where they
  /// do not, as in a static program or a library loaded at run time, a privileged process gets no helper.
  void note_that_it_can_step_aside() { can_step_aside_.store(true, std::memory_order_relaxed); }

  /// Ends the helper until a return call lets it start again; calls nest.
  void step_aside();
  /// After a fork: a later slow call may start the helper again.
  void return_later(std::uint64_t after_ms = kPauseMs);
  /// After other calls: starts the helper at once when work is left.
  void return_now();
  /// The program has its own seccomp filter: from now on the library may only make system calls that the
  /// program allows.
  void forbid();

  /// For the child of a fork, where no helper runs.
  enum class OtherThreads : std::uint8_t { kNone, kGone };
  void forget_after_fork(OtherThreads other_threads);

 private:
  void start_wanted();
  os::HelperStart start();

  const HelperWork work_;
  std::atomic<bool> may_start_{true};      // by the options
  std::atomic<bool> is_forbidden_{false};  // by the system or the program, for good
  std::atomic<bool> can_step_aside_{false};
  std::atomic<bool> is_wanted_{false};
  std::atomic<std::uint32_t> starting_{0};  // a thread is starting or ending the helper
  std::atomic<std::uint32_t> pauses_{0};    // while above 0, no helper may run
  std::atomic<std::uint64_t> not_before_ms_{0};
  std::atomic<std::uint32_t> failed_starts_{0};
};

extern Helper helper;  // background.cc

/// While one exists, no helper runs.
class HelperPause {
 public:
  HelperPause() { helper.step_aside(); }
  ~HelperPause() { helper.return_now(); }
  HelperPause(const HelperPause&) = delete;
  HelperPause& operator=(const HelperPause&) = delete;
};

}  // namespace tarn::internal
