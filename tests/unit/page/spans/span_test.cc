#include "page/spans/span.h"

#include "base/bits.h"
#include "base/units.h"
#include "page/memory/metadata.h"
#include "page/spans/chunk.h"
#include "page/spans/free_chunks.h"
#include "page/spans/page_map.h"
#include "support/prelude.h"
#include "support/seed.h"

namespace tarn::internal {
namespace {

constexpr std::uint32_t kLargestWords = 128;

void expect_fresh(const Span* span, std::uint32_t words) {
  ASSERT_NE(span, nullptr);
  EXPECT_EQ(span->kind, SpanKind::kFree);
  EXPECT_EQ(span->owner.load(), nullptr);
  for (std::uint32_t word = 0; word < words; ++word) ASSERT_EQ(span->remote_bits[word].load(), 0u) << words;
}

TEST(SpanStore, GivesASpanWithRoomForItsBitsAndTheyAreClear) {
  for (std::uint32_t words = 0; words <= kLargestWords; ++words) {
    Span* const span = span_store.take(words);
    expect_fresh(span, words);
    for (std::uint32_t word = 0; word < words; ++word) {
      span->free_bits[word] = ~std::uint64_t{0};
      EXPECT_EQ(span->remote_bits[word].load(), 0u) << "the two bitmaps overlap";
    }
  }
}

TEST(SpanStore, BitsAreClearAlsoInRecordsThatServedOthersBefore) {
  std::vector<void*> used;
  for (std::size_t bytes = 64; bytes <= 4096; bytes += 64) {
    used.push_back(metadata.allocate(bytes));
    std::memset(used.back(), 0xff, bytes);
  }
  for (std::size_t bytes = 64; bytes <= 4096; bytes += 64) metadata.free(used[bytes / 64 - 1], bytes);
  for (std::uint32_t words = 0; words <= kLargestWords; ++words) expect_fresh(span_store.take(words), words);
}

TEST(SpanStore, ASpanGivenBackServesTheNextOfItsCapacity) {
  Span* const span = span_store.take(10);
  span->owner.store(reinterpret_cast<SlabOwner*>(8));
  span->kind = SpanKind::kSlab;
  span_store.give_back(span);
  Span* const again = span_store.take(12);
  EXPECT_EQ(again, span);
  expect_fresh(again, 12);
}

TEST(SpanStore, SpansOfOneCapacityNeverServeALargerOne) {
  Span* const small = span_store.take(1);
  span_store.give_back(small);
  EXPECT_NE(span_store.take(kLargestWords), small);
}

TEST(Span, ContainsItsBytesAndNoOthers) {
  static char memory[4 * kPageBytes];
  Span span{};
  span.start = memory + kPageBytes;
  span.pages = PageCount{2};
  EXPECT_TRUE(span.contains(span.start));
  EXPECT_TRUE(span.contains(span.start + 2 * kPageBytes - 1));
  EXPECT_FALSE(span.contains(span.start - 1));
  EXPECT_FALSE(span.contains(span.start + 2 * kPageBytes));
}

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

class FreeChunksTest : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kCount = 10'000;  // more than a word of the upper level covers

  FreeChunksTest() : memory_(FreeChunks::bytes_for(kCount) / sizeof(std::uint64_t)) {
    chunks.use(memory_.data(), kCount);
  }

  std::vector<std::pair<std::uint32_t, std::uint32_t>> runs() const {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> found;
    for (ChunkRun run = chunks.next_run(0); run.count != 0; run = chunks.next_run(run.first + run.count))
      found.emplace_back(run.first, run.count);
    return found;
  }

  FreeChunks chunks;

