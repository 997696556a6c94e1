#include "tarn/memory_resource.h"

#include <unordered_map>

#include "support/prelude.h"
#include "tarn/arena.h"
#include "tarn/fixed_pool.h"
#include "tarn/heap.h"

namespace tarn::test {
namespace {

void fill_and_empty(std::pmr::memory_resource* resource) {
  std::pmr::vector<std::pmr::string> lines(resource);
  std::pmr::unordered_map<int, std::pmr::string> by_number(resource);
  for (int i = 0; i < 1000; ++i) {
    lines.emplace_back(static_cast<std::size_t>(i % 200), 'x');
    by_number[i] = lines.back();
  }
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(by_number[i].size(), static_cast<std::size_t>(i % 200));
}

TEST(MemoryResource, ContainersWorkOnEveryPool) {
  Heap heap;
  memory_resource on_heap(heap);
  fill_and_empty(&on_heap);
  EXPECT_EQ(heap.use().live_count, 0u);

  Arena arena;
  memory_resource on_arena(arena);
  fill_and_empty(&on_arena);

  FixedPool pool({.block_bytes = 64, .blocks_per_chunk = 8192});
  memory_resource on_pool(pool);
  fill_and_empty(&on_pool);
  EXPECT_EQ(pool.live_count(), 0u);

  fill_and_empty(default_resource());
}

TEST(MemoryResource, IsEqualToAnotherOverTheSameSource) {
  Heap heap, other;
  const memory_resource one(heap), same(heap), different(other);
  EXPECT_TRUE(one.is_equal(same));
  EXPECT_FALSE(one.is_equal(different));
  EXPECT_FALSE(one.is_equal(*default_resource()));
  EXPECT_TRUE(default_resource()->is_equal(*default_resource()));
}

TEST(MemoryResource, GivesEveryAlignmentAndThrowsAtTheLimit) {
  Heap heap({.hard_limit = 1 << 20});
  memory_resource resource(heap);
  for (std::size_t alignment = 1; alignment <= 4096; alignment *= 2) {
    void* const block = resource.allocate(100, alignment);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % alignment, 0u);
    resource.deallocate(block, 100, alignment);
  }
  EXPECT_THROW(static_cast<void>(resource.allocate(2 << 20)), std::bad_alloc);
}

TEST(MemoryResource, ServesAsUpstreamOfTheStandardPools) {
  Heap heap;
  memory_resource resource(heap);
  {
    std::pmr::unsynchronized_pool_resource pools(&resource);
    fill_and_empty(&pools);
  }
  EXPECT_EQ(heap.use().live_bytes, 0u);
}

}  // namespace
}  // namespace tarn::test
