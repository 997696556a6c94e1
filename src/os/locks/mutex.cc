#include "os/locks/mutex.h"

namespace TARN_NAMESPACE::detail {
namespace {

using internal::os::sleep_on;
using internal::os::Sleeper;
using internal::os::wake_one;

constexpr int kLongestSpin = 32;  // in total about as long as one span needs the page cache's lock

void cpu_relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  asm volatile("yield");
#endif
}

}  // namespace

void Mutex::lock_slow() {
  if (internal::os::is_fork_owner() && (state_.load(std::memory_order_relaxed) & kForFork) != 0) return;
  // Each look takes the cache line from the holder, so each comes twice as late as the one before.
  for (int spins = 1; spins <= kLongestSpin; spins *= 2) {
    for (int i = 0; i < spins; ++i) cpu_relax();
    if (state_.load(std::memory_order_relaxed) == kFree && take_free()) return;
  }
  take(kHeld | kHasWaiters);  // other threads may sleep behind this one
}

// Sleeps until the mutex is free, then sets the state `held`.
void Mutex::take(std::uint32_t held) {
  for (;;) {
    std::uint32_t seen = state_.load(std::memory_order_relaxed);
    if ((seen & kForFork) != 0 && internal::os::is_fork_owner()) return;
    if (seen == kFree) {
      if (state_.compare_exchange_weak(seen, held, std::memory_order_acquire, std::memory_order_relaxed))
        return;
      continue;
    }
    const std::uint32_t awaited = seen | kHasWaiters;
    if (seen != awaited &&
        !state_.compare_exchange_weak(seen, awaited, std::memory_order_relaxed, std::memory_order_relaxed))
      continue;
    sleep_on(&state_, awaited, Sleeper::kThread);
    held |= kHasWaiters;
  }
}

void Mutex::unlock_slow() {
  // The mutex is held for a fork only when the calling thread is the one that forks.
  if ((state_.load(std::memory_order_relaxed) & kForFork) == 0) let_go();
}

// A fork that waits gets the mutex from its holder: threads that come later, or were woken, do not come
// first.
void Mutex::let_go() {
  std::uint32_t seen = state_.load(std::memory_order_relaxed), next = kFree;
  do next = (seen & kForkWaits) != 0 ? (seen & ~kForkWaits) | kForFork : kFree;
  while (!state_.compare_exchange_weak(seen, next, std::memory_order_release, std::memory_order_relaxed));
  if (next != kFree)
    wake_one(&state_, Sleeper::kTheFork);
  else if ((seen & kHasWaiters) != 0)
    wake_one(&state_, Sleeper::kThread);
}

// Takes the mutex for the fork if it is free; else its holder will hand it over. One thread forks at a time.
void Mutex::ask_for_fork() {
  std::uint32_t seen = state_.load(std::memory_order_relaxed), next = 0;
  do {
    if ((seen & kForFork) != 0) return;
    next = seen == kFree ? kHeld | kForFork : seen | kForkWaits;
  } while (!state_.compare_exchange_weak(seen, next, std::memory_order_acquire, std::memory_order_relaxed));
}

void Mutex::wait_for_fork() {
  for (;;) {
    const std::uint32_t seen = state_.load(std::memory_order_acquire);
    if ((seen & kForFork) != 0) return;
    sleep_on(&state_, seen, Sleeper::kTheFork);
  }
}

}  // namespace TARN_NAMESPACE::detail

namespace tarn::internal::os {
namespace {

constinit std::atomic<const void*> fork_owner{nullptr};

}  // namespace

bool is_fork_owner() {
  const void* const owner = fork_owner.load(std::memory_order_relaxed);
  return owner != nullptr && owner == this_thread();
}
void set_fork_owner(bool is_owner) {
  fork_owner.store(is_owner ? this_thread() : nullptr, std::memory_order_relaxed);
}

}  // namespace tarn::internal::os
