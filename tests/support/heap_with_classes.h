// A heap that has its size classes from the start, and not only once it is used much. Where free blocks are
// poisoned, and over malloc, there are none: there it is a Heap.
#pragma once
#include "pool/heaps/heap_classes.h"
#include "tarn/heap.h"

namespace tarn::test {

class HeapWithClasses : public Heap {
 public:
  explicit HeapWithClasses(const HeapOptions& options = {}) : Heap(options) {
    if (state().may_have_classes) internal::begin_classes(state());
  }
  detail::HeapState& state() const { return *detail::HeapAccess::state(*this); }
  internal::SlabOwner* owner() const { return state().owner.load(); }
  /// Bytes that are charged and not live: threads have them cached.
  std::size_t cached_bytes() const { return state().account.charged() - use().live_bytes; }
};

}  // namespace tarn::test
