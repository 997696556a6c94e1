#include "observer/pages/sheet.h"

#include "observer/pages/page_cells.h"
#include "snapshot_builder.h"
#include "support/prelude.h"

namespace tarn::observer {
namespace {

constexpr Address kHeap = Address{1} << 40;  // begins a chunk

constexpr bool all(std::uint32_t) { return true; }
constexpr bool none(std::uint32_t) { return false; }

Residency residency_of(std::vector<ResidentRun> runs) {
  std::uint64_t bytes = 0;
  for (const ResidentRun& run : runs) bytes += run.end - run.start;
  return Residency(std::move(runs), bytes, 0);
}

Residency whole(Address start, std::uint64_t bytes) { return residency_of({{start, start + bytes}}); }

TEST(Sheet, AFullSlabIsLiveBlocksAndWhatIsAroundThem) {
  SnapshotBuilder made;
  const auto blocks_of_40 = made.add_class(40, 48);
  made.add_slab(kHeap, blocks_of_40, 16, all);  // 1365 blocks of 48 are 65520 bytes
  const Residency residency = whole(kHeap, kTarnPage);
  const Sheet sheet = make_sheet(*made, &residency);
  EXPECT_EQ(sheet.of(Part::kLive), 1365u * 40);
  EXPECT_EQ(sheet.of(Part::kRounding), 1365u * 8 + 16);
  EXPECT_EQ(sheet.sum(), kTarnPage);
  EXPECT_EQ(sheet.error(), 0);
}

TEST(Sheet, FreeBlocksAreThoseOfThreadsOfDepotsAndOfSlabs) {
  SnapshotBuilder made;
  const auto blocks_of_64 = made.add_class(64, 64);
  made.cache(made.add_slab(kHeap, blocks_of_64, 0, [](std::uint32_t block) { return block >= 600; }), 100,
             50);
  const Residency residency = whole(kHeap, kTarnPage);
  const Sheet sheet = make_sheet(*made, &residency);
  EXPECT_EQ(sheet.of(Part::kCached), 100u * 64);
  EXPECT_EQ(sheet.of(Part::kDepot), 50u * 64);
  EXPECT_EQ(sheet.of(Part::kFreeInSlabs), 450u * 64);
  EXPECT_EQ(sheet.of(Part::kLive), 424u * 64);
}

TEST(Sheet, ALiveBlockThatWasNeverWrittenIsNotThere) {
  SnapshotBuilder made;
  made.add_large(kHeap, 10 << 20, (10 << 20) - 100, SpanUse::kLarge);
  const Residency residency =
      residency_of({{kHeap, kHeap + kOsPage}, {kHeap + (10 << 20) - kOsPage, kHeap + (10 << 20)}});
  const Sheet sheet = make_sheet(*made, &residency);
  EXPECT_EQ(sheet.of(Part::kLive), 2 * kOsPage - 100);
  EXPECT_EQ(sheet.of(Part::kRounding), 100u);
  EXPECT_EQ(sheet.sum(), sheet.rss_bytes);
}

TEST(Sheet, OfASlabThatIsPartlyResidentThePagesThatAreThereCount) {
  SnapshotBuilder made;
  const auto blocks_of_1000 = made.add_class(1000, 1024);
  made.add_slab(kHeap, blocks_of_1000, 0, [](std::uint32_t block) { return block % 2 == 0; });
  const Residency residency = whole(kHeap + kOsPage, kOsPage);  // blocks 4 to 7
  const Sheet sheet = make_sheet(*made, &residency);
  EXPECT_EQ(sheet.of(Part::kLive), 2000u);
  EXPECT_EQ(sheet.of(Part::kRounding), 48u);
  EXPECT_EQ(sheet.of(Part::kFreeInSlabs), 2048u);
}

TEST(Sheet, APieceOfABlockIsAPieceOfWhatTheBlockIs) {
  SnapshotBuilder made;
  const auto large = made.add_class(20000, 20480);
  made.add_slab(kHeap, large, 0, [](std::uint32_t block) { return block == 1; });
  const Residency residency = whole(kHeap + 6 * kOsPage, kOsPage);  // inside of block 1
  const Sheet sheet = make_sheet(*made, &residency);
  EXPECT_EQ(sheet.of(Part::kLive), kOsPage);
  EXPECT_EQ(sheet.sum(), kOsPage);
}

/// The parts of a piece, byte by byte.
SpanParts counted_parts(const Snapshot& snapshot, const Span& span, Address start, Address end) {
  SpanParts parts;
  for (Address at = start; at < end; ++at) {
    const std::uint64_t offset = at - span.first_block;
    if (at < span.first_block || offset / span.stride >= span.block_count)
      ++parts.rounding;
    else if (!snapshot.is_live(span, static_cast<std::uint32_t>(offset / span.stride)))
      ++parts.free;
    else
      ++(offset % span.stride < span.block_bytes ? parts.live : parts.rounding);
  }
  return parts;
}

TEST(SpanParts, OfAnyPieceAreWhatItsBytesAreOneByOne) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    SnapshotBuilder made;
    const std::uint32_t stride = 16 + random() % 5000;
    const auto any = made.add_class(stride - random() % 16, stride);
    const Span span =
        made.add_slab(kHeap, any, random() % 100, [&](std::uint32_t) { return random() % 3 == 0; });
    const Address start = kHeap + random() % kTarnPage,
                  end = start + random() % (kHeap + kTarnPage - start + 1);
    const SpanParts parts = parts_of(*made, span, start, end),
                    counted = counted_parts(*made, span, start, end);
    ASSERT_EQ(parts.live, counted.live) << stride << ' ' << start - kHeap << ' ' << end - kHeap;
    ASSERT_EQ(parts.rounding, counted.rounding) << stride << ' ' << start - kHeap << ' ' << end - kHeap;
    ASSERT_EQ(parts.free, counted.free) << stride << ' ' << start - kHeap << ' ' << end - kHeap;
  }
}

