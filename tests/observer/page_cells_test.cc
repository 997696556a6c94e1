// The map of a heap made by hand: which cells there are, what they hold.
#include "observer/pages/page_cells.h"

#include "hand_made.h"
#include "observer/pages/pinners.h"
#include "support/prelude.h"

namespace tarn::observer {
namespace {

using test::all_resident;
using test::HandMade;
using test::kBase;
using test::kPage;

constexpr std::uint64_t kOsPage = 4096;

TEST(PageCells, ASlabOfOnePageIsOneCellWithItsFill) {
  HandMade made;
  made.add_slab(made.add_class(1024), 16);
  const Snapshot snapshot = made.snapshot();
  const PageMap map = page_map_of(snapshot, nullptr);
  ASSERT_EQ(map.cells.size(), 1U);
  EXPECT_EQ(map.cells[0].start, kBase);
  EXPECT_EQ(map.cells[0].live_bytes, 16U * 1024);
  EXPECT_DOUBLE_EQ(map.cells[0].fill(), 0.25);
  EXPECT_EQ(map.groups[map.cells[0].group].name, "1,024 B");
}

TEST(PageCells, WithoutAResidencyASpanCountsAsResidentAndGivenBackPagesDoNot) {
  HandMade made;
  made.add_slab(made.add_class(1024), 16);
  made.add_free(kPage, true);
  made.add_free(kPage, false);
  const Snapshot snapshot = made.snapshot();
  const PageMap map = page_map_of(snapshot, nullptr);
  ASSERT_EQ(map.cells.size(), 3U);
  EXPECT_FALSE(map.is_residency_known);
  EXPECT_EQ(map.cells[0].resident_bytes, kPage);
  EXPECT_EQ(map.cells[1].resident_bytes, kPage);
  EXPECT_TRUE(map.cells[2].is_given_back());
}

TEST(PageCells, TheCellsOfALargeBlockHaveTheBytesThatLieInEach) {
  HandMade made;
  made.add_large(3 * kPage, 2 * kPage + 100);
  const Snapshot snapshot = made.snapshot();
  const PageMap map = page_map_of(snapshot, nullptr);
  ASSERT_EQ(map.cells.size(), 3U);
  EXPECT_EQ(map.cells[0].live_bytes, kPage);
  EXPECT_EQ(map.cells[1].live_bytes, kPage);
  EXPECT_EQ(map.cells[2].live_bytes, 100U);
  EXPECT_EQ(map.parts.size(), 1U);
  for (const PageCell& cell : map.cells) EXPECT_EQ(cell.first_part, 0U);
}

TEST(PageCells, BlocksAcrossTwoPagesOfASlabCountInBothByTheirBytes) {
  HandMade made;
  const std::uint32_t pool = made.add_pool(PoolKind::kFixed, "wide", 40000);
  made.add_pool_span(pool, SpanUse::kSlab, 2 * kPage, 2);
  const Snapshot snapshot = made.snapshot();
  const PageMap map = page_map_of(snapshot, nullptr);
  ASSERT_EQ(map.cells.size(), 2U);
  EXPECT_EQ(map.cells[0].live_bytes, kPage);
  EXPECT_EQ(map.cells[1].live_bytes, 80000 - kPage);
}

TEST(PageCells, LiveBytesOfAllRangesAddUpToThoseOfTheSpan) {
  HandMade made;
  const std::uint32_t pool = made.add_pool(PoolKind::kFixed, "odd", 4999);
  Span& span = made.add_pool_span(pool, SpanUse::kSlab, 8 * kPage, 0);
  for (std::uint32_t i = 0; i < span.block_count; i += 3) {
    made.edit().live_words[span.first_word + i / 64] |= std::uint64_t{1} << i % 64;
    ++span.live;
  }
  span.live_bytes = span.live * span.block_bytes;
  const Snapshot snapshot = made.snapshot();
  for (const std::uint64_t step : {std::uint64_t{100}, std::uint64_t{4096}, kPage, 3 * kPage}) {
    std::uint64_t sum = 0;
    for (Address at = span.start; at < span.end(); at += step)
      sum += parts_of(snapshot, snapshot.spans[0], at, std::min(at + step, span.end())).live;
    EXPECT_EQ(sum, snapshot.spans[0].live_bytes) << step;
  }
}

TEST(PageCells, PagesOfAHeapInABufferShareACell) {
  HandMade made;
  const std::uint32_t heap = made.add_pool(PoolKind::kHeap, "sessions");
  for (int i = 0; i < 20; ++i) made.add_mixed_page(heap, kOsPage, {100, 200});
  const Snapshot snapshot = made.snapshot();
  const PageMap map = page_map_of(snapshot, nullptr);
  ASSERT_EQ(map.cells.size(), 2U);
  EXPECT_EQ(map.cells[0].part_count, 16U);
  EXPECT_EQ(map.cells[0].live_bytes, 16U * 300);
  EXPECT_EQ(map.cells[1].part_count, 4U);
  EXPECT_EQ(map.cells[1].bytes, 4 * kOsPage);
}

TEST(PageCells, CellsOfAllKindsOfSpansAddUpToTheTotals) {
  const Snapshot snapshot = test::make_mixed_heap();
  const Residency residency = all_resident(snapshot);
  const PageMap map = page_map_of(snapshot, &residency);
  std::uint64_t live = 0, bytes = 0, of_groups = 0;
  for (const PageCell& cell : map.cells) live += cell.live_bytes, bytes += cell.bytes;
  for (const CellGroup& group : map.groups) of_groups += group.bytes;
  EXPECT_EQ(live, snapshot.totals.live_bytes);
  EXPECT_EQ(bytes, snapshot.totals.mapped_bytes + snapshot.totals.free_dirty_bytes +
                       snapshot.totals.free_clean_bytes);
  EXPECT_EQ(of_groups, bytes);
  EXPECT_EQ(map.resident_bytes(), residency.rss_bytes());
}

TEST(PageCells, APageThatHoldsLittleAndIsResidentIsMostlyIdle) {
  HandMade made;
  const std::uint32_t size_class = made.add_class(48);
  made.add_slab(size_class, 3);
  made.add_slab(size_class, 1365);
  const Snapshot snapshot = made.snapshot();
  const Residency residency = all_resident(snapshot);
  const PageMap map = page_map_of(snapshot, &residency);
  EXPECT_TRUE(map.cells[0].is_mostly_idle());
  EXPECT_EQ(map.cells[0].idle_bytes(), kPage - 144);
  EXPECT_FALSE(map.cells[1].is_mostly_idle());
}

TEST(PageCells, AFullSlabKeepsItsRestAndAnEmptyOneAllOfIt) {
  HandMade made;
  const std::uint32_t size_class = made.add_class(48);
  made.add_slab(size_class, 1365);
  made.add_slab(size_class, 0);
  made.add_large(kPage, 0);
  const Snapshot snapshot = made.snapshot();
  const PageMap map = page_map_of(snapshot, nullptr);
  ASSERT_EQ(map.cells.size(), 3U);
  EXPECT_EQ(map.cells[0].idle_bytes(), kPage - 1365 * 48);
  EXPECT_EQ(map.cells[1].idle_bytes(), kPage);
  EXPECT_EQ(map.cells[2].idle_bytes(), kPage);
}

TEST(PageCells, APageThatWentBackIsHollowWhateverItHolds) {
  HandMade made;
  made.add_slab(made.add_class(48), 3);
  const Snapshot snapshot = made.snapshot();
  const Residency residency({{kBase + kOsPage, kBase + 2 * kOsPage}}, kOsPage, 0);
  EXPECT_EQ(page_map_of(snapshot, &residency).cells[0].resident_bytes, kOsPage);
  const Residency nothing({}, 0, 0);
  EXPECT_TRUE(page_map_of(snapshot, &nothing).cells[0].is_given_back());
}

TEST(PageCells, GroupsComeLargestFirstAndFreePagesLast) {
  HandMade made;
  const std::uint32_t small = made.add_class(48), large = made.add_class(4096);
  made.add_free(100 * kPage, true);
  made.add_slabs(2, small, 3);
  made.add_slabs(5, large, 3);
  const Snapshot snapshot = made.snapshot();
  const PageMap map = page_map_of(snapshot, nullptr);
  ASSERT_EQ(map.groups.size(), 3U);
  EXPECT_EQ(map.groups[0].name, "4,096 B");
  EXPECT_EQ(map.groups[1].name, "48 B");
  EXPECT_EQ(map.groups[2].kind, CellGroup::Kind::kFree);
  EXPECT_EQ(map.cells.front().group, 2U);
}

TEST(Pinners, TheClassThatPinsMostComesFirst) {
  HandMade made;
  const std::uint32_t small = made.add_class(48), middle = made.add_class(1024);
  made.add_slabs(10, small, 3);
  made.add_slabs(3, middle, 1);
  const Snapshot snapshot = made.snapshot();
  const auto pinners = pinners_by(PinnedBy::kClass, snapshot, nullptr);
  ASSERT_EQ(pinners.size(), 2U);
  EXPECT_EQ(name_of(pinners[0], snapshot), "48 B");
  EXPECT_EQ(pinners[0].survivors, 30U);
  EXPECT_EQ(pinners[0].pinned_bytes, 10 * (kPage - 144));
  EXPECT_EQ(pinners[1].pinned_bytes, 3 * (kPage - 1024));
}

TEST(Pinners, FullAndEmptySpansPinNothing) {
  HandMade made;
  const std::uint32_t middle = made.add_class(1024);
  made.add_slab(middle, 64);
  made.add_slab(middle, 0);
  made.add_large(2 * kPage, kPage + 1);
  const Snapshot snapshot = made.snapshot();
  EXPECT_TRUE(pinners_by(PinnedBy::kClass, snapshot, nullptr).empty());
}

TEST(Pinners, WhatHasGoneBackIsNotPinned) {
  HandMade made;
  made.add_slab(made.add_class(48), 3);
  const Snapshot snapshot = made.snapshot();
  const Residency one_page({{kBase, kBase + kOsPage}}, kOsPage, 0);
  const auto pinners = pinners_by(PinnedBy::kClass, snapshot, &one_page);
  ASSERT_EQ(pinners.size(), 1U);
  EXPECT_EQ(pinners[0].pinned_bytes, kOsPage - 144);
}

TEST(Pinners, CachedBlocksAreNotPinned) {
  HandMade made;
  made.add_slab(made.add_class(1024), 10).cached = 54;
  const Snapshot snapshot = made.snapshot();
  EXPECT_TRUE(pinners_by(PinnedBy::kClass, snapshot, nullptr).empty());
}

TEST(Pinners, OwnersAndPoolsPinWhatIsTheirs) {
  HandMade made;
  const std::uint32_t owner = made.add_owner();
  const std::uint32_t pool = made.add_pool(PoolKind::kFixed, "packets", 2048);
  made.add_slab(made.add_class(48), 3, owner);
  made.add_pool_span(pool, SpanUse::kSlab, kPage, 1);
  const Snapshot snapshot = made.snapshot();
  const auto owners = pinners_by(PinnedBy::kOwner, snapshot, nullptr);
  const auto pools = pinners_by(PinnedBy::kPool, snapshot, nullptr);
  ASSERT_EQ(owners.size(), 1U);
  EXPECT_EQ(owners[0].pinned_bytes, kPage - 144);
  ASSERT_EQ(pools.size(), 1U);
  EXPECT_EQ(name_of(pools[0], snapshot), "fixed pool packets");
  EXPECT_EQ(pools[0].pinned_bytes, kPage - 2048);
}

}  // namespace
}  // namespace tarn::observer
