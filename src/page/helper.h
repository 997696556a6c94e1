// The life of the helper thread (os/helper_thread.h says what it is): when it starts, steps aside, returns.
//
// It is an optimisation, never a condition, and steps aside where a second thread would be in the way: while
// the process forks, and around each call that changes what a thread may do or belongs to
// (override/process_calls.cc). After a fork it comes back with the next slow call, since programs count their
// threads then; after other calls at once, made anew by a thread that has what the program has left it.
//
// What it does in its life is its work; the one instance does background.cc's.
// Threads: any, with no lock held.
#pragma once
#include <atomic>
#include <cstdint>

#include "os/helper_thread.h"

namespace tarn::internal {

/// What a helper is for.
struct HelperWork {
  /// Its whole life, on its own thread.
  void (*run)();
  /// It was ended before it was done: what had been announced to it is void. \returns whether work is left.
  bool (*was_left)();
};

class Helper {
 public:
  /// Between two helpers, so that a program which forks all the time has none.
  static constexpr std::uint64_t kPauseMs = 8;
  /// After a call by number: who makes it so makes it for each thread, and may look for new ones until there
  /// is none.
  static constexpr std::uint64_t kLongPauseMs = 100;

  constexpr explicit Helper(HelperWork work) : work_(work) {}

  void configure(bool may_start) { may_start_ = may_start; }

  /// Starts the helper if it may and does not run. \returns whether it runs.
  bool ensure();
  bool is_running() const { return os::helper_is_alive(); }

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
  void forbid();

  /// In the child of a fork, where no helper runs.
  enum class OtherThreads : std::uint8_t { kNone, kGone };
  void forget_after_fork(OtherThreads other_threads);

 private:
  void start_wanted();
  os::HelperStart start();

  const HelperWork work_;
  std::atomic<bool> may_start_{true};
  std::atomic<bool> can_step_aside_{false};
  std::atomic<bool> is_wanted_{false};
  std::atomic<std::uint32_t> starting_{0};  // a thread starts or ends the helper
  std::atomic<std::uint32_t> pauses_{0};    // while it must not be there
  std::atomic<std::uint64_t> not_before_ms_{0};
  std::atomic<std::uint32_t> failed_starts_{0};
};

extern Helper helper;  // background.cc

/// No helper while it lives.
class HelperPause {
 public:
  HelperPause() { helper.step_aside(); }
  ~HelperPause() { helper.return_now(); }
  HelperPause(const HelperPause&) = delete;
  HelperPause& operator=(const HelperPause&) = delete;
};

}  // namespace tarn::internal