TEST(Sheet, SpareSlabsAndFreedLargeBlocksAreFreeInSlabs) {
  SnapshotBuilder made;
  const auto blocks_of_64 = made.add_class(64, 64);
  made.add_slab(kHeap, blocks_of_64, 0, none).use = SpanUse::kSpareSlab;
  made.add_large(kHeap + kTarnPage, 8 * kTarnPage, 8 * kTarnPage, SpanUse::kCachedLarge);
  const Residency residency = whole(kHeap, 9 * kTarnPage);
  EXPECT_EQ(make_sheet(*made, &residency).of(Part::kFreeInSlabs), 9 * kTarnPage);
}

TEST(Sheet, OfAMixedPageAllIsFreeButItsLiveBlocks) {
  SnapshotBuilder made;
  made->mixed_blocks = {{kHeap + 100, 200, 0}, {kHeap + kOsPage - 50, 100, 0}};
  Span page;
  page.start = kHeap;
  page.bytes = kTarnPage;
  page.live = 2;
  page.use = SpanUse::kMixedPage;
  made->spans.push_back(page);
  const Residency residency = whole(kHeap, kOsPage);
  const Sheet sheet = make_sheet(*made, &residency);
  EXPECT_EQ(sheet.of(Part::kLive), 250u);
  EXPECT_EQ(sheet.of(Part::kFreeInSlabs), kOsPage - 250);
}

TEST(Sheet, FewLiveBlocksPinTheFreeOnesBesideThem) {
  SnapshotBuilder made;
  const auto blocks_of_64 = made.add_class(64, 64), blocks_of_128 = made.add_class(128, 128);
  made.add_slab(kHeap, blocks_of_64, 0, [](std::uint32_t block) { return block < 3; });
  made.add_slab(kHeap + kTarnPage, blocks_of_64, 0, [](std::uint32_t block) { return block < 512; });  // half
  made.add_slab(kHeap + 2 * kTarnPage, blocks_of_128, 0, [](std::uint32_t block) { return block == 0; });
  const Residency residency = whole(kHeap, 3 * kTarnPage);
  const Sheet sheet = make_sheet(*made, &residency);
  EXPECT_EQ(sheet.survivors.blocks, 4u);
  EXPECT_EQ(sheet.survivors.slab_bytes, 2 * kTarnPage);
  EXPECT_EQ(sheet.survivors.pinned_bytes, 2 * kTarnPage - 3 * 64 - 128);
  EXPECT_EQ(sheet.survivors_of_class[blocks_of_64].pinned_bytes, kTarnPage - 3 * 64);
  EXPECT_EQ(sheet.survivors_of_class[blocks_of_128].blocks, 1u);
}

