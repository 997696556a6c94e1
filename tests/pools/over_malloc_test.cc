// TARN_POOLS_USE_MALLOC=1 in a program whose malloc is ours: the pools' blocks are blocks of the general pool
// then.
#include "support/prelude.h"
#include "support/process_memory.h"
#include "support/seed.h"
#include "support/sizes.h"
#include "tarn/arena.h"
#include "tarn/fixed_pool.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"

namespace tarn::test {
namespace {

// A call that asked malloc under its own lock, or in its own scope, would not come back: each case goes with
// one thread and with several, when locks are taken.
class OverMalloc : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam()) std::thread([] {}).join();
  }
};

TEST_P(OverMalloc, AHeapScopeTakesItsBlocksFromTheGeneralPool) {
  Heap heap("scope");
  void* outlives = nullptr;
  {
    HeapScope scope(heap);
    for (const std::size_t size : landmark_sizes(kMiB)) {
      void* const block = std::malloc(size);
      ASSERT_NE(block, nullptr);
      std::memset(block, 1, size);
      EXPECT_TRUE(heap.owns(block));
      std::free(block);
    }
    outlives = std::malloc(100);
  }
  EXPECT_EQ(heap.use().live_count, 1u);
  std::free(outlives);
  EXPECT_EQ(heap.use().live_count, 0u) << "freed outside of the scope";
}

TEST_P(OverMalloc, AHeapsEndLeavesBlocksAloneThatWereFreedByAnyDoor) {
  std::vector<void*> general;
  {
    Heap heap;
    std::vector<void*> blocks;
    for (int i = 0; i < 1000; ++i) blocks.push_back(heap.allocate(64));
    for (std::size_t i = 0; i < blocks.size(); ++i)
      i % 2 == 0 ? std::free(blocks[i]) : heap.deallocate(blocks[i]);
    EXPECT_EQ(heap.use().live_count, 0u);
    for (int i = 0; i < 1000; ++i) general.push_back(std::memset(std::malloc(64), 7, 64));
  }
  for (int i = 0; i < 1000; ++i) std::memset(std::malloc(64), 8, 64);
  for (void* const block : general) EXPECT_EQ(*static_cast<char*>(block), 7) << "handed out twice";
}

TEST_P(OverMalloc, ALimitHoldsAndArenasWork) {
  Heap heap({.hard_limit = 1000});
  void* const block = heap.allocate(900);
  EXPECT_EQ(heap.allocate(200), nullptr);
  EXPECT_EQ(heap.use().live_bytes, 900u);
  heap.deallocate(block);
  Arena arena({.heap = &heap});
  EXPECT_NE(arena.allocate(100), nullptr);
  EXPECT_EQ(heap.use().live_count, 1u);
}

TEST_P(OverMalloc, BlocksThatComeAndGoNeedNoMoreMemoryThanLiveOnes) {
  SharedFixedPool pool(64);
  static_cast<void>(pool.allocate());
  const std::size_t before = resident_bytes();
  for (std::uint64_t i = 0; i < amount(300'000, 3'000'000); ++i) pool.deallocate(pool.allocate());
  EXPECT_LT(resident_bytes(), before + 4 * kMiB);
}

INSTANTIATE_TEST_SUITE_P(Threads, OverMalloc, ::testing::Values(false, true),
                         [](const auto& threads) { return threads.param ? "Several" : "One"; });

}  // namespace
}  // namespace tarn::test
