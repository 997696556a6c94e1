// The library's only thread, and how it stays unnoticed.
//
// It is made by clone(2), not by pthread_create: libc would treat the process as multi-threaded (slower stdio
// and shared_ptr), would wait for the thread when main leaves by pthread_exit, and would allocate for it. The
// price: no thread-local storage; the thread pointer refers to a block of the helper's own, which holds the
// stack protector's canary.
//
// The helper can do nothing but its work: before it begins, it gives up all capabilities, sets no_new_privs
// and takes a seccomp filter that lets it sleep, give pages back and stop the process
// (docs/decisions/007-helper.md). It has the scheduling class of other threads, the processors that the
// process began with, a stack at a random address between guard pages, and no signals. It ends when the
// process has no other thread left.
//
// Its record lies in memory that every kind of fork leaves empty, so a child sees at once that it has no
// helper.
// Threads: start and stop from one thread at a time (page/give_back/helper.h ensures it); all else from any
// thread.
#pragma once
#include <cstdint>

namespace tarn::internal::os {

enum class HelperStart : std::uint8_t {
  kStarted,
  kRefused,  // by the system: no memory, no thread, a limit on threads, a filter, a sanitizer's build
  kNotNow,   // it would disturb, or belong to a child that shares this memory
};

/// Whether the calling thread runs under a filter of system calls.
bool seccomp_is_active();

/// Whether the system would allow a helper. Ask before all other calls: under some filters those end the
/// process.
bool may_have_helper();

/// Starts the helper: it runs `body` once. \pre no helper runs; body uses neither thread_local data nor
/// libc.
HelperStart start_helper(void (*body)());

/// Whether this process has a helper.
bool helper_is_alive();

enum class HelperEnd : std::uint8_t {
  kWasNone,
  kEnded,
  kWasKilled,  // by a seccomp filter of the program's, in a system call
  // The helper waits, for a second already, for a lock of the code that the caller's signal has interrupted.
  kGoesOn,
};

/// Asks the helper to end and waits until the kernel has forgotten it. \cost a load when there is no helper;
/// else a tenth of a millisecond, and a few milliseconds while it gives much memory back.
HelperEnd stop_helper();

/// For the child of a fork, on kernels that do not empty the record.
void forget_helper_after_fork();

/// For the helper only: sleeps until it was woken more often than `wakes_seen`, or the time is over. Look for
/// work between the two calls, so that no wake-up is missed.
std::uint32_t helper_wakes();
void helper_sleep(std::uint32_t wakes_seen, std::uint64_t timeout_ms);
void wake_helper();

/// Whether the caller is the helper and has been asked to end, or the rest of the process has ended.
bool helper_must_stop();

/// Whether the caller is the helper.
bool is_on_helper();

/// The number of the last helper that was started; the first is 1.
std::uint32_t helper_number();

/// Whether the calling thread has privileges to give up: it is root's, has capabilities, or may take other
/// identities again.
bool has_privileges();

/// While one exists, the calling thread gets no signals.
class SignalBlock {
 public:
  SignalBlock();
  ~SignalBlock();
  SignalBlock(const SignalBlock&) = delete;
  SignalBlock& operator=(const SignalBlock&) = delete;

 private:
  std::uint64_t before_ = 0;
};

}  // namespace tarn::internal::os
