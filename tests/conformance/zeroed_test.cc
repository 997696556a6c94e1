// Zeroed memory is zero, above all where the memory has been used before.
#include "conformance/conformance.h"

namespace tarn::test {
namespace {

class Zeroed : public Conformance {};
INSTANTIATE_TEST_SUITE_P(, Zeroed, pools_with(&Pool::allocate_zeroed), name_of);

TEST_P(Zeroed, MemoryIsZeroAlsoWhereItWasUsedBefore) {
  for (const std::size_t size : boundary_sizes(up_to(kSanitizer ? kMiB : 8 * kMiB))) {
    for (int round = 0; round < 3; ++round) {
      void* const block = pool().allocate_zeroed(1, size);
      ASSERT_NE(block, nullptr) << size;
      ASSERT_TRUE(is_zero(block, size)) << size << " round " << round;
      std::memset(block, 0xa5, usable_bytes(block, size));
      pool().deallocate(block);
    }
  }
}

TEST_P(Zeroed, MemoryIsZeroAmongManyBlocksThatComeAndGo) {
  for (const std::size_t size : {24u, 1000u, 5000u, 70000u, 300000u, 3000000u}) {
    std::vector<void*> blocks(size > 1000000 ? 6 : 40);
    for (int round = 0; round < 3; ++round) {
      for (void*& block : blocks) {
        block = pool().allocate_zeroed(size / 8, 8);
        ASSERT_TRUE(is_zero(block, size / 8 * 8)) << size;
        std::memset(block, 0xff, size / 8 * 8);
      }
      for (std::size_t i = 0; i < blocks.size(); i += 2) pool().deallocate(blocks[i]);
      for (std::size_t i = 1; i < blocks.size(); i += 2) pool().deallocate(blocks[i]);
    }
  }
}

// A large block's neighbour that shrinks or grows hands over pages that were written.
TEST_P(Zeroed, MemoryIsZeroWhereAnotherBlockShrank) {
  for (int round = 0; round < 20; ++round) {
    void* block = pool().allocate(3 * kMiB);
    std::memset(block, 0xff, 3 * kMiB);
    block = pool().reallocate(block, kMiB);
    void* const zeroed = pool().allocate_zeroed(2, kMiB);
    EXPECT_TRUE(is_zero(zeroed, 2 * kMiB));
    pool().deallocate(block);
    pool().deallocate(zeroed);
  }
}

TEST_P(Zeroed, ProductsThatOverflowAreRefusedWithEnomem) {
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
    EXPECT_EQ(pool().allocate_zeroed(opaque(count), opaque(size)), nullptr) << count << " x " << size;
    EXPECT_EQ(errno, ENOMEM);
  }
}

TEST_P(Zeroed, NoObjectsOrObjectsOfNoBytesGiveABlock) {
  for (const auto& [count, size] :
       {std::pair<std::size_t, std::size_t>{0, 0}, {0, SIZE_MAX}, {SIZE_MAX, 0}, {0, 8}}) {
    void* const block = pool().allocate_zeroed(opaque(count), opaque(size));
    EXPECT_NE(block, nullptr);
    pool().deallocate(block);
  }
}

}  // namespace
}  // namespace tarn::test
