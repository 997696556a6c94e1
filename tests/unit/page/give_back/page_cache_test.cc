// Each test runs in a process of its own (CMakeLists.txt), so the page cache is as it is at the start.
#include "page/give_back/page_cache.h"

#include "base/bits.h"
#include "fault/fault_injection.h"
#include "os/memory/memory.h"
#include "support/child.h"
#include "support/content.h"
#include "support/prelude.h"
#include "support/process_memory.h"
#include "support/sanitizer.h"
#include "support/seed.h"
#include "support/threads.h"

namespace tarn::internal {
namespace {

char* take(std::uint32_t pages) {
  char* const start = page_cache.allocate_pages(PageCount{pages}).start;
  page_cache.validate();
  return start;
}
void give_back(char* start, std::uint32_t pages) {
  page_cache.free_pages(start, PageCount{pages}, PageState::kDirty);
  page_cache.validate();
}
char* page(char* start, std::uint32_t number) { return start + number * kPageBytes; }

TEST(PageCache, GivesPagesThatAreZeroWritableAndApart) {
  std::vector<char*> runs;
  for (std::uint32_t pages = 1; pages <= 100; pages = pages * 3 / 2 + 1) {
    const PageRun run = page_cache.allocate_pages(PageCount{pages});
    ASSERT_NE(run.start, nullptr);
    EXPECT_TRUE(run.is_zeroed);
    EXPECT_TRUE(test::is_zero(run.start, bytes_of(PageCount{pages})));
    EXPECT_EQ(address_of(run.start) % kPageBytes, 0u);
    test::fill(run.start, bytes_of(PageCount{pages}), pages);
    runs.push_back(run.start);
  }
  std::size_t i = 0;
  for (std::uint32_t pages = 1; pages <= 100; pages = pages * 3 / 2 + 1) {
    EXPECT_TRUE(test::holds(runs[i], bytes_of(PageCount{pages}), pages));
    give_back(runs[i++], pages);
  }
  EXPECT_EQ(page_cache.stats().used_bytes, 0u);
  page_cache.validate();
}

TEST(PageCache, ASmallReserveServesALargeHeapInFewRegions) {
  // A sanitizer marks each byte of the heap in memory of its own.
  constexpr std::size_t kReserve = std::size_t{4} << 20, kHeap = std::size_t{test::kSanitizer ? 1 : 6} << 30;
  page_cache.configure({0, SIZE_MAX, kReserve});
  for (std::size_t bytes = 0; bytes < kHeap; bytes += kChunkBytes) ASSERT_NE(take(kPagesPerChunk), nullptr);
  EXPECT_GE(page_map.region_count(), 2u);
  EXPECT_LE(page_map.region_count(), test::kSanitizer ? 10u : 12u);
  EXPECT_LE(page_cache.stats().reserved_bytes, 2 * kHeap);
}

TEST(PageCache, TheHeapLiesBetweenGuardsAlsoWhenARegionIsWhollyCommitted) {
  page_cache.configure({0, SIZE_MAX, 2 * kChunkBytes});
  char* const first = take(kPagesPerChunk);
  EXPECT_TRUE(test::faults(first - 1));
  EXPECT_TRUE(test::faults(first + kChunkBytes)) << "not committed yet";
  char* const second = take(kPagesPerChunk);
  EXPECT_EQ(second, first + kChunkBytes);
  EXPECT_TRUE(test::faults(second + kChunkBytes));
  EXPECT_FALSE(test::faults(first) || test::faults(second + kChunkBytes - 1));
}

// What the library has committed, as the kernel counts it. All of the process's would be more: a sanitizer
// maps memory of its own at any time.
std::size_t committed_bytes() {
  std::size_t bytes = 0;
  for (auto reserve = os::next_reserve(0); reserve.start != SIZE_MAX; reserve = os::next_reserve(reserve.end))
    bytes += test::writable_bytes_between(reserve.start, reserve.end);
  return bytes;
}

TEST(PageCache, TablesAreNoLargerThanTheHeapNeeds) {
  page_map.reserve_index();
  const std::size_t before = committed_bytes();
  ASSERT_NE(take(1), nullptr);
  const std::size_t taken = committed_bytes() - before;
  EXPECT_GT(taken, kChunkBytes);
  EXPECT_LE(taken, kChunkBytes + 4 * kPageBytes);
}

TEST(PageCache, HugePagesCanBeForAllSpans) {
  page_cache.configure({0, 0, 64 * kChunkBytes, true});
  ASSERT_NE(page_cache.allocate_pages(PageCount{1}, Density::kSparse).start, nullptr);
  ASSERT_NE(page_cache.allocate_pages(PageCount{3 * kPagesPerChunk}, Density::kSparse).start, nullptr);
  const Region& region = page_map.region(0);
  for (std::uint32_t i = 0; i < region.committed_chunks; ++i)
    EXPECT_EQ(region.chunks[i].density, Density::kDense);
}

// \returns a letter for each of the first chunks: that of its density.
std::string densities(std::uint32_t count) {
  std::string letters;
  for (std::uint32_t i = 0; i < count; ++i)
    letters += "sdu"[static_cast<unsigned>(page_map.region(0).chunks[i].density)];
  return letters;
}

TEST(PageCache, AChunkWithoutMemoryBecomesWhatTheSpanThatTakesItIs) {
  constexpr PageCount kWhole{4 * kPagesPerChunk}, kTwo{2 * kPagesPerChunk};
  char* const run = page_cache.allocate_pages(kWhole, Density::kSparse).start;
  EXPECT_EQ(densities(4), "ssss");
  page_cache.free_pages(run, kWhole, PageState::kClean);
  EXPECT_EQ(page_cache.allocate_pages(kTwo + PageCount{1}, Density::kDense).start, run);
  EXPECT_EQ(densities(4), "ddss") << "of the third, the span has only a page";
  page_cache.validate();
  page_cache.free_pages(run, kTwo, PageState::kClean);
  EXPECT_EQ(page_cache.allocate_pages(kTwo, Density::kSparse).start, run);
  EXPECT_EQ(densities(4), "ssss");
  page_cache.free_pages(run, kTwo, PageState::kDirty);
  EXPECT_EQ(page_cache.allocate_pages(kTwo, Density::kDense).start, run);
  EXPECT_EQ(densities(4), "ssss") << "its memory is there already";
  page_cache.validate();
}

TEST(PageCache, UndumpedRunsShareChunksWithNoOthers) {
  char* const sparse = take(3);
  char* const undumped = page_cache.allocate_pages(PageCount{3}, Density::kUndumped).start;
  char* const second = page_cache.allocate_pages(PageCount{3}, Density::kUndumped).start;
  EXPECT_EQ(densities(2), "su");
  EXPECT_EQ(second, page(undumped, 3));
  EXPECT_FALSE(test::is_left_out_of_dumps(sparse));
  EXPECT_TRUE(test::is_left_out_of_dumps(undumped));
  give_back(undumped, 3);
  EXPECT_EQ(take(3), page(sparse, 3)) << "not the dirty pages beside an undumped run";
  give_back(sparse, 3);
  EXPECT_EQ(page_cache.allocate_pages(PageCount{3}, Density::kUndumped).start, undumped);
  bool is_zeroed = false;
  EXPECT_FALSE(page_cache.try_extend(sparse + kChunkBytes, PageCount{1}, &is_zeroed));
  page_cache.validate();
}

TEST(PageCache, AWhollyFreeChunkIsDumpedOrNotAsTheRunThatTakesItOrAPartOfIt) {
  constexpr PageCount kThree{3 * kPagesPerChunk}, kMost{2 * kPagesPerChunk + 5};
  for (const PageState state : {PageState::kDirty, PageState::kClean}) {
    char* const run = page_cache.allocate_pages(kThree, Density::kUndumped).start;
    EXPECT_EQ(densities(3), "uuu");
    page_cache.free_pages(run, kThree, state);
    for (const Density density : {Density::kSparse, Density::kUndumped, Density::kSparse}) {
      EXPECT_EQ(page_cache.allocate_pages(kMost, density).start, run);
      page_cache.validate();
      for (unsigned chunk = 0; chunk < 3; ++chunk)
        EXPECT_EQ(test::is_left_out_of_dumps(run + chunk * kChunkBytes), density == Density::kUndumped);
      EXPECT_EQ(densities(3), density == Density::kUndumped ? "uuu" : "sss");
      page_cache.free_pages(run, kMost, state);
    }
    page_cache.purge(SIZE_MAX);
    page_cache.validate();
  }
}

TEST(PageCache, APurgedChunkOfAnyDensityBecomesUndumpedAndBack) {
  char* const sparse = take(3);
  give_back(sparse, 3);
  page_cache.purge(SIZE_MAX);
  char* const undumped = page_cache.allocate_pages(PageCount{3}, Density::kUndumped).start;
  EXPECT_EQ(undumped, sparse);
  EXPECT_TRUE(test::is_left_out_of_dumps(undumped));
  page_cache.free_pages(undumped, PageCount{3}, PageState::kDirty);
  EXPECT_GT(page_cache.purge(SIZE_MAX), 0u);
  EXPECT_EQ(page_cache.allocate_pages(PageCount{3}, Density::kDense).start, sparse);
  EXPECT_FALSE(test::is_left_out_of_dumps(sparse));
  page_cache.validate();
}

TEST(PageCache, AChunkWithMemoryBetweenOthersThatAreAdvisedIsAsTheyAre) {
  constexpr PageCount kWhole{3 * kPagesPerChunk}, kOne{kPagesPerChunk};
  char* const run = page_cache.allocate_pages(kWhole, Density::kSparse).start;
  page_cache.free_pages(run, kOne, PageState::kClean);
  page_cache.free_pages(run + kChunkBytes, kOne, PageState::kDirty);
  page_cache.free_pages(run + 2 * kChunkBytes, kOne, PageState::kClean);
  const PageRun again = page_cache.allocate_pages(kWhole, Density::kDense);
  EXPECT_EQ(again.start, run);
  EXPECT_EQ(again.advised.end - again.advised.start, 3 * static_cast<std::ptrdiff_t>(kChunkBytes));
  EXPECT_EQ(densities(3), "ddd");
  page_cache.validate();
}

TEST(PageCache, AChunkWithoutMemoryIsConvertedBeforeTheHeapGrows) {
  constexpr PageCount kOne{kPagesPerChunk}, kPart{3};
  char* const dense = page_cache.allocate_pages(kOne, Density::kDense).start;
  page_cache.free_pages(dense, kOne, PageState::kClean);
  EXPECT_EQ(page_cache.allocate_pages(kPart, Density::kSparse).start, dense);
  EXPECT_EQ(densities(1), "s");
  page_cache.free_pages(dense, kPart, PageState::kClean);
  EXPECT_EQ(page_cache.allocate_pages(kPart, Density::kDense).start, dense);
  EXPECT_EQ(densities(1), "d");
  EXPECT_EQ(page_cache.committed_bytes(), kChunkBytes);
  page_cache.validate();
}

TEST(PageCache, ChunksWhosePagesCameFromElsewhereCanBeMadeDenseAgain) {
  constexpr PageCount kTwo{2 * kPagesPerChunk};
  char* const run = page_cache.allocate_pages(kTwo + PageCount{1}, Density::kSparse).start;
  page_cache.set_density(run, kTwo, Density::kSparse);
  EXPECT_EQ(densities(3), "sss");
  page_cache.set_density(run, kTwo + PageCount{1}, Density::kDense);
  EXPECT_EQ(densities(3), "dds");
  page_cache.validate();
}

TEST(PageCache, AnExtensionIsAsDenseAsWhatItExtends) {
  constexpr PageCount kWhole{3 * kPagesPerChunk}, kOne{kPagesPerChunk};
  char* const run = page_cache.allocate_pages(kWhole, Density::kSparse).start;
  page_cache.free_pages(run, kWhole, PageState::kClean);
  ASSERT_EQ(page_cache.allocate_pages(kOne, Density::kDense).start, run);
  bool is_zeroed = false;
  ASSERT_TRUE(page_cache.try_extend(run + kChunkBytes, kOne, &is_zeroed));
  EXPECT_TRUE(is_zeroed);
  EXPECT_EQ(densities(3), "dds");
  page_cache.validate();
}

TEST(PageCache, FreeingTheMiddleSpanMergesBothNeighbours) {
  char* const whole = take(kPagesPerChunk);
  give_back(whole, 10);
  give_back(page(whole, 20), kPagesPerChunk - 20);
  char* const other = take(kPagesPerChunk);
  EXPECT_NE(other, whole) << "the middle is in use";
  give_back(page(whole, 10), 10);
  EXPECT_EQ(take(kPagesPerChunk), whole);
}

TEST(PageCache, ASpanIsSplitAndItsRestServesOthers) {
  char* const whole = take(kPagesPerChunk);
  give_back(whole, kPagesPerChunk);
  std::uint32_t seen = 0;
  for (const std::uint32_t pages : {5u, 1u, 20u, 6u}) {
    char* const part = take(pages);
    const std::size_t first = static_cast<std::size_t>(part - whole) >> kPageShift;
    ASSERT_LT(first + pages, kPagesPerChunk + 1u) << "from another chunk";
    const std::uint32_t mask = run_mask(static_cast<unsigned>(first), pages);
    EXPECT_EQ(seen & mask, 0u) << "given twice";
    seen |= mask;
  }
  EXPECT_EQ(seen, ~0u);
}

TEST(PageCache, TheHoleThatFitsBestIsTaken) {
  char* const one = take(kPagesPerChunk);
  char* const another = take(kPagesPerChunk);
  give_back(page(one, 10), 7);
  give_back(page(another, 4), 3);
  EXPECT_EQ(take(3), page(another, 4));
  EXPECT_EQ(take(6), page(one, 10));
}

TEST(PageCache, TheBestHoleWithinAChunkIsTaken) {
  char* const chunk = take(kPagesPerChunk);
  give_back(page(chunk, 2), 9);
  give_back(page(chunk, 20), 4);
  EXPECT_EQ(take(4), page(chunk, 20));
}

TEST(PageCache, WarmPagesAreReusedBeforeFreshOnes) {
  char* const run = take(3);
  std::memset(run, 1, bytes_of(PageCount{3}));
  give_back(run, 3);
  const PageRun again = page_cache.allocate_pages(PageCount{3});
  EXPECT_EQ(again.start, run);
  EXPECT_FALSE(again.is_zeroed);
}

TEST(PageCache, ChunksInARowMakeARunLongerThanAChunk) {
  char* const run = take(3 * kPagesPerChunk);
  give_back(page(run, kPagesPerChunk), kPagesPerChunk);
  give_back(run, kPagesPerChunk);
  give_back(page(run, 2 * kPagesPerChunk), kPagesPerChunk);
  EXPECT_EQ(take(2 * kPagesPerChunk + 5), run);
  page_cache.validate();
}

TEST(PageCache, TheLongRunThatFitsBestIsTaken) {
  char* const all = take(40 * kPagesPerChunk);
  for (const std::uint32_t chunk : {1u, 10u, 20u, 25u}) {
    const std::uint32_t chunks = chunk == 1 ? 6 : chunk == 10 ? 2 : chunk == 20 ? 3 : 4;
    give_back(page(all, chunk * kPagesPerChunk), chunks * kPagesPerChunk);
  }
  EXPECT_EQ(take(3 * kPagesPerChunk), page(all, 20 * kPagesPerChunk));
  EXPECT_EQ(take(2 * kPagesPerChunk - 5), page(all, 10 * kPagesPerChunk));
  EXPECT_EQ(take(3 * kPagesPerChunk), page(all, 25 * kPagesPerChunk));
}

TEST(PageCache, ALongRunMayBeginInTheChunkBeforeUnlessItIsToGrow) {
  char* const all = take(8 * kPagesPerChunk);
  give_back(page(all, 2 * kPagesPerChunk - 10), 10 + kPagesPerChunk + 6);
  const PageCount pages{kPagesPerChunk + 6 + 7};
  char* const growing = page_cache.allocate_pages(pages, Density::kSparse, kPageBytes, PageCount{1}).start;
  EXPECT_GE(growing, page(all, 8 * kPagesPerChunk)) << "only whole chunks can be moved";
  EXPECT_EQ(take(number_of(pages)), page(all, 2 * kPagesPerChunk - 7));
  EXPECT_EQ(take(3), page(all, 2 * kPagesPerChunk - 10)) << "the rest stays free";
}

TEST(PageCache, WhatIsToGrowBeginsTheLongestRunOfFreeChunks) {
  char* const all = take(10 * kPagesPerChunk);
  give_back(page(all, kPagesPerChunk), 3 * kPagesPerChunk);
  give_back(page(all, 5 * kPagesPerChunk), 4 * kPagesPerChunk);
  give_back(page(all, 9 * kPagesPerChunk + 3), 2);
  char* const growing =
      page_cache.allocate_pages(PageCount{2}, Density::kSparse, kPageBytes, PageCount{2}).start;
  EXPECT_EQ(growing, page(all, 5 * kPagesPerChunk));
  bool is_zeroed = true;
  EXPECT_TRUE(page_cache.try_extend(page(growing, 2), PageCount{4 * kPagesPerChunk - 2}, &is_zeroed));
  EXPECT_EQ(take(2), page(all, 9 * kPagesPerChunk + 3)) << "what does not grow fits between others";
}

TEST(PageCache, BackedPagesReadAsZeroAndHavePrices) {
  char* const start = take(2 * kPagesPerChunk);
  page_cache.back_with_memory(start, kPageBytes, Density::kSparse);
  page_cache.back_with_memory(page(start, kPagesPerChunk), kPageBytes, Density::kDense);
  EXPECT_TRUE(test::is_zero(start, bytes_of(PageCount{2 * kPagesPerChunk})));
}

TEST(PageCache, PurgedPagesReadAsZeroAndSaySo) {
  constexpr std::uint32_t kPages = 3 * kPagesPerChunk;
  char* const run = take(kPages);
  std::memset(run, 1, bytes_of(PageCount{kPages}));
  give_back(run, kPages);
  EXPECT_EQ(page_cache.dirty_bytes(), bytes_of(PageCount{kPages}));
  EXPECT_EQ(page_cache.purge(SIZE_MAX), bytes_of(PageCount{kPages}));
  EXPECT_EQ(page_cache.dirty_bytes(), 0u);
  EXPECT_EQ(page_cache.purge(SIZE_MAX), 0u);
  page_cache.validate();
  const PageRun again = page_cache.allocate_pages(PageCount{kPages});
  EXPECT_TRUE(again.is_zeroed);
  EXPECT_TRUE(test::is_zero(again.start, bytes_of(PageCount{kPages})));
}

TEST(PageCache, AChunkWithoutASpanIsPurgedAsAWholeAndLeftOutOfDumps) {
  char* const run = take(kPagesPerChunk);
  std::memset(run, 1, kChunkBytes);
  give_back(run, 7);
  EXPECT_EQ(page_cache.purge(SIZE_MAX), 7 * kPageBytes);
  EXPECT_FALSE(page_map.region(0).chunks[0].is_left_out_of_dumps);
  give_back(page(run, 7), kPagesPerChunk - 7);
  EXPECT_EQ(page_cache.purge(1), (kPagesPerChunk - 7) * kPageBytes);
  EXPECT_TRUE(page_map.region(0).chunks[0].is_left_out_of_dumps);
  page_cache.validate();
}

TEST(PageCache, PurgingAPartGivesBackAtLeastThat) {
  char* const run = take(8 * kPagesPerChunk);
  give_back(run, 8 * kPagesPerChunk);
  const std::size_t before = page_cache.dirty_bytes(), purged = page_cache.purge(3 * kChunkBytes);
  EXPECT_GE(purged, 3 * kChunkBytes);
  EXPECT_EQ(page_cache.dirty_bytes(), before - purged);
}

TEST(PageCache, PagesTheSystemDoesNotTakeBackStayDirty) {
  char* const run = take(10);
  std::memset(run, 1, bytes_of(PageCount{10}));
  give_back(run, 10);
  {
    const test::FaultInjection faults(test::FaultInjection::kind(os::Call::kPurge), 0,
                                      test::FaultInjection::Extent::kAllFromThere);
    EXPECT_EQ(page_cache.purge(SIZE_MAX), 0u);
  }
  EXPECT_EQ(page_cache.dirty_bytes(), bytes_of(PageCount{10}));
  page_cache.validate();
  const PageRun again = page_cache.allocate_pages(PageCount{10});
  EXPECT_EQ(again.start, run);
  EXPECT_FALSE(again.is_zeroed);
}

TEST(PageCache, WhatNobodyNeededForTwoTicksGoesBack) {
  char* const run = take(100);
  give_back(run, 100);
  page_cache.purge(page_cache.unused_since_tick());
  page_cache.purge(page_cache.unused_since_tick());
  EXPECT_EQ(page_cache.dirty_bytes(), 0u);
}

TEST(PageCache, ARunIsExtendedWhileThePagesBehindItAreFree) {
  char* const run = take(4);
  bool is_zeroed = false;
  ASSERT_TRUE(page_cache.try_extend(page(run, 4), PageCount{4}, &is_zeroed));
  EXPECT_TRUE(is_zeroed);
  std::memset(run, 1, bytes_of(PageCount{8}));
  EXPECT_FALSE(page_cache.try_extend(page(run, 6), PageCount{2}, &is_zeroed)) << "those are its own";
  const std::size_t used = page_cache.stats().used_bytes;
  EXPECT_EQ(used, bytes_of(PageCount{8}));
}

TEST(PageCache, ARunIsExtendedAcrossChunks) {
  char* const run = take(3 * kPagesPerChunk);
  give_back(page(run, 20), 3 * kPagesPerChunk - 20);
  bool is_zeroed = true;
  EXPECT_TRUE(page_cache.try_extend(page(run, 20), PageCount{2 * kPagesPerChunk}, &is_zeroed));
  EXPECT_FALSE(is_zeroed);
  EXPECT_EQ(page_cache.stats().used_bytes, bytes_of(PageCount{2 * kPagesPerChunk + 20}));
}

TEST(PageCache, ARunIsNotExtendedIntoPagesInUseNorBeyondTheEnd) {
  char* const run = take(kPagesPerChunk);
  give_back(page(run, 5), 10);
  bool is_zeroed = false;
  EXPECT_FALSE(page_cache.try_extend(page(run, 5), PageCount{11}, &is_zeroed));
  EXPECT_FALSE(page_cache.try_extend(page(run, kPagesPerChunk), PageCount{1u << 24}, &is_zeroed));
  EXPECT_TRUE(page_cache.try_extend(page(run, 5), PageCount{10}, &is_zeroed));
}

TEST(PageCache, RunsAreAlignedAsAskedAndNothingAroundThemIsLost) {
  for (std::size_t alignment = kPageBytes; alignment <= 8 * kChunkBytes; alignment *= 2)
    for (const std::uint32_t pages : {1u, 3u, 33u, 100u}) {
      const std::size_t used = page_cache.stats().used_bytes;
      char* const run = page_cache.allocate_pages(PageCount{pages}, Density::kSparse, alignment).start;
      ASSERT_NE(run, nullptr);
      EXPECT_EQ(address_of(run) % alignment, 0u);
      EXPECT_EQ(page_cache.stats().used_bytes, used + bytes_of(PageCount{pages}));
      std::memset(run, 1, bytes_of(PageCount{pages}));
      give_back(run, pages);
      EXPECT_EQ(page_cache.stats().used_bytes, used);
      page_cache.validate();
    }
}

TEST(PageCache, WhatCannotBeHadIsNullAndChangesNothing) {
  take(1);
  const PageCacheStats before = page_cache.stats();
  {
    const test::FaultInjection faults(test::FaultInjection::kAllKinds, 0,
                                      test::FaultInjection::Extent::kAllFromThere);
    EXPECT_EQ(take(1000), nullptr);
  }
  EXPECT_EQ(page_cache.stats().used_bytes, before.used_bytes);
  page_cache.validate();
  EXPECT_NE(take(1000), nullptr);
}

TEST(PageCache, ThreadsGetPagesOfTheirOwn) {
  std::atomic<int> wrong{0};
  const std::uint64_t rounds = test::amount(3000, 100000);
  test::in_threads(4, [&](std::uint64_t t) {
    test::Random random(t);
    struct {
      char* start;
      std::uint32_t pages;
    } held[16] = {};
    for (std::uint64_t i = 0; i < rounds; ++i) {
      auto& [start, pages] = held[random.below(16)];
      if (start != nullptr) {
        for (std::uint32_t p = 0; p < pages; ++p) wrong += *page(start, p) != static_cast<char>(t + 1);
        give_back(start, pages);
      }
      pages = 1 + static_cast<std::uint32_t>(random.below(random.below(20) == 0 ? 80 : 8));
      start = take(pages);
      for (std::uint32_t p = 0; p < pages; ++p) *page(start, p) = static_cast<char>(t + 1);
      if (random.below(100) == 0) page_cache.purge(kChunkBytes);
      if (random.below(100) == 0) page_cache.purge(page_cache.unused_since_tick());
    }
    for (auto& run : held)
      if (run.start != nullptr) give_back(run.start, run.pages);
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(page_cache.stats().used_bytes, 0u);
  page_cache.validate();
}

}  // namespace
}  // namespace tarn::internal
