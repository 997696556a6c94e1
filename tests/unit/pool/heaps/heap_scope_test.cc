#include <gtest/gtest.h>

#include <cerrno>

#include "pool/heaps/heap_state.h"
#include "tarn/memory_pool.h"

namespace tarn::internal {
namespace {

TEST(HeapScope, NamesTheInnermostHeap) {
  Heap outer, inner;
  EXPECT_EQ(current_heap(), nullptr);
  {
    HeapScope first(outer);
    EXPECT_EQ(scope_pool(), detail::HeapAccess::state(outer));
    {
      HeapScope second(inner);
      EXPECT_EQ(current_heap(), &inner);
    }
    EXPECT_EQ(current_heap(), &outer);
  }
  EXPECT_EQ(scope_pool(), nullptr);
}

TEST(HeapScope, OfAHeapThatHasEndedRefusesEveryRequest) {
  Heap heap;
  heap.destroy();
  HeapScope scope(heap);
  EXPECT_EQ(current_heap(), nullptr);
  EXPECT_NE(scope_pool(), nullptr) << "the general pool does not help out";
  errno = 0;
  EXPECT_EQ(tarn::allocate(10), nullptr);
  EXPECT_EQ(errno, ENOMEM);
}

TEST(HeapScope, OfAHeapThatHasEndedIsStillThereAfterAnInnerOne) {
  Heap ended, inner;
  ended.destroy();
  HeapScope scope(ended);
  {
    HeapScope second(inner);
    tarn::deallocate(tarn::allocate(10));
  }
  EXPECT_EQ(tarn::allocate(10), nullptr);
}

TEST(HeapScope, IsLeftAndEnteredAgain) {
  Heap heap, ended;
  ended.destroy();
  for (Heap* const each : {&heap, &ended}) {
    HeapScope scope(*each);
    const PoolHeader* const pool = scope_pool();
    {
      const detail::OutsideScopes outside;
      EXPECT_EQ(scope_pool(), nullptr);
      tarn::deallocate(tarn::allocate(10));
      const detail::OutsideScopes still_outside;
    }
    EXPECT_EQ(scope_pool(), pool);
  }
  EXPECT_EQ(heap.use().peak_live_bytes, 0u);
}

}  // namespace
}  // namespace tarn::internal
