// A heap whose threads have magazines from the start, and not only once they use it much. Where free blocks
// are poisoned, and over malloc, there are none: there it is a Heap.
#pragma once
#include "pool/heap_magazines.h"
#include "tarn/heap.h"

namespace tarn::test {

class HeapWithMagazines : public Heap {
 public:
  explicit HeapWithMagazines(const HeapOptions& options = {}) : Heap(options) {
    if (state().may_have_magazines) internal::make_magazines(state());
  }
  detail::HeapState& state() const { return *detail::HeapAccess::state(*this); }
  internal::HeapMagazines* magazines() const { return state().magazines.load(); }
};

}  // namespace tarn::test
