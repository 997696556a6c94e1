// Heaps without their threads, and calls of their slow side as the general pool makes them.
#pragma once
#include "thread/registry.h"
#include "thread/slow_call.h"
#include "thread/thread_heap.h"

namespace tarn::internal {

/// A thread's heap without the thread.
class Attached {
 public:
  Attached() : heap_(registry.attach()) {}
  ~Attached() { end(); }
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;

  void end() {
    if (heap_ != nullptr) registry.detach(*heap_);
    heap_ = nullptr;
  }
  ThreadHeap& heap() { return *heap_; }

 private:
  ThreadHeap* heap_;
};

inline void* take_block(ThreadHeap& heap, SizeClass size_class) {
  ReturnedPages returned;
  const SlowCall call(heap);
  return allocate(heap, size_class, returned);
}

inline void give_back(ThreadHeap& heap, void* block, SizeClass size_class) {
  ReturnedPages returned;
  deallocate(heap, block, size_class, returned);
}

}  // namespace tarn::internal
