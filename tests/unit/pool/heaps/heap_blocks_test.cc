#include <gtest/gtest.h>

#include <vector>

#include "pool/heaps/heap_state.h"

namespace tarn::internal {
namespace {

detail::HeapState& state_of(const Heap& heap) { return *detail::HeapAccess::state(heap); }

TEST(HeapBlocks, ChargesWhatABlockHolds) {
  Heap heap;
  void* const block = heap.allocate(100);
  EXPECT_EQ(heap.use().live_bytes, heap.usable_size(block));
  EXPECT_EQ(heap.use().live_bytes, 112u);
  validate(state_of(heap));
}

TEST(HeapBlocks, ABlockStaysWhereItIsDownToHalfItsSize) {
  Heap heap;
  void* block = heap.allocate(1024);
  const std::size_t half = heap.usable_size(block) / 2;
  EXPECT_EQ(heap.reallocate(block, half), block);
  EXPECT_NE(heap.reallocate(block, half - 1), block);
  EXPECT_EQ(heap.use().live_count, 1u);
  validate(state_of(heap));
}

TEST(HeapBlocks, TheLimitIsThatOfLiveBytes) {
  Heap heap({.hard_limit = 1120});
  std::vector<void*> blocks;
  for (int i = 0; i < 10; ++i) blocks.push_back(heap.allocate(112));
  EXPECT_NE(blocks.back(), nullptr);
  EXPECT_EQ(heap.allocate(1), nullptr);
  heap.deallocate(blocks.back());
  EXPECT_NE(heap.allocate(1), nullptr);
  validate(state_of(heap));
}

TEST(HeapBlocksDeathTest, ACountThatIsNotThatOfTheSlabsBreaksTheInvariant) {
  Heap heap;
  static_cast<void>(heap.allocate(100));
  ++state_of(heap).taken_count;
  EXPECT_DEATH(validate(state_of(heap)), "count == live_count");
  --state_of(heap).taken_count;
}

}  // namespace
}  // namespace tarn::internal