TEST(Sheet, WhatLiesOutsideOfAllRangesIsNotTarns) {
  SnapshotBuilder made;
  const auto blocks_of_64 = made.add_class(64, 64);
  made.add_slab(kHeap, blocks_of_64, 0, all);
  made->free_runs = {{kHeap + 3 * kTarnPage, 2 * kTarnPage, true}, {kHeap + kTarnPage, 2 * kTarnPage, false}};
  made->records = {{0x10000, kOsPage, RecordRange::What::kData}};
  const Residency residency = residency_of({{0x8000, 0x12000},
                                            {kHeap, kHeap + 2 * kTarnPage},
                                            {kHeap + 4 * kTarnPage, kHeap + 5 * kTarnPage},
                                            {kHeap + (64 << 20), kHeap + (65 << 20)}});
  const Sheet sheet = make_sheet(*made, &residency);
  EXPECT_EQ(sheet.of(Part::kFreePages), 2 * kTarnPage);
  EXPECT_EQ(sheet.of(Part::kMetadata), kOsPage);
  EXPECT_EQ(sheet.of(Part::kOther), 0xa000 - kOsPage + (1 << 20));
  EXPECT_EQ(sheet.sum(), sheet.rss_bytes);
  EXPECT_EQ(sheet.unnamed_bytes, 0u);
}

TEST(Sheet, ATableWithinARangeOfRecordsCountsOnce) {
  SnapshotBuilder made;
  made->records = {{0x11000, 0x800, RecordRange::What::kTables},
                   {0x10000, 0x4000, RecordRange::What::kRecords},
                   {0x13000, 0x2000, RecordRange::What::kIndex}};
  const Residency residency = whole(0x10000, 0x8000);
  const Sheet sheet = make_sheet(*made, &residency);
  EXPECT_EQ(sheet.of(Part::kMetadata), 0x5000u);
  EXPECT_EQ(sheet.sum(), sheet.rss_bytes);
}

TEST(Sheet, APageOfTarnsThatNothingNamesIsMissingInTheSum) {
  SnapshotBuilder made;
  const auto blocks_of_64 = made.add_class(64, 64);
  made.add_slab(kHeap, blocks_of_64, 0, all);
  made->free_runs = {{kHeap + 4 * kTarnPage, kTarnPage, true}};
  const Residency residency = whole(kHeap, 5 * kTarnPage);
  const Sheet sheet = make_sheet(*made, &residency);
  EXPECT_EQ(sheet.of(Part::kOther), 0u);
  EXPECT_EQ(sheet.unnamed_bytes, 3 * kTarnPage);
  EXPECT_NEAR(sheet.error(), 0.6, 1e-9);
}

TEST(Sheet, WithoutResidencyIsInMappedBytes) {
  SnapshotBuilder made;
  const auto blocks_of_64 = made.add_class(64, 64);
  made.add_slab(kHeap, blocks_of_64, 0, [](std::uint32_t block) { return block < 1000; });
  made->totals.free_dirty_bytes = 12345;
  made->totals.record_bytes = 678;
  const Sheet sheet = make_sheet(*made, nullptr);
  EXPECT_EQ(sheet.basis, Basis::kMapped);
  EXPECT_EQ(sheet.of(Part::kLive), 64000u);
  EXPECT_EQ(sheet.of(Part::kFreeInSlabs), 24u * 64);
  EXPECT_EQ(sheet.of(Part::kFreePages), 12345u);
  EXPECT_EQ(sheet.of(Part::kMetadata), 678u);
  EXPECT_EQ(sheet.of(Part::kOther), 0u);
  EXPECT_EQ(sheet.rss_bytes, 0u);
}

TEST(Sheet, SpansThatCannotBeTrueDoNoHarm) {
  SnapshotBuilder made;
  Span span;
  span.start = kHeap;
  span.bytes = kTarnPage;
  span.use = SpanUse::kOther;
  made->spans.push_back(span);
  const auto blocks_of_64 = made.add_class(64, 64);
  made.add_slab(kHeap + kTarnPage, blocks_of_64, 0, all).size_class = 99;
  const Residency residency = whole(kHeap, 2 * kTarnPage);
  const Sheet sheet = make_sheet(*made, &residency);
  EXPECT_EQ(sheet.of(Part::kFreeInSlabs), kTarnPage);
  EXPECT_EQ(sheet.of(Part::kLive), kTarnPage);
}

