// Many blocks in one call, and giving memory back.
#include "conformance/conformance.h"

namespace tarn::test {
namespace {

class Batch : public Conformance {};
INSTANTIATE_TEST_SUITE_P(, Batch, pools_with(&Pool::allocate_batch), name_of);

TEST_P(Batch, BlocksAreWholeAlignedAndApart) {
  for (const std::size_t size : landmark_sizes(up_to(kMiB)))
    for (const std::size_t count : {0u, 1u, 2u, 63u, 64u, 65u, 1000u}) {
      if (size * count > 64 * kMiB) continue;
      std::vector<void*> blocks(count + 1, nullptr);
      ASSERT_EQ(pool().allocate_batch(size, count, blocks.data()), count) << size;
      EXPECT_EQ(blocks[count], nullptr) << "one more than asked for was written";
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(address(blocks[i]) % (size <= 8 ? 8 : 16), 0u);
        ASSERT_GE(usable_bytes(blocks[i], size), size);
        fill(blocks[i], size, i);
      }
      for (std::size_t i = 0; i < count; ++i)
        ASSERT_TRUE(holds(blocks[i], size, i)) << size << " block " << i;
      pool().deallocate_batch(blocks.data(), count);
    }
}

TEST_P(Batch, TakesBlocksOfAllSizesBackTogether) {
  std::vector<void*> blocks;
  for (int round = 0; round < 20; ++round)
    for (const std::size_t size : landmark_sizes(up_to(kMiB))) blocks.push_back(pool().allocate(size));
  blocks.push_back(nullptr);
  pool().deallocate_batch(blocks.data(), blocks.size());
}

TEST_P(Batch, AnswersWhatCannotBeHadWithNoBlocksAndEnomem) {
  void* blocks[4] = {};
  errno = 0;
  EXPECT_EQ(pool().allocate_batch(SIZE_MAX, 4, blocks), 0u);
  EXPECT_EQ(errno, ENOMEM);
}

TEST_P(Batch, BlocksMayBeGivenBackOneByOneAndTheOtherWayRound) {
  std::vector<void*> blocks(500);
  ASSERT_EQ(pool().allocate_batch(48, blocks.size(), blocks.data()), blocks.size());
  for (void* block : blocks) pool().deallocate_sized(block, 48);
  for (void*& block : blocks) block = pool().allocate(48);
  pool().deallocate_batch(blocks.data(), blocks.size());
}

TEST_P(Batch, TrimLeavesLiveBlocksAloneAndAllocationGoesOn) {
  std::vector<void*> live;
  for (const std::size_t size : landmark_sizes(up_to(5 * kMiB))) {
    pool().deallocate(pool().allocate(size));
    live.push_back(pool().allocate(size));
    fill(live.back(), size, size);
  }
  void* const freed = pool().allocate(up_to(32 * kMiB));
  fill(freed, up_to(32 * kMiB), 0);
  pool().deallocate(freed);
  pool().trim();
  std::size_t i = 0;
  for (const std::size_t size : landmark_sizes(up_to(5 * kMiB))) {
    EXPECT_TRUE(holds(live[i], size, size)) << size;
    pool().deallocate(live[i++]);
    pool().deallocate(pool().allocate(size));
  }
}

}  // namespace
}  // namespace tarn::test
