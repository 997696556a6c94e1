#include "general/large.h"

#include "fault/fault_injection.h"
#include "general/options/setup.h"
#include "support/child.h"
#include "support/prelude.h"
#include "support/sizes.h"
#include "tarn/memory_pool.h"

namespace tarn::internal {
namespace {

class Large : public ::testing::Test {
 protected:
  void SetUp() override { set_up_once(); }
};

TEST_F(Large, BlocksAreCountedWhileTheyLive) {
  const LargeStats before = large_stats();
  Span* const span = allocate_large(3 * test::kMiB, 16);
  EXPECT_EQ(large_stats().live_count, before.live_count + 1);
  EXPECT_EQ(large_stats().live_bytes, before.live_bytes + span->bytes());
  deallocate_large(span, span->start);
  EXPECT_EQ(large_stats().live_bytes, before.live_bytes);
}

TEST_F(Large, BlocksGrowInPlaceIntoTheRoomTheyAskedFor) {
  Span* const span = allocate_large(test::kMiB, 16, test::kMiB);
  char* const start = span->start;
  ASSERT_TRUE(resize_large(span, 2 * test::kMiB));
  EXPECT_EQ(span->start, start);
  EXPECT_EQ(span->bytes(), 2 * test::kMiB);
  deallocate_large(span, start);
}

TEST_F(Large, ABlockThatGrowsToMuchIsMovedTwiceAtMostOnceItIsLarge) {
  int moves = 0;
  for (int round = 0; round < 10; ++round, moves = 0) {
    std::size_t size = 1024;
    void* block = tarn::allocate(size);
    for (; size < 3'000'000; size += size / 2) {
      void* const grown = tarn::reallocate(block, size + size / 2);
      ASSERT_NE(grown, nullptr);
      moves += size > 128 * test::kKiB && grown != block;
      block = grown;
    }
    tarn::deallocate(block);
  }
  EXPECT_LE(moves, 2);  // in the last round, which finds a heap in use
}

TEST_F(Large, SizesThatSwingWhereGrowthBeginsAreNotCopiedEachTime) {
  void* block = tarn::reallocate(tarn::allocate(100 * test::kKiB), 140 * test::kKiB);
  for (const std::size_t kib : {120, 140, 70, 150}) {
    void* const resized = tarn::reallocate(block, kib * test::kKiB);
    EXPECT_EQ(resized, block) << kib;
    block = resized;
  }
  tarn::deallocate(block);
}

TEST_F(Large, MovedBlocksKeepTheirContents) {
  Span* span = allocate_large(8 * test::kMiB + 1000, std::size_t{2} << 20);
  std::memset(span->start, 0x5a, 8 * test::kMiB + 1000);
  Span* const moved = move_large(span, 16 * test::kMiB);
  if (moved == nullptr) GTEST_SKIP() << "pages cannot be moved here";
  for (std::size_t at = 0; at < 8 * test::kMiB + 1000; at += 4095) ASSERT_EQ(moved->start[at], 0x5a);
  deallocate_large(moved, moved->start);
}

TEST_F(Large, MoreThanTheAddressSpaceIsRefused) {
  EXPECT_EQ(allocate_large(std::size_t{1} << 60, 16), nullptr);
  EXPECT_EQ(allocate_large(100, std::size_t{1} << 60), nullptr);
}

TEST_F(Large, AnAddressInsideOfABlockStopsTheProcess) {
  Span* const span = allocate_large(test::kMiB, 16);
  const test::ChildResult result = test::run_in_child([&] {
    deallocate_large(span, span->start + 16);
    return 0;
  });
  EXPECT_EQ(result.signal, SIGABRT);
  deallocate_large(span, span->start);
}

// As they serve a single call: owners keep their spans for the next ones.
TEST_F(Large, BlocksThatHaveEndedServeABatchBeforeItIsRefused) {
  struct Block {
    Block* next;
  };
  constexpr std::size_t kBytes = 4096, kCount = 8;
  Block* first = nullptr;
  void* const large = tarn::allocate(std::size_t{1} << 20);
  ASSERT_NE(large, nullptr);
  void* blocks[kCount];
  std::size_t taken = 0;
  {
    const test::FaultInjection refused(test::FaultInjection::kAllKinds, 0,
                                       test::FaultInjection::Extent::kAllFromThere);
    while (void* const block = tarn::allocate(kBytes)) first = new (block) Block{first};
    tarn::deallocate(large);
    taken = tarn::allocate_batch(kBytes, kCount, blocks);
  }
  EXPECT_EQ(taken, kCount);
  tarn::deallocate_batch(blocks, taken);
  while (Block* const block = first) {
    first = block->next;
    tarn::deallocate(block);
  }
}

}  // namespace
}  // namespace tarn::internal
