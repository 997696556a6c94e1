#include "thread/pools/marked_hits.h"

#include "central/cached/depot.h"
#include "central/slabs/remote_free.h"
#include "thread/magazine.h"
#include "thread/registry.h"
#include "thread/slow_call.h"

namespace tarn::internal {
namespace {

/// Around a hit. A signal handler's hit may lie in one.
class Mark {
 public:
  explicit Mark(ThreadHeap& heap) : heap_(heap), is_inner_(heap.batch.is_inside()) {
    if (!is_inner_) heap.batch.enter(os::OwnerLock::fences);
  }
  ~Mark() {
    if (!is_inner_) heap_.batch.leave();
  }
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;

 private:
  ThreadHeap& heap_;
  const bool is_inner_;
};

// Whether a hit may be. \pre the mark is set: who visits the heap or the pool waits for that, or sees it.
bool may_hit(const SlabOwner& owner, const ThreadHeap& heap) {
  return has_magazines(owner) && !is_visited(heap);
}

// Waits for a thread's mark no longer than this: a signal handler that has come in between may need what this
// visit has locked.
constexpr unsigned kMostWaitMilliseconds = 100;

// Of a thread that runs, hits that are not marked touch the newest block.
void drop(ThreadHeap& heap, const SlabOwner& owner, Hits hits, ReturnedPages& returned) {
  if (&heap == this_heap()) {
    if (heap.batch.is_inside()) return;  // this is a signal handler
  } else if (!heap.is_left()) {
    if (hits == Hits::kPlain || (hits == Hits::kMarkedSince && is_visited(heap))) return;
    if (!os::OwnerLock::wait_for(heap.batch, kMostWaitMilliseconds)) return;
  }
  for (const SizeClass size_class : classes_of(owner)) drop_magazine_locked(heap, size_class, returned);
}

}  // namespace

void* pop_marked(const SlabOwner& owner, SizeClass size_class, ThreadHeap& heap) {
  const Mark mark(heap);
  return may_hit(owner, heap) ? detail::pop(heap.cache, record_of_class(size_class)) : nullptr;
}

void end_visit(ThreadHeap& heap) {
  if (is_visited(heap)) const SlowCall call(heap);
}

void drop_own_magazines(const SlabOwner& owner, ThreadHeap& heap, ReturnedPages& returned) {
  const SlowCall call(heap);
  if (heap.batch.is_inside()) return;  // this is a signal handler
  for (const SizeClass size_class : classes_of(owner)) drop_magazine_locked(heap, size_class, returned);
}

bool push_marked(const SlabOwner& owner, SizeClass size_class, ThreadHeap& heap, void* block) {
  const Mark mark(heap);
  return may_hit(owner, heap) && detail::push(heap.cache, record_of_class(size_class), block);
}

void drop_all_magazines(SlabOwner& owner, Hits hits, ReturnedPages& returned) {
  os::OwnerLock::fence_all_threads();
  registry.for_each_heap([&](ThreadHeap& heap) { drop(heap, owner, hits, returned); });
  // What is parked may be of another part's slab: no part collects before all have returned what they have.
  for_each_part(owner, [&](SlabOwner& part) {
    os::LockGuard guard(part.mutex);
    for (const SizeClass size_class : classes_of(part)) return_parked(part, size_class, UINT32_MAX, returned);
  });
  for_each_part(owner, [&](SlabOwner& part) {
    os::LockGuard guard(part.mutex);
    collect_all_pending_locked(part, returned);
  });
}

}  // namespace tarn::internal
