#include "observe/figures/stats.h"

#include "support/prelude.h"
#include "support/sizes.h"
#include "tarn/memory_pool.h"
#include "thread/this_thread.h"

namespace tarn::internal {
namespace {

Stats stats() {
  const auto collected = std::make_unique<Stats>();
  collect_stats(*collected);
  return *collected;
}

const ClassUse& use_of(const Stats& collected, std::size_t size) {
  return collected.classes[index_of_class(detail::class_of_bin[detail::bin_of(size)])];
}

TEST(Stats, LiveBytesAreExactAfterKnownAllocations) {
  EXPECT_EQ(stats().live_bytes, 0u);
  std::size_t expected = 0;
  std::vector<void*> blocks;
  for (const std::size_t size : test::landmark_sizes(5 * test::kMiB))
    for (int i = 0; i < 17; ++i) {
      blocks.push_back(tarn::allocate(size));
      expected += tarn::usable_size(blocks.back());
      ASSERT_EQ(stats().live_bytes, expected) << size;
    }
  for (void* block : blocks) {
    expected -= tarn::usable_size(block);
    tarn::deallocate(block);
    ASSERT_EQ(stats().live_bytes, expected);
  }
}

TEST(Stats, BlocksOfAClassAreCountedByTheirState) {
  std::vector<void*> blocks;
  for (int i = 0; i < 1000; ++i) blocks.push_back(tarn::allocate(100));
  for (int i = 0; i < 400; ++i) tarn::deallocate(blocks[static_cast<std::size_t>(i)]);
  const Stats collected = stats();
  const ClassUse& use = use_of(collected, 100);
  EXPECT_EQ(use.live_blocks, 600u);
  EXPECT_EQ(use.live_blocks + use.cached_blocks + use.free_blocks, use.total_blocks);
  EXPECT_GE(use.slab_bytes, use.total_blocks * 100);
}

TEST(Stats, BlocksOfOtherThreadsCountWhetherTheyLiveOrHaveEnded) {
  std::barrier allocated(2), counted(2);
  std::vector<void*> blocks;
  std::thread([&] {
    for (int i = 0; i < 500; ++i) blocks.push_back(tarn::allocate(64));
  }).join();
  std::thread living([&] {
    for (int i = 0; i < 500; ++i) blocks.push_back(tarn::allocate(64));
    allocated.arrive_and_wait();
    counted.arrive_and_wait();
  });
  allocated.arrive_and_wait();
  EXPECT_EQ(use_of(stats(), 64).live_blocks, 1000u);
  for (void* block : blocks) tarn::deallocate(block);
  EXPECT_EQ(use_of(stats(), 64).live_blocks, 0u);
  counted.arrive_and_wait();
  living.join();
}

TEST(Stats, LargeBlocksAreCountedApart) {
  void* const one = tarn::allocate(3 * test::kMiB);
  void* const another = tarn::allocate(300 * test::kKiB);
  EXPECT_EQ(stats().large_live_count, 2u);
  EXPECT_EQ(stats().large_live_bytes, tarn::usable_size(one) + tarn::usable_size(another));
  tarn::deallocate(one);
  tarn::deallocate(another);
  EXPECT_EQ(stats().large_live_count, 0u);
  EXPECT_EQ(stats().large_allocations, 2u);
}

TEST(Stats, ABlockShrunkInPlaceIsGivenBackToWhereItWasTakenFrom) {
  for (int i = 0; i < 10; ++i) {
    void* block = tarn::allocate(1000);
    block = tarn::reallocate(block, 600);
    tarn::deallocate(block, 600);
  }
  EXPECT_EQ(stats().live_bytes, 0u);
}

TEST(Stats, ThreadsWithAHeapAreCounted) {
  tarn::deallocate(tarn::allocate(1));
  EXPECT_EQ(stats().live_threads, 1u);
  std::thread([] {
    tarn::deallocate(tarn::allocate(1));
    EXPECT_EQ(stats().live_threads, 1u) << "one that calls rarely has none";
    attach_this_thread();
    EXPECT_EQ(stats().live_threads, 2u);
  }).join();
  EXPECT_EQ(stats().live_threads, 1u);
  EXPECT_EQ(stats().peak_threads, 2u);
}

TEST(Stats, MetadataIsASmallPartOfTheHeap) {
  std::vector<void*> blocks;
  for (int i = 0; i < 200000; ++i) blocks.push_back(tarn::allocate(64));
  const Stats collected = stats();
  EXPECT_LE(collected.metadata_bytes, collected.live_bytes / 20);
  for (void* block : blocks) tarn::deallocate(block);
}

}  // namespace
}  // namespace tarn::internal
