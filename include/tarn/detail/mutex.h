// A mutex over futex: constant initialisation, no libc, usable before main and after fork.
#pragma once
#include <cstdint>

#include "tarn/detail/api.h"
#include "tarn/detail/atomic.h"

namespace TARN_NAMESPACE::detail {

/// The order of the library's locks; the ranks are named in os/locks/lock_rank.h.
enum class LockRank : std::uint8_t;

#if defined(TARN_CHECKS_LOCKS)
// Only in the library's own objects and in tests, in builds that check locks (os/locks/held_locks.h).
void note_lock_wanted(LockRank rank);
void note_lock_taken(LockRank rank);
void note_lock_let_go(LockRank rank);
#else
TARN_INLINE void note_lock_wanted(LockRank /*rank*/) {}
TARN_INLINE void note_lock_taken(LockRank /*rank*/) {}
TARN_INLINE void note_lock_let_go(LockRank /*rank*/) {}
#endif

/// A thread that holds a mutex may take one of a higher rank. A fork takes every mutex of the library, so the
/// fork must know each: only classes that the fork walks make mutexes (os/locks/lock_rank.h). While a
/// thread forks, all mutexes are its own: its lock() and unlock() return at once and the mutex stays held,
/// because the program's fork handlers may allocate.
class Mutex {
 public:
  // Always inlined, like the guards: a program's copy and the library's may differ.
  TARN_INLINE void lock() {
    note_lock_wanted(rank_);
    if (!take_free()) lock_slow();
    note_lock_taken(rank_);
  }
  TARN_INLINE bool try_lock() {
    if (!take_free()) return false;
    note_lock_taken(rank_);
    return true;
  }
  TARN_INLINE void unlock() {
    note_lock_let_go(rank_);
    std::uint32_t expected = kHeld;
    if (!state_.compare_exchange_strong(expected, kFree, kRelease, kRelaxed)) unlock_slow();
  }

  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

 private:
  friend struct MutexAccess;
  template <LockRank>
  friend class MemberMutex;

  static constexpr std::uint32_t kFree = 0, kHeld = 1, kHasWaiters = 2, kForFork = 4;
  static constexpr std::uint32_t kForkWaits = 8;  // the holder hands the mutex to the fork

  constexpr explicit Mutex(LockRank rank) : rank_(rank) {}

  TARN_INLINE bool take_free() {
    std::uint32_t expected = kFree;
    return state_.compare_exchange_strong(expected, kHeld, kAcquire, kRelaxed);
  }
  TARN_COLD TARN_NOINLINE TARN_API void lock_slow();
  TARN_COLD TARN_NOINLINE TARN_API void unlock_slow();
  void take(std::uint32_t held);
  void let_go();
  void ask_for_fork();
  void wait_for_fork();

  Atomic<std::uint32_t> state_{kFree};
  const LockRank rank_;
};

/// One of many mutexes of a rank, as a member of a record that the rank's walk finds.
template <LockRank kRank>
class MemberMutex : public Mutex {
 public:
  constexpr MemberMutex() : Mutex(kRank) {}
};

class MutexGuard {
 public:
  TARN_INLINE explicit MutexGuard(Mutex& mutex) : mutex_(mutex) { mutex_.lock(); }
  TARN_INLINE ~MutexGuard() { mutex_.unlock(); }
  MutexGuard(const MutexGuard&) = delete;
  MutexGuard& operator=(const MutexGuard&) = delete;

 private:
  Mutex& mutex_;
};

/// Guards data that only the program's own threads touch: while there is one thread, no lock is taken, as in
/// libc.
class ProgramGuard {
 public:
  TARN_INLINE explicit ProgramGuard(Mutex& mutex) : ProgramGuard(&mutex) {}
  /// \param mutex nullptr: takes nothing.
  TARN_INLINE explicit ProgramGuard(Mutex* mutex)
      : mutex_(mutex != nullptr && is_needed() ? mutex : nullptr) {
    if (mutex_ != nullptr) mutex_->lock();
  }
  /// Whether the process may have a second thread.
  TARN_INLINE static bool is_needed() { return !TARN_IS_SINGLE_THREADED; }
  TARN_INLINE ~ProgramGuard() {
    if (mutex_ != nullptr) mutex_->unlock();
  }
  ProgramGuard(const ProgramGuard&) = delete;
  ProgramGuard& operator=(const ProgramGuard&) = delete;

 private:
  Mutex* mutex_;
};

}  // namespace TARN_NAMESPACE::detail
