#include <gtest/gtest.h>

#include <cerrno>
#include <vector>

#include "general/pools/system_blocks.h"
#include "pool/heaps/heap_state.h"
#include "support/sanitizer.h"
#include "tarn/observe.h"
#include "unit/pool/over_malloc.h"

namespace tarn::internal {
namespace {

using detail::HeapAccess;

using HeapOverMalloc = OverMalloc;

TEST_F(HeapOverMalloc, CountsWhatWasAskedForAndHasNoPages) {
  Heap heap;
  EXPECT_TRUE(HeapAccess::state(heap)->is_over_malloc);
  void* const block = heap.allocate(1001);
  EXPECT_EQ(system_blocks.pool_of(block), HeapAccess::state(heap));
  EXPECT_EQ(heap.use().live_bytes, 1001u);
  EXPECT_EQ(heap.use().mapped_bytes, 0u);
  EXPECT_EQ(heap.usable_size(block), 1001u);
  EXPECT_EQ(heap.prewarm(1 << 20), 0u);
  validate(*HeapAccess::state(heap));
  heap.deallocate(block);
  EXPECT_EQ(heap.use().live_bytes, 0u);
  EXPECT_EQ(heap.use().peak_live_bytes, 1001u);
}

TEST_F(HeapOverMalloc, ARefusedBlockIsNotCharged) {
  Heap heap({.hard_limit = 1000});
  EXPECT_EQ(heap.allocate(1001), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  if (test::kSanitizer) GTEST_SKIP() << "a sanitizer's malloc stops the process instead";
  Heap unlimited;
  EXPECT_EQ(unlimited.allocate(std::size_t{1} << 45), nullptr) << "malloc has no such block";
  EXPECT_EQ(unlimited.use().live_count, 0u);
}

TEST_F(HeapOverMalloc, ABlockAlwaysMovesSoThatItsEndsAreSeen) {
  Heap heap;
  void* const block = heap.allocate(100);
  void* const moved = heap.reallocate(block, 99);
  EXPECT_EQ(system_blocks.pool_of(block), nullptr);
  EXPECT_EQ(heap.usable_size(moved), 99u);
  EXPECT_EQ(heap.use().live_count, 1u);
}

TEST_F(HeapOverMalloc, ClearAndTheEndGiveAllBlocksBack) {
  void* block = nullptr;
  {
    Heap heap;
    block = heap.allocate(100);
    heap.clear();
    EXPECT_EQ(system_blocks.pool_of(block), nullptr);
    EXPECT_EQ(heap.use().live_count, 0u);
    block = heap.allocate(100);
  }
  EXPECT_EQ(system_blocks.pool_of(block), nullptr);
}

TEST_F(HeapOverMalloc, ASensitiveHeapIsVisitedToo) {
  Heap heap({.sensitive = true});
  void* const block = heap.allocate(100);
  std::vector<const void*> visited;
  EXPECT_TRUE(visit_blocks(heap, [&](const LiveBlock& live) { visited.push_back(live.address); }));
  EXPECT_EQ(visited, std::vector<const void*>{block});
}

}  // namespace
}  // namespace tarn::internal
