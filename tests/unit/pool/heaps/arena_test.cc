// Over malloc; tests/pools/arena_test.cc has what an arena does over its chunks.
#include "tarn/arena.h"

#include <gtest/gtest.h>

#include "tarn/heap.h"
#include "unit/pool/over_malloc.h"

namespace tarn::internal {
namespace {

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
