// Many blocks in one call, and giving memory back.
#include "conformance/conformance.h"

namespace tarn::test {
namespace {

template <typename Pool>
class Batch : public Conformance<Pool> {};
TYPED_TEST_SUITE(Batch, BatchPools);

TYPED_TEST(Batch, BlocksAreWholeAlignedAndApart) {
  for (const std::size_t size : landmark_sizes(up_to<TypeParam>(kMiB)))
    for (const std::size_t count : {0u, 1u, 2u, 63u, 64u, 65u, 1000u}) {
      if (size * count > 64 * kMiB) continue;
      std::vector<void*> blocks(count + 1, nullptr);
      ASSERT_EQ(TypeParam::allocate_batch(size, count, blocks.data()), count) << size;
      EXPECT_EQ(blocks[count], nullptr) << "one more than asked for was written";
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(address(blocks[i]) % (size <= 8 ? 8 : 16), 0u);
        ASSERT_GE(usable_bytes<TypeParam>(blocks[i], size), size);
        fill(blocks[i], size, i);
      }
      for (std::size_t i = 0; i < count; ++i)
        ASSERT_TRUE(holds(blocks[i], size, i)) << size << " block " << i;
      TypeParam::deallocate_batch(blocks.data(), count);
    }
}

TYPED_TEST(Batch, TakesBlocksOfAllSizesBackTogether) {
  std::vector<void*> blocks;
  for (int round = 0; round < 20; ++round)
    for (const std::size_t size : landmark_sizes(up_to<TypeParam>(kMiB)))
      blocks.push_back(TypeParam::allocate(size));
  blocks.push_back(nullptr);
  TypeParam::deallocate_batch(blocks.data(), blocks.size());
}

TYPED_TEST(Batch, AnswersWhatCannotBeHadWithNoBlocksAndEnomem) {
  void* blocks[4] = {};
  errno = 0;
  EXPECT_EQ(TypeParam::allocate_batch(SIZE_MAX, 4, blocks), 0u);
  EXPECT_EQ(errno, ENOMEM);
}

TYPED_TEST(Batch, BlocksMayBeGivenBackOneByOneAndTheOtherWayRound) {
  std::vector<void*> blocks(500);
  ASSERT_EQ(TypeParam::allocate_batch(48, blocks.size(), blocks.data()), blocks.size());
  for (void* block : blocks) TypeParam::deallocate(block, 48);
  for (void*& block : blocks) block = TypeParam::allocate(48);
  TypeParam::deallocate_batch(blocks.data(), blocks.size());
}

TYPED_TEST(Batch, TrimLeavesLiveBlocksAloneAndAllocationGoesOn) {
  std::vector<void*> live;
  for (const std::size_t size : landmark_sizes(up_to<TypeParam>(5 * kMiB))) {
    TypeParam::deallocate(TypeParam::allocate(size));
    live.push_back(TypeParam::allocate(size));
    fill(live.back(), size, size);
  }
  void* const freed = TypeParam::allocate(up_to<TypeParam>(32 * kMiB));
  fill(freed, up_to<TypeParam>(32 * kMiB), 0);
  TypeParam::deallocate(freed);
  TypeParam::trim();
  std::size_t i = 0;
  for (const std::size_t size : landmark_sizes(up_to<TypeParam>(5 * kMiB))) {
    EXPECT_TRUE(holds(live[i], size, size)) << size;
    TypeParam::deallocate(live[i++]);
    TypeParam::deallocate(TypeParam::allocate(size));
  }
}

}  // namespace
}  // namespace tarn::test
