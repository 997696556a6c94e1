#include "page/spans/chunk.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/bits.h"
#include "support/seed.h"

namespace tarn::internal {
namespace {

class ChunkListsTest : public ::testing::Test {
 protected:
  ChunkListsTest() : chunks(8) {
    for (Chunk& chunk : chunks) chunk.by_free.chunk = chunk.by_dirty.chunk = &chunk;
  }

  Chunk& set(std::size_t i, std::uint32_t free_mask, std::uint32_t dirty_mask) {
    chunks[i].free_mask = free_mask;
    chunks[i].dirty_mask = dirty_mask;
    lists.relist(chunks[i]);
    validate();
    return chunks[i];
  }

  void validate() const {
    std::size_t with_free = 0, with_dirty = 0;
    for (const Chunk& chunk : chunks) {
      chunk.validate();
      with_free += chunk.free_mask != 0;
      with_dirty += chunk.dirty_mask != 0;
    }
    lists.validate(Density::kSparse, with_free, with_dirty);
  }

  std::vector<Chunk> chunks;
  ChunkLists lists;
};

TEST_F(ChunkListsTest, NothingIsFoundInEmptyLists) {
  EXPECT_EQ(lists.find_free(PageCount{1}), nullptr);
  EXPECT_EQ(lists.find_dirty(PageCount{1}), nullptr);
  EXPECT_EQ(lists.coldest_dirty(), nullptr);
  EXPECT_EQ(lists.clean_chunk(), nullptr);
  validate();
}

TEST_F(ChunkListsTest, TheShortestRunThatIsLongEnoughIsFound) {
  Chunk& four = set(0, 0b1111, 0);
  Chunk& ten = set(1, run_mask(5, 10), 0);
  Chunk& all = set(2, ~0u, 0);
  for (std::uint32_t pages = 1; pages <= kPagesPerChunk; ++pages)
    EXPECT_EQ(lists.find_free(PageCount{pages}), pages <= 4 ? &four : pages <= 10 ? &ten : &all) << pages;
  EXPECT_EQ(lists.find_dirty(PageCount{1}), nullptr);
}

TEST_F(ChunkListsTest, DirtyRunsAreFoundForThemselves) {
  Chunk& chunk = set(0, ~0u, run_mask(3, 6));
  set(1, ~0u, run_mask(0, 2));
  EXPECT_EQ(lists.find_dirty(PageCount{3}), &chunk);
  EXPECT_EQ(lists.find_dirty(PageCount{7}), nullptr);
}

TEST_F(ChunkListsTest, PagesInSeveralRunsCountByTheLongest) {
  set(0, 0b1011'0111, 0);
  EXPECT_EQ(lists.find_free(PageCount{3}), &chunks[0]);
  EXPECT_EQ(lists.find_free(PageCount{4}), nullptr);
}

TEST_F(ChunkListsTest, AChunkMovesWithItsRunsAndLeavesWithTheLast) {
  set(0, 0b1111, 0b0011);
  set(0, 0b0111, 0);
  EXPECT_EQ(lists.find_free(PageCount{4}), nullptr);
  EXPECT_EQ(lists.find_free(PageCount{3}), &chunks[0]);
  EXPECT_EQ(lists.find_dirty(PageCount{1}), nullptr);
  set(0, 0, 0);
  EXPECT_EQ(lists.find_free(PageCount{1}), nullptr);
}

TEST_F(ChunkListsTest, OfTheLongestDirtyRunsTheOneThatCameFirstIsTheColdest) {
  set(0, ~0u, 0b11);
  Chunk& first = set(1, ~0u, run_mask(0, 8));
  Chunk& second = set(2, ~0u, run_mask(9, 8));
  EXPECT_EQ(lists.coldest_dirty(), &first);
  EXPECT_EQ(lists.find_dirty(PageCount{8}), &second) << "the warmest is used again";
  set(1, ~0u, 0);
  EXPECT_EQ(lists.coldest_dirty(), &second);
}

TEST_F(ChunkListsTest, ACleanChunkIsWhollyFreeAndHasNoDirtyPage) {
  set(0, ~0u & ~1u, 0);
  EXPECT_EQ(lists.clean_chunk(), nullptr);
  set(1, ~0u, 1);
  EXPECT_EQ(lists.clean_chunk(), nullptr);
  set(1, ~0u, 0);
  EXPECT_EQ(lists.clean_chunk(), &chunks[1]);
}

TEST_F(ChunkListsTest, WhatIsFoundFitsBestOfAllChunksInRandomPrograms) {
  test::Random random(1);
  for (int i = 0; i < 5000; ++i) {
    const auto word = static_cast<std::uint32_t>(random.next());
    const auto free_mask = i % 2 == 0 ? word : word | static_cast<std::uint32_t>(random.next());
    set(random.below(chunks.size()), free_mask, free_mask & static_cast<std::uint32_t>(random.next()));
    const auto pages = static_cast<std::uint32_t>(1 + random.below(kPagesPerChunk));
    unsigned best = kPagesPerChunk + 1;
    for (const Chunk& chunk : chunks)
      if (chunk.free_run >= pages && chunk.free_run < best) best = chunk.free_run;
    const Chunk* const found = lists.find_free(PageCount{pages});
    ASSERT_EQ(found != nullptr ? found->free_run : kPagesPerChunk + 1, best);
  }
}

}  // namespace
}  // namespace tarn::internal
