#include "os/locks/mutex.h"

#include <linux/futex.h>
#include <time.h>

#include <climits>

#include "os/syscall.h"

namespace tarn::internal::os {
namespace {

// Who sleeps behind a word, and who is woken. A fork waits apart, so that it is the one that is woken.
constexpr std::uint32_t kThreads = 1, kTheFork = 2;

long futex(const void* word, int operation, std::uint32_t value, const timespec* timeout,
           std::uint32_t who = kThreads) {
  return syscall6(SYS_futex, to_long(word), operation | FUTEX_PRIVATE_FLAG, value, to_long(timeout), 0, who);
}

}  // namespace
}  // namespace tarn::internal::os

namespace TARN_NAMESPACE::detail {
namespace {

using internal::os::futex;
using internal::os::kTheFork;
using internal::os::kThreads;

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
    futex(&state_, FUTEX_WAIT_BITSET, awaited, nullptr, kThreads);
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
    futex(&state_, FUTEX_WAKE_BITSET, 1, nullptr, kTheFork);
  else if ((seen & kHasWaiters) != 0)
    futex(&state_, FUTEX_WAKE_BITSET, 1, nullptr, kThreads);
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
    futex(&state_, FUTEX_WAIT_BITSET, seen, nullptr, kTheFork);
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

void wait_on_address(const void* word, std::uint32_t value, std::uint64_t timeout_ms) {
  const timespec timeout{static_cast<time_t>(timeout_ms / 1000),
                         static_cast<long>(timeout_ms % 1000 * 1000000)};
  futex(word, FUTEX_WAIT, value, &timeout);
}

void wake_all_at(const void* word) { futex(word, FUTEX_WAKE, INT_MAX, nullptr); }

}  // namespace tarn::internal::os
