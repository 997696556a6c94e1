#include "thread/private_class.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "general/setup.h"
#include "tarn/detail/thread_cache.h"
#include "tarn/memory_pool.h"

namespace tarn::internal {
namespace {

ClassCensus census(SizeClass size_class) {
  ReturnedPages returned;
  return count_private_class(size_class, returned);
}

void* allocate(SizeClass size_class) { return detail::allocate_class_slow(size_class); }

SizeClass acquire(std::size_t bytes, std::size_t alignment = 8) {
  set_up_once();
  return acquire_private_class(bytes, alignment);
}

void release(SizeClass size_class) {
  settle_private_class(size_class);
  release_private_class(size_class);
}

TEST(PrivateClass, ThereIsALimitedNumberAndThenNone) {
  std::set<SizeClass> classes;
  for (unsigned i = 0; i < detail::kPrivateClassCount; ++i) {
    const SizeClass size_class = acquire(100);
    EXPECT_TRUE(is_private_class(size_class));
    classes.insert(size_class);
  }
  EXPECT_EQ(classes.size(), detail::kPrivateClassCount);
  EXPECT_EQ(acquire(100), SizeClass::kNone);
  release(*classes.begin());
  EXPECT_EQ(acquire(100), *classes.begin());
}

TEST(PrivateClass, BlocksHaveTheirSizeAlignmentAndAnExactIndex) {
  for (const std::size_t alignment : {1u, 8u, 16u, 64u, 256u, 4096u})
    for (const std::size_t bytes :
         {std::size_t{1}, std::size_t{8}, std::size_t{100}, std::size_t{512}, std::size_t{1000},
          std::size_t{4096}, std::size_t{30000}, std::size_t{262144}}) {
      const SizeClass size_class = acquire(bytes, alignment);
      const ClassGeometry& geometry = class_geometry[size_class];
      EXPECT_GE(geometry.stride, bytes);
      EXPECT_EQ(geometry.stride % alignment, 0u);
      EXPECT_GE(geometry.block_count, 1u);
      for (std::uint32_t i = 0; i < geometry.block_count; ++i)
        ASSERT_EQ(index_of(geometry, i * geometry.stride), BlockIndex{i});
      std::vector<void*> blocks;
      for (int i = 0; i < 50; ++i) {
        blocks.push_back(allocate(size_class));
        ASSERT_EQ(address_of(blocks.back()) % alignment, 0u) << bytes;
      }
      EXPECT_EQ(census(size_class).live_count, 50u);
      for (void* block : blocks) tarn::deallocate(block);
      EXPECT_EQ(census(size_class).live_count, 0u);
      release(size_class);
    }
}

TEST(PrivateClass, AReleasedClassWaitsForItsLiveBlocks) {
  const SizeClass first = acquire(100);
  void* const block = allocate(first);
  release(first);
  const SizeClass second = acquire(5000);
  EXPECT_NE(second, first);
  tarn::deallocate(block);
  tarn::trim();
  EXPECT_EQ(acquire(5000), first);
  EXPECT_GE(class_geometry[first].stride, 5000u) << "it has the new pool's size";
}

TEST(PrivateClass, LiveBlocksAreVisitedInAddressOrder) {
  const SizeClass size_class = acquire(48);
  std::set<void*> live;
  for (int i = 0; i < 10000; ++i) live.insert(allocate(size_class));
  for (auto block = live.begin(); block != live.end();) {
    tarn::deallocate(*block);
    block = live.erase(block);
    if (block != live.end()) ++block;
  }
  settle_private_class(size_class);
  std::vector<void*> visited;
  visit_live_blocks(size_class, [&](void* block) { visited.push_back(block); });
  EXPECT_EQ(visited, std::vector<void*>(live.begin(), live.end()));
  for (void* block : visited) mark_block_free(block);
  EXPECT_EQ(census(size_class).live_count, 0u);
  settle_private_class(size_class);
  EXPECT_EQ(census(size_class).slab_bytes, 0u);
}

TEST(PrivateClass, SlabsOfAnEndingClassAreLeftAlone) {
  const SizeClass size_class = acquire(1000);
  std::vector<void*> blocks;
  for (int i = 0; i < 200; ++i) blocks.push_back(allocate(size_class));
  for (std::size_t i = 1; i < blocks.size(); ++i) tarn::deallocate(blocks[i]);
  begin_to_end_private_class(size_class);
  settle_private_class(size_class);
  mark_block_free(blocks[0]);
  const std::size_t held = census(size_class).slab_bytes;
  EXPECT_GT(held, 0u);
  tarn::trim();
  EXPECT_EQ(census(size_class).slab_bytes, held) << "though all its blocks are free";
  settle_private_class(size_class);
  EXPECT_EQ(census(size_class).slab_bytes, 0u);
  release_private_class(size_class);
}

}  // namespace
}  // namespace tarn::internal
