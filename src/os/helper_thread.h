// The one thread of the library's own, and how it stays unnoticed.
//
// It is made by clone(2) and not by pthread_create: libc would take the process for multi-threaded (slower
// stdio and shared_ptr), would wait for it when main leaves by pthread_exit, and would allocate for it. The
// price: no thread-local storage; its thread pointer refers to a block of its own, so that the stack
// protector's canary has a place.
//
// It can do nothing but its work: before it begins it gives up all capabilities, sets no_new_privs and takes
// a seccomp filter that lets it sleep, give pages back and stop the process (docs/decisions/007-helper.md).
// It has the scheduling class of other threads and the processors the process began with, a stack at a random
// address between guard pages, and no signals. It ends when the process has no other thread left.
//
// Its record lies in memory that a fork of whatever kind leaves empty, so a child sees at once that it has no
// helper.
// Threads: start and stop from one thread at a time (page/helper.h sees to it); the rest from any.
#pragma once
#include <cstdint>

namespace tarn::internal::os {

enum class HelperStart : std::uint8_t {
  kStarted,
  kRefused,  // by the system: no memory, no thread, a limit on their number, a filter, a sanitizer's build
  kNotNow,   // it would be in the way, or belong to a child that shares this memory
};

/// Whether the system would let a helper be. To be asked first: under some filters other calls end the
/// process.
bool may_have_helper();

/// Starts the helper: it runs `body` once. \pre there is none; body touches neither thread_local data nor
/// libc.
HelperStart start_helper(void (*body)());

/// Whether there is one, in this process.
bool helper_is_alive();

enum class HelperEnd : std::uint8_t {
  kWasNone,
  kEnded,
  kWasKilled,  // by a seccomp filter of the program's, in a system call
  // It waits, for a second already, for a lock of the code that a signal of the caller's has interrupted.
  kGoesOn,
};

/// Asks it to end and waits until the kernel has forgotten it. \cost a load when there is none; else a tenth
/// of a millisecond, and a few milliseconds while it gives much memory back.
HelperEnd stop_helper();

/// In the child of a fork, on kernels that leave the record as it was.
void forget_helper_after_fork();

/// Of the helper alone: sleeps until it has been woken more often than `wakes_seen`, or the time is over.
/// What is to be done is looked for between the two calls, so that no waking is missed.
std::uint32_t helper_wakes();
void helper_sleep(std::uint32_t wakes_seen, std::uint64_t timeout_ms);
void wake_helper();

/// Whether the caller is the helper and has been asked to end, or the rest of the process has ended.
bool helper_must_stop();

/// Whether the caller is the helper.
bool is_on_helper();

/// Of the last helper that was started, from 1.
std::uint32_t helper_number();

/// Whether the calling thread could give privileges up: it is root's, has capabilities, or may get other
/// identities back.
bool has_privileges();

/// Remembers the processors of the process. Once, when the library is loaded.
void note_processors();

/// While it lives the calling thread gets no signals.
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
