// The library's mutex (tarn/detail/mutex.h, which programs inline) and waiting on a word.
//
// Lock order, first taken first: set-up, registry of pools, its list of those in callers' memory, a pool's own mutex, a
// pool's structure, giving back (page_cache.h), registry of threads, heap, growth of the page cache, page cache, spans,
// metadata. A second heap is only ever tried. No lock but that of giving back is held across a call that gives memory back.
#pragma once
#include <atomic>
#include <cstdint>

#include "tarn/detail/mutex.h"

namespace tarn::internal::os {

using detail::Mutex;
using LockGuard = detail::MutexGuard;

/// Sleeps until `word` is no longer `value`, somebody wakes it, or the time is over. May return early.
void wait_on(std::atomic<std::uint32_t>& word, std::uint32_t value, std::uint64_t timeout_ms);
void wake_all(std::atomic<std::uint32_t>& word);

}  // namespace tarn::internal::os
