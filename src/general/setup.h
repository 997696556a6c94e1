// Reads the options and passes them to the tiers below, before the first block.
#pragma once
#include "thread/this_thread.h"

namespace tarn::internal {

/// \cost a load, after the first call. Threads: any.
void set_up_once();

/// \returns the calling thread's heap, after the options are read; nullptr when the thread has called too
/// rarely to have one, has ended, or memory is refused: then the shared owner serves it.
inline ThreadHeap* heap_of_this_thread() {
  if (ThreadHeap* const heap = this_heap(); heap != nullptr) [[likely]]
    return heap;
  set_up_once();
  return attach_if_earned();
}

}  // namespace tarn::internal
