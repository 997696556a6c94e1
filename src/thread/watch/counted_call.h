// Counts a call where calls are counted (the option count_calls): with those of the calling thread's heap, or
// with those of all threads that have none: they have ended, or memory was refused.
// Threads: any, with no lock held.
#pragma once
#include "central/owners.h"
#include "thread/heap_record.h"

namespace tarn::internal {

/// Under the mutex of the shared owner, which serves these threads.
inline constinit ThreadCallCounts calls_without_heap{};

/// Calls add(counts). \param heap nullptr: the thread has none
template <typename Add>
void count_call(ThreadHeap* heap, Add add) {
  if (!thread_limits.count_calls) [[likely]]
    return;
  if (heap != nullptr) {
    os::LockGuard guard(heap->mutex);
    add(*heap->calls);
  } else {
    os::LockGuard guard(owners.shared().mutex);
    add(calls_without_heap);
  }
}

}  // namespace tarn::internal
