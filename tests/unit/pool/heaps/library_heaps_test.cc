#include "pool/heaps/library_heaps.h"

#include "pool/heaps/heap_state.h"
#include "support/prelude.h"
#include "support/threads.h"
#include "tarn/memory_pool.h"

namespace tarn::internal {
namespace {

TEST(ArenaHeap, IsTheSameForAllThreadsThatAskAtTheSameTime) {
  constexpr int kThreads = 4;
  detail::HeapState* heaps[kThreads] = {};
  test::in_threads(kThreads, [&](int i) { heaps[i] = arena_heap(); });
  for (detail::HeapState* heap : heaps) EXPECT_EQ(heap, heaps[0]);
  EXPECT_STREQ(heaps[0]->name, "arenas");
}

TEST(ArenaHeap, SensitiveArenasHaveAnotherWhichLeavesTheWipingToThem) {
  detail::HeapState* const heap = sensitive_arena_heap();
  EXPECT_NE(heap, arena_heap());
  EXPECT_EQ(heap, sensitive_arena_heap());
  EXPECT_TRUE(heap->is_sensitive);
  EXPECT_FALSE(heap->wipes);
  EXPECT_STREQ(heap->name, "sensitive arenas");
}

TEST(ArenaHeap, IgnoresAFreeOfABlockInsideOfAChunk) {
  detail::HeapState* const heap = arena_heap();
  void* const chunk = detail::heap_allocate(heap, 1000, 16);
  tarn::deallocate(static_cast<char*>(chunk) + 64);
  EXPECT_EQ(detail::heap_use(heap).live_count, 1u);
  detail::heap_deallocate(heap, chunk);
  EXPECT_EQ(detail::heap_use(heap).live_count, 0u);
  validate(*heap);
}

}  // namespace
}  // namespace tarn::internal
