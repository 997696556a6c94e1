#include "thread/slow_call.h"

#include "os/process/processors.h"
#include "thread/magazine.h"
#include "thread/registry.h"
#include "thread/this_thread.h"

namespace tarn::internal {

SlabOwner& owner_near(const ThreadHeap& heap) {
  if (!threads_share_owners()) return *heap.home;
  SlabOwner* const near = registry.owner_in_use(os::this_processor());
  return near == nullptr ? *heap.home : *near;
}

SlowCall::SlowCall(ThreadHeap& heap) : guard_(heap.mutex), heap_(heap) {
  heap.owner = &owner_near(heap);
  if (is_visited(heap)) [[unlikely]]
    end_visit();
}

void SlowCall::end_visit() {
  close_gaps_locked(heap_);
  show_records_of_this_thread();
}

}  // namespace tarn::internal
