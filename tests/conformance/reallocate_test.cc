// Changing a block's size, in every range and across every boundary.
#include "conformance/conformance.h"
#include "support/seed.h"

namespace tarn::test {
namespace {

class Reallocate : public Conformance {};
INSTANTIATE_TEST_SUITE_P(, Reallocate, pools_with(&Pool::reallocate), name_of);

// Of the largest size not all pairs: each takes as long as a thousand others.
bool is_worth_its_time(std::size_t from, std::size_t to) {
  constexpr std::size_t kLarge = 16 * kMiB, kSmall = 1;
  const auto [less, more] = std::minmax(from, to);
  return more < kLarge || less == kSmall || less > 2 * kMiB;
}

TEST_P(Reallocate, KeepsTheContentsBetweenEveryPairOfSizes) {
  const auto sizes = landmark_sizes(up_to(kLargestLandmark));
  for (const std::size_t from : sizes)
    for (const std::size_t to : sizes) {
      if (!is_worth_its_time(from, to)) continue;
      void* const block = pool().allocate(from);
      fill(block, from, from);
      void* const moved = pool().reallocate(block, to);
      ASSERT_NE(moved, nullptr);
      EXPECT_EQ(address(moved) % 8, 0u);
      EXPECT_GE(usable_bytes(moved, to), to);
      EXPECT_TRUE(holds(moved, std::min(from, to), from, from)) << from << " to " << to;
      fill(moved, to, to);
      pool().deallocate(moved);
    }
}

TEST_P(Reallocate, AlignsWhatItMovesToSixteenBytes) {
  for (std::size_t size = 9; size < 70000; size += size / 8 + 1) {
    void* const block = pool().reallocate(pool().allocate(1), size);
    EXPECT_EQ(address(block) % 16, 0u) << size;
    pool().deallocate(block);
  }
}

TEST_P(Reallocate, OfNullAllocates) {
  for (const std::size_t size : landmark_sizes(up_to(5 * kMiB))) {
    void* const block = pool().reallocate(nullptr, size);
    ASSERT_NE(block, nullptr);
    fill(block, size, size);
    pool().deallocate(block);
  }
}

TEST_P(Reallocate, GrowsByteByByteWithoutLosingOne) {
  char* block = nullptr;
  for (std::size_t size = 1; size <= 5000; ++size) {
    block = static_cast<char*>(pool().reallocate(block, size));
    block[size - 1] = static_cast<char>(size * 7);
    if (size % 97 != 0) continue;
    for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(block[i], static_cast<char>((i + 1) * 7)) << size;
  }
  pool().deallocate(block);
}

TEST_P(Reallocate, GrowsAndShrinksAtRandomOverAllRanges) {
  Random random(20);
  std::size_t size = 1;
  void* block = pool().allocate(size);
  fill(block, size, 0);
  const std::uint64_t rounds = amount(3000, 60000);
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    const std::size_t next = 1 + random.below(std::size_t{1} << random.between(1, kSanitizer ? 21 : 24));
    void* const moved = pool().reallocate(block, next);
    ASSERT_NE(moved, nullptr);
    ASSERT_TRUE(holds(moved, std::min(size, next), size, round - 1)) << size << " to " << next;
    block = moved;
    size = next;
    fill(block, size, round);
  }
  pool().deallocate(block);
}

// Each block keeps a neighbour from the pages behind it, or gives them up: in place and by moving.
TEST_P(Reallocate, GrowsLargeBlocksThatStandInEachOthersWay) {
  constexpr std::size_t kBlocks = 4;
  void* blocks[kBlocks];
  std::size_t size = up_to(300 * kKiB);
  for (std::size_t i = 0; i < kBlocks; ++i) fill(blocks[i] = pool().allocate(size), size, i);
  for (int round = 0; round < (kSanitizer ? 4 : 9); ++round) {
    const std::size_t next = size * 3 / 2 + 12345;
    for (std::size_t i = 0; i < kBlocks; ++i) {
      blocks[i] = pool().reallocate(blocks[i], next);
      ASSERT_TRUE(holds(blocks[i], size, size, i)) << size << " to " << next;
      fill(blocks[i], next, i);
    }
    size = next;
  }
  for (std::size_t i = 0; i < kBlocks; ++i) {
    EXPECT_TRUE(holds(blocks[i], size, i));
    pool().deallocate(blocks[i]);
  }
}

TEST_P(Reallocate, LeavesTheOldBlockWholeWhenItFails) {
  for (const std::size_t size : landmark_sizes(up_to(5 * kMiB))) {
    Block block(pool(), pool().allocate(size));
    fill(block.get(), size, size);
    for (const std::size_t impossible :
         {std::size_t{SIZE_MAX}, std::size_t{SIZE_MAX} - 65536, std::size_t{1} << 47}) {
      errno = 0;
      EXPECT_EQ(pool().reallocate(block.get(), opaque(impossible)), nullptr);
      EXPECT_EQ(errno, ENOMEM);
    }
    EXPECT_TRUE(holds(block.get(), size, size));
  }
}

TEST_P(Reallocate, TakesAlignedBlocksToo) {
  for (const std::size_t alignment : {32u, 64u, 256u, 4096u, 65536u, 1u << 21}) {
    if (alignment > pool().largest_alignment) break;
    for (const std::size_t size : landmark_sizes(up_to(3 * kMiB))) {
      void* block = pool().allocate_aligned(size, alignment);
      fill(block, size, alignment);
      block = pool().reallocate(block, size * 2 + 1);
      EXPECT_TRUE(holds(block, size, size, alignment)) << size << " aligned to " << alignment;
      pool().deallocate(block);
    }
  }
}

#if defined(TARN_TEST_MALLOC)
TEST_P(Reallocate, ToZeroBytesFreesTheBlock) {
  EXPECT_EQ(pool().reallocate(pool().allocate(100), opaque(std::size_t{0})), nullptr);
  EXPECT_EQ(pool().reallocate(pool().allocate(kMiB), opaque(std::size_t{0})), nullptr);
}
#else
TEST_P(Reallocate, ToZeroBytesLeavesABlock) {
  for (const std::size_t size : landmark_sizes(up_to(5 * kMiB))) {
    void* const block = pool().reallocate(pool().allocate(size), 0);
    EXPECT_NE(block, nullptr);
    pool().deallocate(block);
  }
}
#endif

}  // namespace
}  // namespace tarn::test
