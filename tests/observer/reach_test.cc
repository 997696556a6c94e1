#include "observer/leaks/reach.h"

#include "fake_program.h"
#include "observer/leaks/block_table.h"
#include "support/prelude.h"

namespace tarn::observer::test {
namespace {

// -- Marking, and what follows from it: leaks that were planted into memory made by hand.

constexpr Address kHeap = 0x7f00'0000'0000, kData = 0x60'0000;
constexpr std::uint32_t kStride = 64;

/// A page of data, whose words are roots, and slabs of 100 blocks each.
class Reaching : public ::testing::Test {
 protected:
  Reaching() {
    program_.map(kData, 4096, "/bin/program");
    add_page();
  }
  std::uint32_t add_page() {
    const Address start = kHeap + kPageBytes * snapshot_.spans.size();
    program_.map(start, kPageBytes);
    return add_slab(snapshot_, start, kStride, 100);
  }
  Address block(std::uint32_t number, std::uint32_t span = 0) const {
    return snapshot_.spans[span].start + Address{number} * kStride;
  }
  void set_root(int number, Address to) { program_.write_word(kData + 8 * Address(number), to); }
  /// \returns the unreachable blocks of the first slab.
  std::vector<std::uint32_t> unreachable() {
    const BlockTable table(snapshot_);
    Reach reach(program_, table, nullptr);
    reach.mark(memory_roots(program_, snapshot_));
    unread_bytes_ = reach.unread_bytes();
    std::vector<std::uint32_t> numbers;
    for (const BlockTable::Place place : reach.unreachable())
      if (place.span == 0) numbers.push_back(place.block);
    return numbers;
  }
  /// Leaves only the first blocks of the first slab live.
  void keep_live(std::uint32_t count) {
    for (std::uint32_t i = count; i < 100; ++i) end_block(snapshot_, 0, i);
  }

