// What may end a call half way, where the system has that: signals, and POSIX's cancellation.
// Threads: the calling one.
#pragma once
#if !defined(_WIN32)
#include <pthread.h>
#include <signal.h>

#include "os/syscall.h"
#endif

namespace tarn::internal::os {

#if defined(_WIN32)
inline bool is_on_signal_stack() { return false; }
inline bool defer_cancellation() { return false; }
inline void allow_cancellation() {}
#else
/// Whether a handler of a signal runs on a stack for signals.
inline bool is_on_signal_stack() {
  stack_t stack{};
  syscall6(SYS_sigaltstack, 0, to_long(&stack));
  return (stack.ss_flags & SS_ONSTACK) != 0;
}

/// From now on no cancellation comes at any time. \returns whether it could until now.
inline bool defer_cancellation() {
  int type = 0;
  pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
  return type == PTHREAD_CANCEL_ASYNCHRONOUS;
}

/// It may come at any time again; one that came meanwhile happens here.
inline void allow_cancellation() { pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr); }
#endif

}  // namespace tarn::internal::os
