#include "base/bits.h"

#include "base/bitmap.h"
#include "base/units.h"
#include "support/prelude.h"
#include "support/seed.h"
#include "tarn/detail/bins.h"

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

constexpr std::size_t kSizes[] = {1, 2, 63, 64, 65, 127, 128, 200, 300};

/// A bitmap, and the same bits one by one.
struct Both {
  std::vector<std::uint64_t> words;
  std::vector<bool> bits;

  explicit Both(std::size_t size) : words(bitmap::words_for(size)), bits(size) {}
  std::size_t size() const { return bits.size(); }

  void expect_equal() const {
    for (std::size_t i = 0; i < size(); ++i) ASSERT_EQ(bitmap::test(words.data(), i), bits[i]) << i;
    for (std::size_t i = size(); i < words.size() * 64; ++i) ASSERT_FALSE(bitmap::test(words.data(), i)) << i;
  }
  std::size_t first(std::size_t from, bool value) const {
    while (from < size() && bits[from] != value) ++from;
    return from;
  }
  std::size_t ones_from(std::size_t first) const { return this->first(first, false) - first; }
  std::size_t first_run(std::size_t count) const {
    for (std::size_t i = 0; i + count <= size(); ++i)
      if (ones_from(i) >= count) return i;
    return size();
  }
};

/// Visits bitmaps of many sizes: empty, full, and of runs that are mostly short or mostly long.
template <typename Visit>
void for_many_bitmaps(Visit visit) {
  test::Random random(1);
  for (const std::size_t size : kSizes)
    for (unsigned longest = 1; longest <= 256; longest *= 4)
      for (int round = 0; round < 20; ++round) {
        Both both(size);
        bool value = random.below(2) == 0;
        for (std::size_t at = 0; at < size; value = !value)
          for (std::size_t left = 1 + random.below(longest); left > 0 && at < size; --left, ++at)
            if (value) both.bits[at] = true, bitmap::set(both.words.data(), at);
        visit(both);
      }
}

TEST(Bitmap, TheLowestOnesAreTheFirstToBeVisited) {
  for_many_bitmaps([](Both& both) {
    for (const std::uint64_t word : both.words) {
      std::uint64_t seen = 0;
      unsigned count = 0;
      bitmap::for_each_one(word, [&](unsigned at) {
        seen |= std::uint64_t{1} << at;
        ASSERT_EQ(bitmap::lowest_ones(word, ++count), seen);
      });
      ASSERT_EQ(seen, word);
      ASSERT_EQ(count, count_ones(word));
    }
  });
}

TEST(Bitmap, FillMakesAllBitsOneAndNoneBehindThem) {
  for (const std::size_t size : kSizes) {
    Both both(size);
    if (size % 64 != 0) both.words.back() = ~std::uint64_t{0};
    bitmap::fill(both.words.data(), size);
    both.bits.assign(size, true);
    both.expect_equal();
  }
}

TEST(Bitmap, BitsAreSetAndClearedOneByOne) {
  test::Random random(2);
  for (const std::size_t size : kSizes) {
    Both both(size);
    for (int i = 0; i < 300; ++i) {
      const std::size_t at = random.below(size);
      const bool value = random.below(2) == 0;
      bitmap::assign(both.words.data(), at, value);
      both.bits[at] = value;
    }
    both.expect_equal();
  }
}

TEST(Bitmap, RangesAreSetAndClearedAndTouchNothingElse) {
  test::Random random(3);
  for_many_bitmaps([&](Both& both) {
    for (int i = 0; i < 10; ++i) {
      const std::size_t first = random.below(both.size()), count = random.below(both.size() - first + 1);
      const bool value = random.below(2) == 0;
      (value ? bitmap::set_range : bitmap::clear_range)(both.words.data(), first, count);
      for (std::size_t at = first; at < first + count; ++at) both.bits[at] = value;
    }
    both.expect_equal();
  });
}

