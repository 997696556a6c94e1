#include "pool/fixed_chunk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "general/setup.h"
#include "page/page_map.h"
#include "support/seed.h"

namespace tarn::internal {
namespace {

struct EndChunk {
  void operator()(PoolChunk* chunk) const {
    ReturnedPages returned;
    end_chunk(*chunk, false, returned);
  }
};
using OwnedChunk = std::unique_ptr<PoolChunk, EndChunk>;

OwnedChunk chunk_of_blocks(std::uint32_t count, std::size_t stride = 64, std::size_t colour_bytes = 0) {
  static int pool;
  set_up_once();
  return OwnedChunk(make_chunk({&pool, stride, count, colour_bytes, Density::kSparse, false}));
}

void validate(PoolChunk& chunk) {
  chunk.validate([](const std::uint64_t*) { return false; });
}

TEST(FixedChunk, BeginsWithAllBlocksFree) {
  for (const std::uint32_t count : {1u, 63u, 64u, 65u, 4096u, 32768u}) {
    const OwnedChunk chunk = chunk_of_blocks(count);
    validate(*chunk);
    EXPECT_EQ(chunk->free_count(), count);
    EXPECT_EQ(chunk->find_run(count), BlockIndex{0});
    EXPECT_EQ(chunk->find_run(count + 1), chunk->end()) << "there are none behind the last";
  }
}

TEST(FixedChunk, IsFoundByTheAddressesOfItsPagesUntilItEnds) {
  OwnedChunk chunk = chunk_of_blocks(1000, 100);
  const Span* const span = chunk->span;
  char* const last = chunk->block(BlockIndex{999}) + 99;
  EXPECT_EQ(page_map.find(last), span);
  EXPECT_EQ(&chunk_of(*span), chunk.get());
  chunk.reset();
  EXPECT_EQ(page_map.find(last), nullptr);
}

TEST(FixedChunk, BeginsAtItsColourWhereThereIsRoom) {
  EXPECT_EQ(address_of(chunk_of_blocks(100, 128, 64)->block(BlockIndex{0})) % kPageBytes, 64u);
  EXPECT_EQ(address_of(chunk_of_blocks(512, 128, 64)->block(BlockIndex{0})) % kPageBytes, 0u)
      << "a page is full";
}

TEST(FixedChunk, SaysWhichBlockWasFreeAlready) {
  const OwnedChunk chunk = chunk_of_blocks(200);
  chunk->take(BlockIndex{10}, 100);
  EXPECT_EQ(chunk->free(BlockIndex{20}, 80), chunk->end());
  EXPECT_EQ(chunk->free(BlockIndex{15}, 6), BlockIndex{20});
  EXPECT_EQ(chunk->free(BlockIndex{150}, 1), BlockIndex{150});
}

TEST(FixedChunk, AWordThatIsForgottenIsFoundAgainWithTheFirstFreeBlock) {
  const OwnedChunk chunk = chunk_of_blocks(128);
  chunk->take(BlockIndex{0}, 128);
  EXPECT_EQ(chunk->next_word(0), 0u) << "the walk is to find out";
  chunk->forget_word(0);
  EXPECT_EQ(chunk->next_word(0), 1u);
  chunk->forget_word(1);
  EXPECT_FALSE(chunk->may_have_free());
  chunk->free(BlockIndex{127}, 1);
  EXPECT_EQ(chunk->next_word(0), 1u);
  validate(*chunk);
}

TEST(FixedChunk, KnowsWhetherItsSummaryHasAllWords) {
  const OwnedChunk chunk = chunk_of_blocks(200);
  EXPECT_FALSE(chunk->may_lack_words);
  chunk->take(BlockIndex{0}, 128);
  chunk->forget_word(0);
  chunk->forget_word(1);
  EXPECT_TRUE(chunk->may_lack_words);
  chunk->note_word(chunk->words());
  chunk->note_whether_words_lack();
  EXPECT_TRUE(chunk->may_lack_words) << "the second one";
  chunk->note_word(chunk->words() + 1);
  chunk->note_whether_words_lack();
  EXPECT_FALSE(chunk->may_lack_words);
  validate(*chunk);
}

TEST(FixedChunk, FindsARunWheneverThereIsOneInRandomPrograms) {
  test::Random random(1);
  for (const std::uint32_t count : {60u, 64u, 200u, 1000u}) {
    const OwnedChunk chunk = chunk_of_blocks(count);
    std::vector<bool> is_free(count, true);
    const auto mark = [&](std::size_t first, std::size_t blocks, bool value) {
      std::fill_n(is_free.begin() + static_cast<std::ptrdiff_t>(first), blocks, value);
    };
    for (int i = 0; i < 3000; ++i) {
      const auto wanted = static_cast<std::uint32_t>(1 + random.below(random.below(4) == 0 ? count : 20));
      const std::uint32_t first = number_of(chunk->find_run(wanted));
      std::size_t longest = 0, length = 0;
      for (const bool free : is_free) longest = std::max(longest, length = free ? length + 1 : 0);
      ASSERT_EQ(first != count, longest >= wanted) << wanted << " of " << longest;
      if (first != count) {
        for (std::uint32_t at = first; at < first + wanted; ++at) ASSERT_TRUE(is_free[at]);
        chunk->take(BlockIndex{first}, wanted);
        mark(first, wanted, false);
      }
      const auto some = static_cast<std::uint32_t>(random.below(count));
      std::uint32_t end = some;
      while (end < count && !is_free[end] && end - some < 30) ++end;
      if (end != some) chunk->free(BlockIndex{some}, end - some);
      mark(some, end - some, true);
      validate(*chunk);
      ASSERT_EQ(chunk->free_count(),
                static_cast<std::size_t>(std::count(is_free.begin(), is_free.end(), true)));
    }
  }
}

TEST(FixedChunk, UsuallyHasAPageOfSmallBlocksAndLeavesRoomForColours) {
  EXPECT_EQ(usual_chunk_count(24), 65536u / 24);
  EXPECT_EQ(usual_chunk_count(64), 1024u);
  EXPECT_EQ(usual_chunk_count(128), 511u);
  EXPECT_EQ(usual_chunk_count(262144), 3u);
}

TEST(FixedChunkDeathTest, AFreeBlockThatTheSummaryDoesNotKnowBreaksTheInvariant) {
  const OwnedChunk chunk = chunk_of_blocks(200);
  chunk->forget_word(2);
  EXPECT_DEATH(validate(*chunk), "is_noted");
}

}  // namespace
}  // namespace tarn::internal
