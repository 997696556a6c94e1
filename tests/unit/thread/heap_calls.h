// Calls of a heap's slow side, as the general pool makes them.
#pragma once
#include "thread/thread_heap.h"

namespace tarn::internal {

inline void* take_block(ThreadHeap& heap, SizeClass size_class) {
  ReturnedPages returned;
  os::LockGuard guard(heap.mutex());
  return allocate_locked(heap, size_class, returned);
}

inline void give_back(ThreadHeap& heap, void* block, SizeClass size_class) {
  ReturnedPages returned;
  deallocate(heap, block, size_class, returned);
}

}  // namespace tarn::internal
