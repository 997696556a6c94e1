// The library's mutex (tarn/detail/mutex.h, which programs inline; ranks in lock_rank.h), and waiting on a
// word.
#pragma once
#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "tarn/detail/mutex.h"

namespace tarn::internal::os {

using detail::MemberMutex;
using detail::Mutex;
using LockGuard = detail::MutexGuard;

/// Tells threads apart.
inline const void* this_thread() { return reinterpret_cast<const void*>(pthread_self()); }

/// Whether the calling thread has taken all locks for a fork.
bool is_fork_owner();
void set_fork_owner(bool is_owner);

/// Sleeps until `word` differs from `value`, another thread wakes it, or the time is over. May return early.
void wait_on(const void* word, std::uint32_t value, std::uint64_t timeout_ms);
void wake_all(const void* word);

}  // namespace tarn::internal::os
