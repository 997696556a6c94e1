// Every power-of-two alignment from 1 byte to 4 MiB, and what is no alignment.
#include "conformance/conformance.h"

namespace tarn::test {
namespace {

class Aligned : public Conformance {};
INSTANTIATE_TEST_SUITE_P(, Aligned, ::testing::ValuesIn(pools()), name_of);

std::vector<std::size_t> sizes_for(std::size_t alignment, std::size_t largest) {
  std::vector<std::size_t> sizes = landmark_sizes(std::min(3 * kMiB, largest));
  for (const std::size_t size : {std::size_t{0}, alignment - 1, alignment, alignment + 1, alignment * 3 / 2})
    if (size <= largest) sizes.push_back(size);
  return sizes;
}

/// \returns a block of the pool, which has its alignment.
void* allocate_checked(const Pool& pool, std::size_t size, std::size_t alignment) {
  void* const block = pool.allocate_aligned(size, alignment);
  EXPECT_NE(block, nullptr) << size << " aligned to " << alignment;
  EXPECT_EQ(address(block) % alignment, 0u) << size << " aligned to " << alignment;
  return block;
}

TEST_P(Aligned, BlocksHaveTheirAlignmentAndTheirOwnContents) {
  constexpr std::size_t kMost = kSanitizer ? kMiB / 2 : 4 * kMiB;
  for (std::size_t alignment = 1; alignment <= std::min(kMost, pool().largest_alignment); alignment *= 2)
    for (const std::size_t size : sizes_for(alignment, pool().largest)) {
      void* blocks[3];
      for (std::size_t i = 0; i < 3; ++i) {
        blocks[i] = allocate_checked(pool(), size, alignment);
        ASSERT_GE(usable_bytes(blocks[i], size), size);
        fill(blocks[i], size, i);
      }
      for (std::size_t i = 0; i < 3; ++i) {
        ASSERT_TRUE(holds(blocks[i], size, i)) << size << " aligned to " << alignment;
        pool().deallocate_aligned(blocks[i], size, alignment);
      }
    }
}

TEST_P(Aligned, HundredsOfBlocksOfAnAlignmentDoNotOverlap) {
  for (const std::size_t alignment : {32u, 64u, 128u, 512u, 4096u, 32768u, 65536u}) {
    if (alignment > pool().largest_alignment) break;
    for (const std::size_t size : {std::size_t{1}, alignment, alignment + 1, std::size_t{3000}}) {
      std::vector<void*> blocks;
      for (std::size_t i = 0; i < 200; ++i) {
        blocks.push_back(allocate_checked(pool(), size, alignment));
        fill(blocks.back(), size, i);
      }
      for (std::size_t i = 0; i < blocks.size(); ++i) {
        ASSERT_TRUE(holds(blocks[i], size, i)) << size << " aligned to " << alignment;
        pool().deallocate(blocks[i]);
      }
    }
  }
}

TEST_P(Aligned, AllOfAnAlignedBlockIsUsable) {
  for (const std::size_t alignment : {64u, 4096u, 1u << 20}) {
    if (alignment > pool().largest_alignment) break;
    for (const std::size_t size : landmark_sizes(up_to(kMiB))) {
      Block block(pool(), pool().allocate_aligned(size, alignment)),
          neighbour(pool(), pool().allocate_aligned(size, alignment));
      fill(neighbour.get(), size, 1);
      fill(block.get(), usable_bytes(block.get(), size), 2);
      EXPECT_TRUE(holds(neighbour.get(), size, 1)) << size << " aligned to " << alignment;
    }
  }
}

TEST_P(Aligned, WhatIsNoPowerOfTwoIsRefusedWithEinval) {
  if (!pool().checks_requests) GTEST_SKIP() << "a precondition there";
  for (const std::size_t alignment :
       {std::size_t{24}, std::size_t{48}, std::size_t{100}, std::size_t{4097}, std::size_t{SIZE_MAX}}) {
    errno = 0;
    EXPECT_EQ(pool().allocate_aligned(64, opaque(alignment)), nullptr) << alignment;
    EXPECT_EQ(errno, EINVAL) << alignment;
  }
#if !defined(TARN_TEST_MALLOC)
  errno = 0;
  EXPECT_EQ(pool().allocate_aligned(64, std::size_t{0}), nullptr);
  EXPECT_EQ(errno, EINVAL);
#endif
}

TEST_P(Aligned, ImpossibleSizesAndAlignmentsAreRefusedWithEnomem) {
  const std::size_t most = SIZE_MAX;
  const std::size_t requests[][2] = {{most, 32},
                                     {most - 31, 32},
                                     {most - 4095, 4096},
                                     {most, 16},
                                     {most, 8},
                                     {most / 2, 64},
                                     {1, std::size_t{1} << 62},
                                     {1, std::size_t{1} << 63},
                                     {100, std::size_t{1} << 48},
                                     {most - 65535, 65536},
                                     {most, std::size_t{1} << 63}};
  for (const auto& [size, alignment] : requests) {
    errno = 0;
    EXPECT_EQ(pool().allocate_aligned(opaque(size), opaque(alignment)), nullptr)
        << size << " aligned to " << alignment;
    EXPECT_TRUE(errno == ENOMEM || !pool().checks_requests) << size << " aligned to " << alignment;
  }
}

}  // namespace
}  // namespace tarn::test
