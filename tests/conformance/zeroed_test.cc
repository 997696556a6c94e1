// Zeroed memory is zero, above all where the memory has been used before.
#include "conformance/conformance.h"

namespace tarn::test {
namespace {

template <typename Pool>
class Zeroed : public Conformance<Pool> {};
TYPED_TEST_SUITE(Zeroed, ZeroingPools);

TYPED_TEST(Zeroed, MemoryIsZeroAlsoWhereItWasUsedBefore) {
  for (const std::size_t size : boundary_sizes(up_to<TypeParam>(kSanitizer ? kMiB : 8 * kMiB))) {
    for (int round = 0; round < 3; ++round) {
      void* const block = TypeParam::allocate_zeroed(1, size);
      ASSERT_NE(block, nullptr) << size;
      ASSERT_TRUE(is_zero(block, size)) << size << " round " << round;
      std::memset(block, 0xa5, usable_bytes<TypeParam>(block, size));
      TypeParam::deallocate(block);
    }
  }
}

TYPED_TEST(Zeroed, MemoryIsZeroAmongManyBlocksThatComeAndGo) {
  for (const std::size_t size : {24u, 1000u, 5000u, 70000u, 300000u, 3000000u}) {
    std::vector<void*> blocks(size > 1000000 ? 6 : 40);
    for (int round = 0; round < 3; ++round) {
      for (void*& block : blocks) {
        block = TypeParam::allocate_zeroed(size / 8, 8);
        ASSERT_TRUE(is_zero(block, size / 8 * 8)) << size;
        std::memset(block, 0xff, size / 8 * 8);
      }
      for (std::size_t i = 0; i < blocks.size(); i += 2) TypeParam::deallocate(blocks[i]);
      for (std::size_t i = 1; i < blocks.size(); i += 2) TypeParam::deallocate(blocks[i]);
    }
  }
}

// A large block's neighbour that shrinks or grows hands over pages that were written.
TYPED_TEST(Zeroed, MemoryIsZeroWhereAnotherBlockShrank) {
  for (int round = 0; round < 20; ++round) {
    void* block = TypeParam::allocate(3 * kMiB);
    std::memset(block, 0xff, 3 * kMiB);
    block = TypeParam::reallocate(block, kMiB);
    void* const zeroed = TypeParam::allocate_zeroed(2, kMiB);
    EXPECT_TRUE(is_zero(zeroed, 2 * kMiB));
    TypeParam::deallocate(block);
    TypeParam::deallocate(zeroed);
  }
}

TYPED_TEST(Zeroed, ProductsThatOverflowAreRefusedWithEnomem) {
  const std::size_t most = SIZE_MAX;
  const std::size_t products[][2] = {{most, 2},
                                     {2, most},
                                     {most, most},
                                     {most / 2 + 1, 2},
                                     {std::size_t{1} << 32, std::size_t{1} << 32},
                                     {most / 16 + 1, 16},
                                     {3, most / 2}};
  for (const auto& [count, size] : products) {
    errno = 0;
    EXPECT_EQ(TypeParam::allocate_zeroed(opaque(count), opaque(size)), nullptr) << count << " x " << size;
    EXPECT_EQ(errno, ENOMEM);
  }
}

TYPED_TEST(Zeroed, NoObjectsOrObjectsOfNoBytesGiveABlock) {
  for (const auto& [count, size] :
       {std::pair<std::size_t, std::size_t>{0, 0}, {0, SIZE_MAX}, {SIZE_MAX, 0}, {0, 8}}) {
    void* const block = TypeParam::allocate_zeroed(opaque(count), opaque(size));
    EXPECT_NE(block, nullptr);
    TypeParam::deallocate(block);
  }
}

}  // namespace
}  // namespace tarn::test