  FakeProgram program_;
  Snapshot snapshot_;
  std::uint64_t unread_bytes_ = 0;
};

using Numbers = std::vector<std::uint32_t>;

TEST_F(Reaching, BlocksThatNothingPointsToAreNotReached) {
  keep_live(3);
  set_root(0, block(1));
  EXPECT_EQ(unreachable(), (Numbers{0, 2}));
}

TEST_F(Reaching, AChainIsReachedToItsEndAndACircleEnds) {
  keep_live(5);
  set_root(7, block(4));
  for (std::uint32_t i = 4; i > 0; --i) program_.write_word(block(i) + 56, block(i - 1));
  program_.write_word(block(0), block(4));
  EXPECT_EQ(unreachable(), Numbers{});
}

TEST_F(Reaching, ACircleThatNothingElsePointsToIsNotReached) {
  keep_live(2);
  program_.write_word(block(0), block(1));
  program_.write_word(block(1), block(0));
  EXPECT_EQ(unreachable(), (Numbers{0, 1}));
}

TEST_F(Reaching, PointersToTheInsideAndWithTagsCount) {
  keep_live(3);
  set_root(0, block(0) + 63);
  set_root(1, block(1) | 1);
  set_root(2, block(2) | Address{0xfff8} << 48);
  EXPECT_EQ(unreachable(), Numbers{});
}

TEST_F(Reaching, APointerBehindABlockDoesNotCount) {
  keep_live(1);
  set_root(0, block(0) + kStride);
  EXPECT_EQ(unreachable(), Numbers{0});
}

TEST_F(Reaching, FreeBlocksAreNotFollowed) {
  keep_live(2);
  end_block(snapshot_, 0, 1);
  set_root(0, block(1));
  program_.write_word(block(1), block(0));
  EXPECT_EQ(unreachable(), Numbers{0});
}

TEST_F(Reaching, WhatIsWrittenBetweenBlocksIsNotFollowed) {
  keep_live(1);
  program_.write_word(block(50), block(0));
  EXPECT_EQ(unreachable(), Numbers{0});
}

TEST_F(Reaching, TheLibrarysRecordsAreNoRootsButItsDataIs) {
  keep_live(2);
  program_.map(0x70'0000, 4096);
  program_.map(0x71'0000, 4096);
  program_.write_word(0x70'0000, block(0));
  program_.write_word(0x71'0000, block(1));
  snapshot_.records.push_back({0x70'0000, 4096, RecordRange::What::kRecords});
  snapshot_.records.push_back({0x71'0000, 4096, RecordRange::What::kData});
  EXPECT_EQ(unreachable(), Numbers{0});
}

TEST_F(Reaching, ALongListThroughManySpansIsFollowedByAllThreads) {
  for (int i = 0; i < 200; ++i) add_page();
  set_root(0, block(0));
  Address last = block(0);
  for (std::uint32_t i = 1; i < 100; ++i)
    for (std::uint32_t span = 0; span <= 200; ++span) {
      program_.write_word(last + 8, block(i, span));
      last = block(i, span);
    }
  EXPECT_EQ(unreachable(), Numbers{});
}

TEST_F(Reaching, ALargeBlockIsFollowedToItsEnd) {
  keep_live(1);
  const Address large = kHeap + 16 * kPageBytes, bytes = 5 << 20;
  program_.map(large, bytes);
  add_large(snapshot_, large, bytes);
  program_.write_word(large + bytes - 8, block(0));
  set_root(0, large + 12345);
  EXPECT_EQ(unreachable(), Numbers{});
}

TEST_F(Reaching, ObjectsThatHandlesNameAreReachedAndFollowed) {
  keep_live(1);
  const std::uint32_t chunk = add_page();
  snapshot_.spans[chunk].use = SpanUse::kHandleGroup;
  program_.write_word(block(99, chunk), block(0));
  EXPECT_EQ(unreachable(), Numbers{});
}

TEST_F(Reaching, SensitiveBlocksAreNeitherReadNorReported) {
  keep_live(1);
  const std::uint32_t secret = add_page();
  snapshot_.spans[secret].pool = add_pool(snapshot_, "keys", true);
  set_root(0, block(5, secret));
  program_.write_word(block(5, secret), block(0));
  EXPECT_EQ(unreachable(), Numbers{0});
  const BlockTable table(snapshot_);
  Reach reach(program_, table, nullptr);
  reach.mark(memory_roots(program_, snapshot_));
  EXPECT_EQ(reach.unreachable().size(), 1U);
  EXPECT_EQ(reach.sensitive_bytes(), 100U * kStride);
}

TEST_F(Reaching, SaysHowMuchCouldNotBeRead) {
  keep_live(1);
  set_root(0, block(0));
  program_.map_hole(kHeap + (Address{1} << 30), 8192);
  EXPECT_EQ(unreachable(), Numbers{});
  EXPECT_EQ(unread_bytes_, 8192U);
}

TEST_F(Reaching, ARegisterIsARoot) {
  keep_live(2);
  const BlockTable table(snapshot_);
  Roots roots = memory_roots(program_, snapshot_);
  roots.words = {0, block(1) + 8, ~Address{0}};
  Reach reach(program_, table, nullptr);
  reach.mark(roots);
  ASSERT_EQ(reach.unreachable().size(), 1U);
  EXPECT_EQ(reach.unreachable()[0].block, 0U);
}

TEST_F(Reaching, OnlyPagesThatHoldSomethingAreReadAsRoots) {
  keep_live(2);
  set_root(0, block(0));
  program_.map(0x70'0000, 8192);
  program_.write_word(0x70'1000, block(1));
  const BlockTable table(snapshot_);
  const Residency written({{kData, kData + 4096}, {0x70'0000, 0x70'1000}}, 0, 0);
  Reach reach(program_, table, &written);
  reach.mark(memory_roots(program_, snapshot_));
  EXPECT_EQ(reach.unreachable().size(), 1U);
}

// -- The table of blocks by address, against the snapshot's own search.

constexpr Address kBase = 0x7f00'0000'0000;

TEST(BlockTable, FindsABlockByItsFirstAndItsLastByteAndNotByTheGapBehindIt) {
  Snapshot snapshot;
  add_slab(snapshot, kBase, 48, 100);
  snapshot.spans[0].block_bytes = 40;
  const BlockTable table(snapshot);
  EXPECT_EQ(table.find(kBase + 48 * 7).block, 7U);
  EXPECT_EQ(table.find(kBase + 48 * 7 + 39).block, 7U);
  EXPECT_TRUE(table.find(kBase + 48 * 7 + 40).is_none());
  EXPECT_TRUE(table.find(kBase + 48 * 100).is_none());
  EXPECT_TRUE(table.find(kBase - 1).is_none());
  EXPECT_EQ(table.block_at({0, 7}).address, kBase + 48 * 7);
}

TEST(BlockTable, DoesNotFindBlocksThatAreFree) {
  Snapshot snapshot;
  add_slab(snapshot, kBase, 64, 100);
  end_block(snapshot, 0, 70);
  const BlockTable table(snapshot);
  EXPECT_TRUE(table.find(kBase + 64 * 70).is_none());
  EXPECT_FALSE(table.find(kBase + 64 * 71).is_none());
}

TEST(BlockTable, FindsBlocksOfManySizesInAMixedPage) {
  Snapshot snapshot;
  add_slab(snapshot, kBase, 0, 2);
  snapshot.spans[0].use = SpanUse::kMixedPage;
  snapshot.spans[0].bytes = 4096;
  snapshot.mixed_blocks = {{kBase + 64, 100, 0}, {kBase + 1000, 24, 0}};
  const BlockTable table(snapshot);
  EXPECT_TRUE(table.find(kBase).is_none());
  EXPECT_EQ(table.find(kBase + 163).block, 0U);
  EXPECT_TRUE(table.find(kBase + 164).is_none());
  EXPECT_EQ(table.block_at(table.find(kBase + 1023)).bytes, 24U);
}

TEST(BlockTable, FindsTheBlocksOfSpansThatShareAPageAndOfOneThatIsLargerThanItsSlots) {
  Snapshot snapshot;
  for (int i = 0; i < 16; ++i) {
    add_slab(snapshot, kBase + Address(i) * 4096, 64, 64);
    snapshot.spans.back().bytes = 4096;
  }
  const Address large = kBase + (Address{3} << 30), bytes = Address{13} << 30;
  add_large(snapshot, large, bytes);
  const BlockTable table(snapshot);
  EXPECT_EQ(table.find(kBase + 15 * 4096 + 65).span, 15U);
  for (Address at = large; at < large + bytes; at += Address{1} << 29) EXPECT_EQ(table.find(at).span, 16U);
  EXPECT_TRUE(table.find(large + bytes).is_none());
}

TEST(BlockTable, AgreesWithTheSnapshotOnRandomAddressesOfARandomHeap) {
  std::mt19937_64 random(20261124);
  Snapshot snapshot;
  Address next = kBase;
  for (int i = 0; i < 500; ++i) {
    next += kPageBytes * (random() % 3);
    const auto stride = static_cast<std::uint32_t>(16 * (1 + random() % 64));
    const std::uint32_t span =
        add_slab(snapshot, next, stride, static_cast<std::uint32_t>(kPageBytes / stride));
    for (std::uint64_t& word : snapshot.live_words) word = word & random();
    next = snapshot.spans[span].end();
  }
  const BlockTable table(snapshot);
  for (int i = 0; i < 100'000; ++i) {
    const Address address = kBase + random() % (next - kBase);
    const Block expected = snapshot.live_block_of(address);
    const BlockTable::Place place = table.find(address);
    ASSERT_EQ(place.span, expected.span) << std::hex << address;
    if (!place.is_none()) {
      ASSERT_EQ(table.block_at(place).address, expected.address);
    }
  }
}

TEST(BlockTable, OfAnEmptySnapshotFindsNothing) {
  const Snapshot snapshot;
  const BlockTable table(snapshot);
  EXPECT_TRUE(table.find(kBase).is_none());
  EXPECT_TRUE(table.find(0).is_none());
}

}  // namespace
}  // namespace tarn::observer::test
