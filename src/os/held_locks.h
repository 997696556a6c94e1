// Which locks a thread holds, written down and checked in debug and sanitizer builds of the library (idea:
// jemalloc's witness.h).
//
// Checked are the rules of os/lock_rank.h: lock() takes a lock only while no other of the same or of a higher
// rank is held (try_lock() may, since it never waits); and nothing but kHeldWhileGivingBack is held across a
// call that gives memory back to the system or runs a function of the program's. A broken rule stops the
// process with one line that names the ranks, in the first run that takes the wrong path, whether or not
// another thread was there to make it a deadlock.
//
// CMake defines TARN_CHECKS_LOCKS for the objects of the library and for the tests that are compiled with its
// internals; in a release build there is neither code nor thread-local memory for this. Programs never have
// it: what a program has inlined writes nothing down, neither that it takes a lock nor that it lets it go.
//
// Not checked: the helper thread, which has no thread-local memory, and whose work other threads do in its
// place in a sanitizer's build; and the thread that forks, to which all locks belong meanwhile.
// Threads: any; each writes only what is its own.
#pragma once
#include "os/lock_rank.h"

namespace tarn::internal::os {

/// Held while free memory is out of its place: the call that gives it back runs under this lock.
inline constexpr LockRank kHeldWhileGivingBack[] = {LockRank::kGiveBack};

/// Stops the process when the calling thread holds any other lock. \param before_what ends the line "kRank is
/// held ...".
#if defined(TARN_CHECKS_LOCKS)
void check_no_lock_is_held(const char* before_what);
#else
inline void check_no_lock_is_held(const char* /*before_what*/) {}
#endif

}  // namespace tarn::internal::os
