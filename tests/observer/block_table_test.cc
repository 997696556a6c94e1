// The table of blocks by address, against the snapshot's own search.
#include "observer/leaks/block_table.h"

#include <gtest/gtest.h>

#include <random>

#include "fake_program.h"

namespace tarn::observer::test {
namespace {

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
