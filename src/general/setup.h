// Reads the options and hands them to the tiers below, before the first block.
#pragma once
#include "thread/this_thread.h"

namespace tarn::internal {

/// \cost a load once it is done. Threads: any.
void set_up_once();

/// The calling thread's heap, once the options are read. \returns nullptr for a thread that has called too
/// rarely to have one or has ended, and when memory is refused: then the shared heap serves it.
inline ThreadHeap* heap_of_this_thread() {
  if (ThreadHeap* const heap = this_heap(); heap != nullptr) [[likely]]
    return heap;
  set_up_once();
  return attach_if_earned();
}

}  // namespace tarn::internal
