// The library's mutex (tarn/detail/mutex.h, which programs inline; ranks in lock_rank.h), and waiting on a
// word.
#pragma once
#include <atomic>
#include <cstdint>

#include "tarn/detail/mutex.h"

namespace tarn::internal::os {

using detail::MemberMutex;
using detail::Mutex;
using LockGuard = detail::MutexGuard;

/// Tells threads apart.
const void* this_thread();

/// Whether the calling thread has taken all locks for a fork.
bool is_fork_owner();
void set_fork_owner(bool is_owner);

void wait_on_address(const void* word, std::uint32_t value, std::uint64_t timeout_ms);
void wake_all_at(const void* word);

/// What the kernel compares: four bytes, of std::atomic or of detail::Atomic.
template <typename Word>
concept FutexWord = sizeof(Word) == sizeof(std::uint32_t) && alignof(Word) == sizeof(Word);

/// Sleeps until `word` differs from `value`, another thread wakes it, or the time is over. May return early.
template <FutexWord Word>
void wait_on(const Word* word, std::uint32_t value, std::uint64_t timeout_ms) {
  wait_on_address(word, value, timeout_ms);
}
template <FutexWord Word>
void wake_all(const Word* word) {
  wake_all_at(word);
}

/// Who sleeps behind a word, and who is woken. A fork waits apart, so that it is the one that is woken.
enum class Sleeper : std::uint32_t { kThread = 1, kTheFork = 2 };
/// Sleeps until it is woken, unless `word` differs from `value`. May return early.
void sleep_on(const void* word, std::uint32_t value, Sleeper who);
void wake_one(const void* word, Sleeper who);

}  // namespace tarn::internal::os
