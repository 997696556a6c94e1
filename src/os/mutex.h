// A mutex of four bytes over futex: constant initialisation, no libc, usable before main and after fork.
//
// Lock order, first taken first: set-up, giving back (page_cache.h), registry, heap, growth of the page cache, page cache,
// spans, metadata. A second heap is only ever tried. No lock but that of giving back is held across a call that gives
// memory back.
#pragma once
#include <atomic>
#include <cstdint>

namespace tarn::internal::os {

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

  [[gnu::cold, gnu::noinline]] void lock_slow();
  [[gnu::cold, gnu::noinline]] void wake_one();

  std::atomic<std::uint32_t> state_{kFree};
};

class LockGuard {
 public:
  explicit LockGuard(Mutex& mutex) : mutex_(mutex) { mutex_.lock(); }
  ~LockGuard() { mutex_.unlock(); }
  LockGuard(const LockGuard&) = delete;
  LockGuard& operator=(const LockGuard&) = delete;

 private:
  Mutex& mutex_;
};

/// Sleeps until `word` is no longer `value`, somebody wakes it, or the time is over. May return early.
void wait_on(std::atomic<std::uint32_t>& word, std::uint32_t value, std::uint64_t timeout_ms);
void wake_all(std::atomic<std::uint32_t>& word);

}  // namespace tarn::internal::os
