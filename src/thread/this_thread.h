// The calling thread's heap.
#pragma once
#include "thread/heap.h"

namespace tarn::internal {

/// The heap of this thread, nullptr before its first slow call and after its end.
Heap* this_heap();

/// Gives the thread a heap. \returns nullptr when memory is refused or the thread has ended.
Heap* attach_this_thread();

/// Whether the thread's destructors have run: then its blocks come from the shared heap.
bool this_thread_has_ended();

}  // namespace tarn::internal