 private:
  std::vector<std::uint64_t> memory_;
};

TEST_F(FreeChunksTest, AreNoneAtFirst) {
  EXPECT_EQ(chunks.next_run(0).count, 0u);
  EXPECT_FALSE(chunks.is_free(kCount - 1));
}

TEST_F(FreeChunksTest, AreFoundInRuns) {
  for (std::uint32_t chunk : {0u, 1u, 63u, 64u, 65u, 4095u, 4096u, 9999u}) chunks.assign(chunk, true);
  using Runs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  EXPECT_EQ(runs(), (Runs{{0, 2}, {63, 3}, {4095, 2}, {9999, 1}}));
  chunks.assign(64, false);
  EXPECT_EQ(runs(), (Runs{{0, 2}, {63, 1}, {65, 1}, {4095, 2}, {9999, 1}}));
}

TEST_F(FreeChunksTest, AllOfThemAreOneRun) {
  for (std::uint32_t chunk = 0; chunk < kCount; ++chunk) chunks.assign(chunk, true);
  EXPECT_EQ(chunks.next_run(0).count, kCount);
  for (std::uint32_t chunk = 0; chunk < kCount; ++chunk) chunks.assign(chunk, false);
  EXPECT_EQ(chunks.next_run(0).count, 0u);
}

TEST_F(FreeChunksTest, AreThoseThatAWalkFinds) {
  std::mt19937 random(7);
  std::set<std::uint32_t> free;
  for (int step = 0; step < 2000; ++step) {
    const std::uint32_t chunk = random() % kCount;
    const bool is_free = random() % 3 != 0;
    chunks.assign(chunk, is_free);
    free.erase(chunk);
    if (is_free) free.insert(chunk);
    if (step % 50 != 0) continue;
    std::set<std::uint32_t> found;
    for (const auto& [first, count] : runs())
      for (std::uint32_t i = 0; i < count; ++i) found.insert(first + i);
    ASSERT_EQ(found, free);
  }
}

constexpr std::size_t kRegionBytes = 16 * kChunkBytes;

std::uint16_t indexed(const void* address) {
  const detail::PageIndex index = page_map.index();
  return number_of(index.record_of(address));
}

TEST(PageMap, KnowsNothingOfForeignAddresses) {
  int local = 0;
  page_map.add_region(kRegionBytes, kRegionBytes);
  EXPECT_EQ(page_map.find(&local), nullptr);
  EXPECT_EQ(page_map.find(nullptr), nullptr);
  EXPECT_EQ(page_map.find(reinterpret_cast<void*>(~std::uintptr_t{0})), nullptr);
}

TEST(PageMap, RegionsAreAlignedToChunksAndHaveATableForEach) {
  const Region* const region = page_map.add_region(kChunkBytes, kRegionBytes);
  ASSERT_NE(region, nullptr);
  EXPECT_EQ(address_of(region->start) % kChunkBytes, 0u);
  EXPECT_GE(region->bytes, kChunkBytes);
  EXPECT_EQ(region->chunk_count, region->bytes / kChunkBytes);
  EXPECT_EQ(region->committed_chunks, 0u);
  EXPECT_EQ(page_map.find(region->start), nullptr);
}

TEST(PageMap, EveryAddressOfASpanLeadsToItAndNoneBeside) {
  page_map.reserve_index();
  Span span{};
  const Region* const region = page_map.add_region(kRegionBytes, kRegionBytes);
  ASSERT_TRUE(page_map.commit_tables(*region, region->chunk_count));
  span.start = region->start + 7 * kPageBytes;
  span.pages = PageCount{40};
  span.kind = SpanKind::kSlab;
  page_map.set(&span);
  EXPECT_EQ(indexed(span.start), 0) << "until its record is named";
  page_map.set_record(&span, detail::RecordPlace{160});
  for (std::size_t offset = 0; offset < span.bytes(); offset += 4096) {
    ASSERT_EQ(page_map.find(span.start + offset), &span);
    ASSERT_EQ(indexed(span.start + offset), 160);
  }
  EXPECT_EQ(page_map.find(span.start + span.bytes() - 1), &span);
  for (unsigned bit = 47; bit < 64; ++bit) {
    const std::uintptr_t tag = std::uintptr_t{1} << bit;
    const auto* const tagged = reinterpret_cast<const char*>(address_of(span.start) | tag);
    EXPECT_EQ(page_map.find(tagged), nullptr) << bit;
    EXPECT_EQ(indexed(tagged), 0) << bit;
  }
  for (const char* beside :
       {static_cast<const char*>(span.start) - 1, static_cast<const char*>(span.start) + span.bytes()}) {
    EXPECT_EQ(page_map.find(beside), nullptr);
    EXPECT_EQ(indexed(beside), 0);
  }
  page_map.clear(&span);
  EXPECT_EQ(page_map.find(span.start), nullptr);
  EXPECT_EQ(indexed(span.start), 0);
}

TEST(PageMap, LaterRegionsAreFoundToo) {
  Span spans[5] = {};
  for (Span& span : spans) {
    const Region* const region = page_map.add_region(kRegionBytes, kRegionBytes);
    ASSERT_TRUE(page_map.commit_tables(*region, 1));
    span.start = region->start;
    span.pages = PageCount{1};
    page_map.set(&span);
  }
  for (Span& span : spans) EXPECT_EQ(page_map.find(span.start + 5), &span);
}

TEST(PageMap, TheIndexIsEmptyBeforeItIsReserved) {
  EXPECT_EQ(indexed(nullptr), 0);
  EXPECT_EQ(indexed(reinterpret_cast<void*>(~std::uintptr_t{0})), 0);
}

TEST(PageMap, ARegionTooLargeForTheMachineIsRefused) {
  EXPECT_EQ(page_map.add_region(std::size_t{1} << 47, std::size_t{1} << 47), nullptr);
  EXPECT_EQ(page_map.region_count(), 0u);
  EXPECT_NE(page_map.add_region(kChunkBytes, std::size_t{1} << 47), nullptr)
      << "halves its wish until it is granted";
}

}  // namespace
}  // namespace tarn::internal
