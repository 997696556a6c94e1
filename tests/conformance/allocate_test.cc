// Blocks of every size: aligned, distinct, whole.
#include "conformance/conformance.h"

namespace tarn::test {
namespace {

class Allocate : public Conformance {};
INSTANTIATE_TEST_SUITE_P(, Allocate, ::testing::ValuesIn(pools()), name_of);

TEST_P(Allocate, AlignsEveryBlockToSixteenBytesAndTinyOnesToEight) {
  for (const std::size_t size : boundary_sizes(up_to(kLargestTested))) {
    Block block(pool(), pool().allocate(size)), another(pool(), pool().allocate(size));
    for (const void* each : {block.get(), another.get()}) {
      ASSERT_NE(each, nullptr) << size;
      EXPECT_EQ(address(each) % (size <= 8 ? 8 : 16), 0u) << size;
    }
  }
}

TEST_P(Allocate, GivesAtLeastWhatWasAskedForAndAllOfItIsUsable) {
  std::vector<std::size_t> sizes = boundary_sizes(up_to(kMiB));
  for (const std::size_t size : landmark_sizes(up_to(kLargestLandmark)))
    if (size > kMiB) sizes.push_back(size);
  for (const std::size_t size : sizes) {
    Block before(pool(), pool().allocate(size)), block(pool(), pool().allocate(size)),
        after(pool(), pool().allocate(size));
    const std::size_t usable = usable_bytes(block.get(), size);
    ASSERT_GE(usable, size);
    fill(before.get(), size, 1);
    fill(after.get(), size, 2);
    fill(block.get(), usable, 3);
    EXPECT_TRUE(holds(before.get(), size, 1)) << size;
    EXPECT_TRUE(holds(after.get(), size, 2)) << size;
    EXPECT_TRUE(holds(block.get(), usable, 3)) << size;
  }
}

TEST_P(Allocate, KeepsAllLiveBlocksOfASizeApart) {
  constexpr std::size_t kMost = kSanitizer ? 40 : 300, kMostBytes = kMiB / (kSanitizer ? 4 : 1);
  for (const std::size_t size : boundary_sizes(up_to(kSanitizer ? kMiB / 2 : 4 * kMiB))) {
    const std::size_t count = size <= 256 * kKiB ? 1 + std::min(kMost, kMostBytes / (size + 1)) : 5;
    std::vector<void*> blocks;
    for (std::size_t i = 0; i < count; ++i) {
      blocks.push_back(pool().allocate(size));
      ASSERT_NE(blocks.back(), nullptr);
      fill(blocks.back(), size, i);
    }
    for (std::size_t i = 0; i < count; ++i) ASSERT_TRUE(holds(blocks[i], size, i)) << size << " block " << i;
    for (void* block : blocks) pool().deallocate_sized(block, size);
  }
}

TEST_P(Allocate, GivesDistinctBlocksForZeroBytes) {
  std::vector<void*> blocks;
  for (int i = 0; i < 1000; ++i) blocks.push_back(pool().allocate(0));
  std::sort(blocks.begin(), blocks.end());
  EXPECT_NE(blocks.front(), nullptr);
  EXPECT_EQ(std::unique(blocks.begin(), blocks.end()), blocks.end());
  for (void* block : blocks) pool().deallocate_sized(block, 0);
}

TEST_P(Allocate, TakesEverySizeOfASmallBlockBackWithAndWithoutItsSize) {
  for (std::size_t size = 0; size <= 4096; ++size)
    for (int round = 0; round < 3; ++round) {
      void* const block = pool().allocate(size);
      fill(block, size, size);
      round == 0 ? pool().deallocate(block) : pool().deallocate_sized(block, size);
    }
}

TEST_P(Allocate, IgnoresNullWhenGivingBack) {
  pool().deallocate(nullptr);
  pool().deallocate_sized(nullptr, 0);
  pool().deallocate_sized(nullptr, 100);
  pool().deallocate_sized(nullptr, 1 << 20);
  pool().deallocate_aligned(nullptr, 100, 64);
}

TEST_P(Allocate, LeavesErrnoAloneWhenItSucceeds) {
  for (const std::size_t size : landmark_sizes(up_to(5 * kMiB))) {
    errno = 77;
    void* const block = pool().allocate(size);
    EXPECT_EQ(errno, 77) << size;
    pool().deallocate(block);
    EXPECT_EQ(errno, 77) << size;
  }
}

TEST_P(Allocate, RefusesImpossibleSizesWithEnomem) {
  const std::size_t most = SIZE_MAX, half = PTRDIFF_MAX;
  for (const std::size_t size : {most, most - 1, most - 7, most - 15, most - 16, most - 63, most - 4095,
                                 most - 65535, most - 65536, most - 2097151, half, half + 1, half - 65535,
                                 most / 2 + 1, std::size_t{1} << 48, std::size_t{1} << 47}) {
    errno = 0;
    EXPECT_EQ(pool().allocate(opaque(size)), nullptr) << size;
    EXPECT_TRUE(errno == ENOMEM || !pool().checks_requests) << size;
  }
}

}  // namespace
}  // namespace tarn::test
