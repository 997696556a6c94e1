// Records and checks which locks a thread holds, in debug and sanitizer builds of the library (idea:
// jemalloc's witness.h).
//
// It checks the rules of os/locks/lock_rank.h: lock() takes a lock only while the thread holds none of the
// same or of a higher rank (try_lock() may, since it never waits); and the thread holds nothing but
// kHeldWhileGivingBack across a call that gives memory back to the system or runs a function of the
// program's. A broken rule stops the process with one line that names the ranks, on the first run through the
// wrong path, even when no other thread makes it a deadlock.
//
// CMake defines TARN_CHECKS_LOCKS for the library's objects and for tests compiled with its internals; a
// release build has neither code nor thread-local memory for it. Programs never have it: their inlined locks
// and unlocks record nothing.
//
// Not checked: the thread that forks, which holds all locks meanwhile.
// Threads: any; each writes only its own record.
#pragma once
#include "os/locks/lock_rank.h"

namespace tarn::internal::os {

/// Held while free memory is out of its lists: the call that gives it back runs under this lock.
inline constexpr LockRank kHeldWhileGivingBack[] = {LockRank::kGiveBack};

/// Stops the process when the calling thread holds any other lock. \param before_what ends the line "kRank is
/// held ...".
#if defined(TARN_CHECKS_LOCKS)
/// Whether this build checks. Others read no mutex's rank: there, zeroed memory is a free mutex.
inline constexpr bool kChecksLocks = true;
void check_no_lock_is_held(const char* before_what);
#else
inline constexpr bool kChecksLocks = false;
inline void check_no_lock_is_held(const char* /*before_what*/) {}
#endif

}  // namespace tarn::internal::os
