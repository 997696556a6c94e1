// A mutex of four bytes over futex: constant initialisation, no libc, usable before main and after fork.
#pragma once
#if defined(__has_include) && __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define TARN_KNOWS_SINGLE_THREAD 1
#endif

#include <atomic>
#include <cstdint>

#include "tarn/detail/thread_cache.h"

namespace tarn::detail {

class Mutex {
 public:
  void lock() {
    std::uint32_t expected = kFree;
    if (!state_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire, std::memory_order_relaxed))
      lock_slow();
  }
  bool try_lock() {
    std::uint32_t expected = kFree;
    return state_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire, std::memory_order_relaxed);
  }
  void unlock() {
    if (state_.exchange(kFree, std::memory_order_release) == kContended) wake_one();
  }

 private:
  static constexpr std::uint32_t kFree = 0, kHeld = 1, kContended = 2;

  [[gnu::cold, gnu::noinline]] TARN_API void lock_slow();
  [[gnu::cold, gnu::noinline]] TARN_API void wake_one();

  std::atomic<std::uint32_t> state_{kFree};
};

class MutexGuard {
 public:
  explicit MutexGuard(Mutex& mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexGuard() { mutex_.unlock(); }
  MutexGuard(const MutexGuard&) = delete;
  MutexGuard& operator=(const MutexGuard&) = delete;

 private:
  Mutex& mutex_;
};

/// For what only the program's own threads touch: while there is one thread, no lock is taken, as libc does with its own.
class ProgramGuard {
 public:
  explicit ProgramGuard(Mutex& mutex) : mutex_(is_needed() ? &mutex : nullptr) {
    if (mutex_ != nullptr) mutex_->lock();
  }
  ~ProgramGuard() {
    if (mutex_ != nullptr) mutex_->unlock();
  }
  ProgramGuard(const ProgramGuard&) = delete;
  ProgramGuard& operator=(const ProgramGuard&) = delete;

 private:
  static bool is_needed() {
#if defined(TARN_KNOWS_SINGLE_THREAD)
    return __libc_single_threaded == 0;
#else
    return true;
#endif
  }

  Mutex* mutex_;
};

}  // namespace tarn::detail