/// Half of the spans partly resident.
TEST(Sheet, OfAHundredThousandSpansTakesATwentiethOfASecondAtMost) {
  constexpr std::uint64_t kSpans = 100'000;
  SnapshotBuilder made;
  const auto blocks_of_48 = made.add_class(48, 48);
  std::vector<ResidentRun> runs;
  const Span first = made.add_slab(kHeap, blocks_of_48, 0, [](std::uint32_t block) { return block % 5 < 2; });
  for (std::uint64_t i = 0; i < kSpans; ++i) {
    Span span = first;  // all share the bits of one
    span.start = kHeap + i * kTarnPage;
    span.first_block = span.start;
    if (i != 0) made->spans.push_back(span);
    if (i % 2 == 0) {
      runs.push_back({span.start, span.end()});
    } else {
      for (std::uint64_t page = 1; page < 16; page += 4)
        runs.push_back({span.start + page * kOsPage, span.start + (page + 2) * kOsPage});
    }
  }
  const Residency residency = residency_of(std::move(runs));
  double fastest = 1;
  for (int round = 0; round < 5; ++round) {
    const auto start = std::chrono::steady_clock::now();
    const Sheet sheet = make_sheet(*made, &residency);
    fastest =
        std::min(fastest, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    ASSERT_EQ(sheet.sum(), sheet.rss_bytes);
  }
  RecordProperty("milliseconds", std::to_string(1e3 * fastest));
  EXPECT_LT(fastest, 0.05);
}

// -- Rates -----------------------------------------------------------------------------------------------

Snapshot at(double time) {
  SnapshotBuilder made;
  made.add_class(64, 64);
  made->time = time;
  made->threads.resize(2);
  made->threads[0].record = 0x1000;
  made->threads[1].record = 0x2000;
  made->threads[0].owner = made->threads[1].owner = 0;
  made->owners.resize(1);
  made->owners[0].record = 0x3000;
  made->pools.resize(1);
  made->pools[0].number = 7;
  return *made;
}

TEST(Rates, AreWhatHappenedASecond) {
  Snapshot before = at(10), now = at(12);
  before.classes[1].live = 100;
  now.classes[1].live = 40;
  now.threads[0].refills = 20;
  now.threads[1].refills = 6;
  now.threads[1].flushes = 8;
  before.owners[0].remote_batches = 5;
  now.owners[0].remote_batches = 9;
  now.pools[0].live = 3;
  const Rates moved = rates(before, now);
  EXPECT_EQ(moved.seconds, 2);
  EXPECT_EQ(moved.live_of_class[1], -30);
  EXPECT_EQ(moved.threads[0].refills, 10);
  EXPECT_EQ(moved.threads[1].flushes, 4);
  EXPECT_EQ(moved.owners[0].refills, 13);
  EXPECT_EQ(moved.owners[0].remote_batches, 2);
  EXPECT_EQ(moved.live_of_pool[0], 1.5);
}

TEST(Rates, FindWhatMovedToAnotherPlace) {
  Snapshot before = at(0), now = at(1);
  before.threads[0].refills = 5;
  now.threads[1].refills = 6;
  std::swap(now.threads[0].record, now.threads[1].record);
  before.pools[0].live = 50;
  now.pools.insert(now.pools.begin(), Pool{});
  now.pools[0].number = 8;
  now.pools[0].live = 4;
  now.pools[1].live = 51;
  const Rates moved = rates(before, now);
  EXPECT_EQ(moved.threads[1].refills, 1);
  EXPECT_EQ(moved.live_of_pool[0], 4);
  EXPECT_EQ(moved.live_of_pool[1], 1);
}

TEST(Rates, ACounterThatBeganAnewCountsFromZero) {
  Snapshot before = at(0), now = at(1);
  before.threads[0].refills = 1000;
  now.threads[0].refills = 3;
  EXPECT_EQ(rates(before, now).threads[0].refills, 3);
}

TEST(Rates, OfOneMomentAreZero) {
  const Snapshot now = at(3);
  const Rates moved = rates(now, now);
  EXPECT_EQ(moved.seconds, 0);
  EXPECT_EQ(moved.live_of_class.size(), now.classes.size());
  EXPECT_EQ(moved.threads.size(), 2u);
  EXPECT_EQ(moved.live_of_pool[0], 0);
}

}  // namespace
}  // namespace tarn::observer
