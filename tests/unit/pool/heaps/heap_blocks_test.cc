#include "general/pools/system_blocks.h"
#include "pool/heaps/heap_state.h"
#include "support/prelude.h"
#include "support/sanitizer.h"
#include "tarn/arena.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"
#include "tarn/observe.h"
#include "unit/pool/over_malloc.h"

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

/// As many calls as a look is for, which end at a time.
void call_until(CallRate& rate, std::uint64_t now_ms) {
  for (unsigned i = 1; i < CallRate::kCalls; ++i) ASSERT_FALSE(rate.note_call());
  ASSERT_TRUE(rate.note_call());
  rate.look(now_ms);
}

TEST(CallRate, IsHighOnceAllCallsBetweenTwoLooksWereFast) {
  CallRate rate;
  call_until(rate, 1000);
  EXPECT_FALSE(rate.is_high()) << "when these calls began is unknown";
  call_until(rate, 1000 + CallRate::kMostMs);
  EXPECT_TRUE(rate.is_high());
}

TEST(CallRate, OfManyCallsInALongTimeIsLow) {
  CallRate rate;
  for (std::uint64_t now_ms = 0; now_ms < 10'000; now_ms += CallRate::kMostMs + 1) {
    call_until(rate, now_ms);
    EXPECT_FALSE(rate.is_high());
  }
}

TEST(CallRate, TwoThreadsThatLookAtOnceLookOnce) {
  CallRate rate;
  call_until(rate, 1000);
  rate.look(1000);
  EXPECT_FALSE(rate.is_high());
}

TEST(CallRate, FallsAgain) {
  CallRate rate;
  call_until(rate, 1);
  call_until(rate, 2);
  EXPECT_TRUE(rate.is_high());
  call_until(rate, 1000);
  EXPECT_FALSE(rate.is_high());
}

TEST(CallRate, SurvivesTheOverflowOfItsClock) {
  CallRate rate;
  call_until(rate, 0xffff'ffff);
  call_until(rate, 0x1'0000'0000);
  EXPECT_TRUE(rate.is_high());
}

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

// -- Over malloc; tests/pools/arena_test.cc has what an arena does over its chunks.

using ArenaOverMalloc = OverMalloc;

TEST_F(ArenaOverMalloc, EachBlockIsAChunkOfItsOwnEvenWhereABufferWouldDo) {
  char buffer[1000];
  Heap heap;
  Arena arena({.heap = &heap, .buffer = buffer, .buffer_bytes = sizeof buffer});
  void* const small = arena.allocate(10);
  void* const aligned = arena.allocate(10, 4096);
  void* const last = arena.allocate(10);
  EXPECT_EQ(heap.use().live_count, 3u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(aligned) % 4096, 0u);
  for (void* const block : {small, aligned, last}) EXPECT_TRUE(arena.owns(block));
  EXPECT_FALSE(arena.owns(buffer + 500));
  EXPECT_EQ(arena.used(), arena.capacity());
}

TEST_F(ArenaOverMalloc, ARewindGivesTheBlocksAfterItsMarkBackAtOnce) {
  Heap heap;
  Arena arena({.heap = &heap, .sensitive = true});
  const ArenaMark empty = arena.mark();
  void* const kept = arena.allocate(10);
  const ArenaMark mark = arena.mark();
  for (int i = 0; i < 5; ++i) static_cast<void>(arena.allocate(100));
  arena.rewind(mark);
  EXPECT_EQ(heap.use().live_count, 1u);
  EXPECT_TRUE(arena.owns(kept));
  EXPECT_EQ(arena.used(), 10u);
  EXPECT_GE(arena.high_water(), 510u);
  EXPECT_NE(arena.allocate(10), nullptr);
  arena.rewind(empty);
  EXPECT_EQ(heap.use().live_count, 0u);
  EXPECT_EQ(arena.capacity(), 0u);
  EXPECT_NE(arena.allocate(10), nullptr);
  arena.reset();
  EXPECT_EQ(heap.use().live_count, 0u);
}

TEST_F(ArenaOverMalloc, PrewarmTakesNothingAndNothingIsKeptToRelease) {
  Heap heap;
  Arena arena({.heap = &heap});
  EXPECT_EQ(arena.prewarm(1000), 1000u);
  EXPECT_EQ(heap.use().live_count, 0u);
  static_cast<void>(arena.allocate(10));
  EXPECT_EQ(arena.release_unused(), 0u);
}

TEST_F(ArenaOverMalloc, AnArenaKeepsTheOperationsItWasMadeWith) {
  Heap heap;
  Arena arena({.heap = &heap});
  use_malloc(false);
  Arena over_chunks({.initial_bytes = 4096});
  use_malloc(true);
  static_cast<void>(arena.allocate(10));
  static_cast<void>(arena.allocate(10));
  EXPECT_EQ(heap.use().live_count, 2u);
  static_cast<void>(over_chunks.allocate(10));
  static_cast<void>(over_chunks.allocate(10));
  EXPECT_EQ(over_chunks.capacity(), 4096u);
}

}  // namespace
}  // namespace tarn::internal
