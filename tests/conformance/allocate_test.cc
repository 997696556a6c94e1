// Blocks of every size: aligned, distinct, whole.
#include "conformance/conformance.h"

namespace tarn::test {
namespace {

template <typename Pool>
class Allocate : public Conformance<Pool> {};
TYPED_TEST_SUITE(Allocate, Pools);

TYPED_TEST(Allocate, AlignsEveryBlockToSixteenBytesAndTinyOnesToEight) {
  for (const std::size_t size : boundary_sizes(up_to<TypeParam>(kLargestTested))) {
    Block<TypeParam> block(TypeParam::allocate(size)), another(TypeParam::allocate(size));
    for (const void* each : {block.get(), another.get()}) {
      ASSERT_NE(each, nullptr) << size;
      EXPECT_EQ(address(each) % (size <= 8 ? 8 : 16), 0u) << size;
    }
  }
}

TYPED_TEST(Allocate, GivesAtLeastWhatWasAskedForAndAllOfItIsUsable) {
  std::vector<std::size_t> sizes = boundary_sizes(up_to<TypeParam>(kMiB));
  for (const std::size_t size : landmark_sizes(up_to<TypeParam>(kLargestLandmark)))
    if (size > kMiB) sizes.push_back(size);
  for (const std::size_t size : sizes) {
    Block<TypeParam> before(TypeParam::allocate(size)), block(TypeParam::allocate(size)),
        after(TypeParam::allocate(size));
    const std::size_t usable = usable_bytes<TypeParam>(block.get(), size);
    ASSERT_GE(usable, size);
    fill(before.get(), size, 1);
    fill(after.get(), size, 2);
    fill(block.get(), usable, 3);
    EXPECT_TRUE(holds(before.get(), size, 1)) << size;
    EXPECT_TRUE(holds(after.get(), size, 2)) << size;
    EXPECT_TRUE(holds(block.get(), usable, 3)) << size;
  }
}

TYPED_TEST(Allocate, KeepsAllLiveBlocksOfASizeApart) {
  constexpr std::size_t kMost = kSanitizer ? 40 : 300, kMostBytes = kMiB / (kSanitizer ? 4 : 1);
  for (const std::size_t size : boundary_sizes(up_to<TypeParam>(kSanitizer ? kMiB / 2 : 4 * kMiB))) {
    const std::size_t count = size <= 256 * kKiB ? 1 + std::min(kMost, kMostBytes / (size + 1)) : 5;
    std::vector<void*> blocks;
    for (std::size_t i = 0; i < count; ++i) {
      blocks.push_back(TypeParam::allocate(size));
      ASSERT_NE(blocks.back(), nullptr);
      fill(blocks.back(), size, i);
    }
    for (std::size_t i = 0; i < count; ++i) ASSERT_TRUE(holds(blocks[i], size, i)) << size << " block " << i;
    for (void* block : blocks) TypeParam::deallocate(block, size);
  }
}

TYPED_TEST(Allocate, GivesDistinctBlocksForZeroBytes) {
  std::vector<void*> blocks;
  for (int i = 0; i < 1000; ++i) blocks.push_back(TypeParam::allocate(0));
  std::sort(blocks.begin(), blocks.end());
  EXPECT_NE(blocks.front(), nullptr);
  EXPECT_EQ(std::unique(blocks.begin(), blocks.end()), blocks.end());
  for (void* block : blocks) TypeParam::deallocate(block, 0);
}

TYPED_TEST(Allocate, TakesEverySizeOfASmallBlockBackWithAndWithoutItsSize) {
  for (std::size_t size = 0; size <= 4096; ++size)
    for (int round = 0; round < 3; ++round) {
      void* const block = TypeParam::allocate(size);
      fill(block, size, size);
      round == 0 ? TypeParam::deallocate(block) : TypeParam::deallocate(block, size);
    }
}

TYPED_TEST(Allocate, IgnoresNullWhenGivingBack) {
  TypeParam::deallocate(nullptr);
  TypeParam::deallocate(nullptr, 0);
  TypeParam::deallocate(nullptr, 100);
  TypeParam::deallocate(nullptr, 1 << 20);
  TypeParam::deallocate(nullptr, 100, 64);
}

TYPED_TEST(Allocate, LeavesErrnoAloneWhenItSucceeds) {
  for (const std::size_t size : landmark_sizes(up_to<TypeParam>(5 * kMiB))) {
    errno = 77;
    void* const block = TypeParam::allocate(size);
    EXPECT_EQ(errno, 77) << size;
    TypeParam::deallocate(block);
    EXPECT_EQ(errno, 77) << size;
  }
}

TYPED_TEST(Allocate, RefusesImpossibleSizesWithEnomem) {
  const std::size_t most = SIZE_MAX, half = PTRDIFF_MAX;
  for (const std::size_t size : {most, most - 1, most - 7, most - 15, most - 16, most - 63, most - 4095,
                                 most - 65535, most - 65536, most - 2097151, half, half + 1, half - 65535,
                                 most / 2 + 1, std::size_t{1} << 48, std::size_t{1} << 47}) {
    errno = 0;
    EXPECT_EQ(TypeParam::allocate(opaque(size)), nullptr) << size;
    EXPECT_TRUE(errno == ENOMEM || !Traits<TypeParam>::kChecksRequests) << size;
  }
}

}  // namespace
}  // namespace tarn::test