TEST(Bitmap, TheWordsOfARangeCoverItOnceInOrder) {
  for (std::size_t first = 0; first < 130; ++first)
    for (const std::size_t count : {0u, 1u, 5u, 63u, 64u, 65u, 128u, 200u}) {
      std::size_t next = first;
      bitmap::for_each_word(first, count, [&](std::size_t word, std::uint64_t mask) {
        bitmap::for_each_one(mask, [&](unsigned at) { ASSERT_EQ(word * 64 + at, next++); });
      });
      ASSERT_EQ(next, first + count);
    }
}

TEST(Bitmap, FindsTheNextOneAndTheNextZero) {
  for_many_bitmaps([](Both& both) {
    const std::uint64_t* const words = both.words.data();
    const std::size_t size = both.size();
    for (std::size_t from = 0; from <= size; ++from) {
      ASSERT_EQ(bitmap::find_one(words, from, size), both.first(from, true));
      ASSERT_EQ(bitmap::find_zero(words, from, size), both.first(from, false));
    }
  });
}

TEST(Bitmap, FindsTheFirstRunThatIsLongEnough) {
  for_many_bitmaps([](Both& both) {
    for (std::size_t count = 1; count <= both.size(); ++count)
      ASSERT_EQ(bitmap::find_run(both.words.data(), both.size(), count), both.first_run(count)) << count;
  });
}

TEST(Bitmap, RunsOfAWordMayEndInTheNext) {
  for_many_bitmaps([](Both& both) {
    for (const unsigned count : {1u, 2u, 7u, 33u, 64u})
      for (std::size_t i = 0; i < both.size(); ++i) {
        const std::uint64_t starts = bitmap::run_starts_in(both.words.data(), i / 64, both.size(), count);
        ASSERT_EQ((starts & bitmap::bit(i)) != 0, both.ones_from(i) >= count) << i << ' ' << count;
      }
  });
}

TEST(Bitmap, ARunFinderFindsTheFirstRunThatBeginsInAWord) {
  for_many_bitmaps([](Both& both) {
    for (unsigned count = 1; count <= 64; ++count) {
      const bitmap::RunFinder runs(count);
      for (std::size_t word = 0; word < bitmap::words_for(both.size()); ++word) {
        const std::uint64_t high = word + 1 < both.words.size() ? both.words[word + 1] : 0;
        std::size_t expected = 0;
        while (expected < 64 &&
               (word * 64 + expected >= both.size() || both.ones_from(word * 64 + expected) < count))
          ++expected;
        ASSERT_EQ(runs.first_in(both.words[word], high), expected) << word << ' ' << count;
      }
    }
  });
}

TEST(Bitmap, ARunFinderFindsRunsOfAnyLengthAtAnyPlace) {
  for (unsigned count = 1; count <= 64; ++count)
    for (unsigned first = 0; first < 64; ++first) {
      std::uint64_t words[2] = {};
      bitmap::set_range(words, first, count);
      EXPECT_EQ(bitmap::RunFinder(count).first_in(words[0], words[1]), first) << count;
      const unsigned longer = count < 64 ? count + 1 : count - 1;
      EXPECT_EQ(bitmap::RunFinder(longer).first_in(words[0], words[1]), count < 64 ? 64u : first);
    }
  EXPECT_EQ(bitmap::RunFinder(64).first_in(~std::uint64_t{0}, ~std::uint64_t{0}), 0u);
  EXPECT_EQ(bitmap::RunFinder(64).first_in(~std::uint64_t{1}, ~std::uint64_t{0}), 1u);
}

TEST(Bitmap, AnOffsetLeadsToTheIndexOfItsBlock) {
  for (const std::uint32_t stride : {8u, 16u, 24u, 48u, 112u, 1088u, 20480u, 262144u})
    for (std::uint32_t index = 0; index * stride < 512 * 1024; ++index)
      ASSERT_EQ(index_of_offset(index * stride, reciprocal_of(stride)), BlockIndex{index}) << stride;
}

