#include "thread/private_class.h"

#include <gtest/gtest.h>

#include <barrier>
#include <set>
#include <thread>
#include <vector>

#include "central/private_classes.h"
#include "general/setup.h"
#include "page/page_map.h"
#include "support/invariants.h"
#include "tarn/detail/thread_cache.h"
#include "tarn/memory_pool.h"
#include "thread/this_thread.h"

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

TEST(PrivateClass, ThousandsHaveClassesAndTheFirstOfThoseThatEndedComesFirst) {
  constexpr std::size_t kMany = 5'000;
  std::set<SizeClass> classes;
  std::vector<void*> blocks;
  for (std::size_t i = 0; i < kMany; ++i) {
    const SizeClass size_class = acquire(100);
    EXPECT_TRUE(is_private_class(size_class));
    classes.insert(size_class);
    for (int n = 0; n < 3; ++n) blocks.push_back(allocate(size_class));
  }
  EXPECT_EQ(classes.size(), kMany);
  for (void* const block : blocks) tarn::deallocate(block);
  test::validate_library();
  for (const SizeClass size_class : classes) release(size_class);
  for (std::size_t i = 0; i < kMany; ++i) EXPECT_TRUE(classes.contains(acquire(100)));
}

TEST(PrivateClass, ThereIsAnEndOfClassesAndThenOneThatEndedServes) {
  std::vector<SizeClass> classes;
  for (SizeClass next = acquire(100); next != SizeClass::kNone; next = acquire(100)) classes.push_back(next);
  EXPECT_EQ(classes.size(), detail::kMostClasses - detail::kFirstPoolClass);
  // The first that end have live blocks, so that no look at a few finds the last.
  std::vector<void*> blocks;
  for (std::size_t i = 0; i < 100; ++i) {
    blocks.push_back(allocate(classes[i]));
    release(classes[i]);
  }
  EXPECT_EQ(acquire(100), SizeClass::kNone);
  release(classes.back());
  EXPECT_EQ(acquire(100), classes.back());
  for (void* const block : blocks) tarn::deallocate(block);
}

TEST(PrivateClass, AThreadThatComesLaterHasARecordOfEachClass) {
  SizeClass last{};
  for (int i = 0; i < 5'000; ++i) last = acquire(64);  // more than a cache has at first, before there is one
  void* const block = detail::pop(detail::own_cache(), record_of_class(last));
  EXPECT_EQ(block, nullptr);
  tarn::deallocate(allocate(last));
  EXPECT_NE(this_heap(), nullptr);
  EXPECT_NE(detail::pop(detail::own_cache(), record_of_class(last)), nullptr);
}

TEST(PrivateClass, TheMagazineOfAClassThatIsNewToAHeapIsNoIdleOne) {
  SizeClass last{};
  while (index_of_class(last) != PerClass<int>::kInBlock) last = acquire(16 * 1024);
  // Slabs beyond what a heap may have before it looks for idle classes; the next look comes to `last`.
  std::vector<void*> blocks;
  for (int i = 0; i < 100; ++i) blocks.push_back(tarn::allocate(16 * 1024));
  this_heap()->next_class_looked_at = index_of_class(last) - 1;
  this_heap()->home->looked_at_bytes = 0;
  void* const block = allocate(last);
  test::validate_library();
  EXPECT_EQ(page_map.find(block)->size_class.load(), last);
  blocks.push_back(block);
  for (void* const each : blocks) tarn::deallocate(each);
}

TEST(PrivateClass, OtherThreadsUseAClassThatIsNewToThem) {
  std::barrier together(2);
  SizeClass size_class{};
  std::thread other([&] {
    for (int i = 0; i < 200; ++i) tarn::deallocate(tarn::allocate(64));  // has a cache
    together.arrive_and_wait();
    together.arrive_and_wait();
    std::vector<void*> blocks;
    for (int i = 0; i < 1000; ++i) blocks.push_back(allocate(size_class));
    for (void* const block : blocks) tarn::deallocate(block);
  });
  together.arrive_and_wait();
  for (int i = 0; i < 2'000; ++i) size_class = acquire(48);
  together.arrive_and_wait();
  other.join();
  test::validate_library();
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
