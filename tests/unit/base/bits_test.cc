#include "base/bits.h"

#include <gtest/gtest.h>

#include "support/seed.h"

namespace tarn::internal {
namespace {

bool has_run(std::uint32_t word, unsigned first, unsigned count) {
  if (first + count > 32) return false;
  for (unsigned i = 0; i < count; ++i)
    if (((word >> (first + i)) & 1) == 0) return false;
  return true;
}

/// Words of all densities, and those in which everything or nothing is set.
template <typename Visit>
void for_many_words(Visit visit) {
  test::Random random(1);
  visit(0u);
  visit(~0u);
  for (int i = 0; i < 3000; ++i) {
    auto word = static_cast<std::uint32_t>(random.next());
    if (i % 3 == 1) word &= static_cast<std::uint32_t>(random.next());
    if (i % 3 == 2) word |= static_cast<std::uint32_t>(random.next());
    visit(word);
  }
}

TEST(Bits, RunMaskHasJustTheBitsOfTheRun) {
  for (unsigned first = 0; first < 32; ++first)
    for (unsigned count = 0; first + count <= 32; ++count) {
      const std::uint32_t mask = run_mask(first, count);
      EXPECT_EQ(static_cast<unsigned>(std::popcount(mask)), count);
      EXPECT_TRUE(has_run(mask, first, count));
    }
}

TEST(Bits, RunMasksOfAWholeWordAreAllOnes) {
  EXPECT_EQ(run_mask<std::uint64_t>(0, 64), ~std::uint64_t{0});
  EXPECT_EQ(run_mask<std::uint64_t>(1, 63), ~std::uint64_t{1});
  EXPECT_EQ(run_mask(0, 32), ~0u);
}

TEST(Bits, RunStartsAreThePlacesWhereARunFits) {
  for_many_words([](std::uint32_t word) {
    for (unsigned count = 1; count <= 32; ++count)
      for (unsigned first = 0; first < 32; ++first)
        ASSERT_EQ((run_starts(word, count) >> first) & 1, has_run(word, first, count))
            << word << ' ' << count;
  });
}

TEST(Bits, LongestRunIsTheLongestThatFits) {
  for_many_words([](std::uint32_t word) {
    const unsigned longest = longest_run(word);
    ASSERT_TRUE(longest == 0 || run_starts(word, longest) != 0) << word;
    ASSERT_TRUE(longest == 32 || run_starts(word, longest + 1) == 0) << word;
  });
}

TEST(Bits, NextRunWalksAllRunsInOrder) {
  for_many_words([](std::uint32_t word) {
    std::uint32_t seen = 0;
    for (internal::Run run = next_run(word, 0); run.count != 0; run = next_run(word, run.first + run.count)) {
      ASSERT_TRUE(has_run(word, run.first, run.count));
      ASSERT_FALSE(has_run(word, run.first + run.count, 1)) << "the run goes on";
      seen |= run_mask(run.first, run.count);
    }
    ASSERT_EQ(seen, word);
  });
}

}  // namespace
}  // namespace tarn::internal