TEST(Bitmap, ABlockHasTheBitOfItsIndex) {
  for (std::uint32_t i = 0; i < 200; ++i) {
    const BlockIndex index{i};
    EXPECT_EQ(bitmap::index_of_bit(bitmap::word_of(index), std::countr_zero(bitmap::bit(index))), index);
    std::uint64_t words[4] = {};
    bitmap::set(words, i);
    EXPECT_TRUE(bitmap::test(words, index));
    EXPECT_EQ(words[bitmap::word_of(index)], bitmap::bit(index));
  }
}

TEST(Bitmap, CountsTheOnesBeforeAnIndex) {
  std::uint64_t words[3] = {};
  for (std::size_t first : {0u, 1u, 37u, 63u, 64u, 100u, 127u})
    for (std::size_t count : {0u, 1u, 2u, 40u, 64u, 65u}) {
      std::fill(std::begin(words), std::end(words), 0);
      bitmap::set_range(words, first, count);
      EXPECT_EQ(bitmap::ones_before(words, first), 0u);
      EXPECT_EQ(bitmap::ones_before(words, first + count), count) << first;
      EXPECT_EQ(bitmap::ones_before(words, first + count / 2), count / 2);
    }
}

template <typename A, typename B>
concept Adds = requires(A a, B b) {
  a + b;
};
template <typename A, typename B>
concept Compares = requires(A a, B b) {
  a < b;
};

// No plain number (bytes, an index of a page) can be passed for a number of pages, nor the other way round.
static_assert(!std::is_convertible_v<std::size_t, PageCount> &&
              !std::is_convertible_v<PageCount, std::size_t>);
static_assert(!std::is_convertible_v<unsigned, PageCount> && !std::is_convertible_v<PageCount, unsigned>);
static_assert(!std::is_convertible_v<int, PageCount> && !std::is_convertible_v<PageCount, bool>);
static_assert(Adds<PageCount, PageCount> && !Adds<PageCount, std::size_t> && !Adds<PageCount, int>);
static_assert(Compares<PageCount, PageCount> && !Compares<PageCount, std::size_t> &&
              !Compares<PageCount, int>);

// Nor can bytes, an address, a class or a number of blocks be passed for the index of a block.
static_assert(!std::is_convertible_v<std::size_t, BlockIndex> &&
              !std::is_convertible_v<BlockIndex, std::size_t>);
static_assert(!std::is_convertible_v<unsigned, BlockIndex> && !std::is_convertible_v<BlockIndex, unsigned>);
static_assert(!std::is_convertible_v<int, BlockIndex> && !std::is_convertible_v<void*, BlockIndex>);
static_assert(!std::is_convertible_v<detail::SizeClass, BlockIndex>);
static_assert(!std::is_convertible_v<PageCount, BlockIndex> && !std::is_convertible_v<BlockIndex, PageCount>);
static_assert(!Adds<BlockIndex, BlockIndex> && !Adds<BlockIndex, unsigned>);
static_assert(Compares<BlockIndex, BlockIndex> && !Compares<BlockIndex, unsigned>);

TEST(Units, BytesAreHeldByTheFewestPages) {
  EXPECT_EQ(pages_for(0), PageCount{0});
  EXPECT_EQ(pages_for(1), PageCount{1});
  EXPECT_EQ(pages_for(kPageBytes), PageCount{1});
  EXPECT_EQ(pages_for(kPageBytes + 1), PageCount{2});
  EXPECT_EQ(bytes_of(pages_for(kChunkBytes)), kChunkBytes);
}

TEST(Units, ManyPagesAreMoreBytesThan32BitsHold) {
  const PageCount pages{1u << 20};
  EXPECT_EQ(bytes_of(pages), std::size_t{1} << 36);
  EXPECT_EQ(pages_for(std::size_t{1} << 36), pages);
}

TEST(Units, PagesAddUp) {
  PageCount pages{3};
  pages += PageCount{5};
  EXPECT_EQ(pages, PageCount{8});
  pages -= PageCount{1};
  EXPECT_EQ(number_of(pages), 7u);
  EXPECT_EQ(pages + PageCount{1} - PageCount{2}, PageCount{6});
  EXPECT_LT(PageCount{6}, pages);
}

}  // namespace
}  // namespace tarn::internal
