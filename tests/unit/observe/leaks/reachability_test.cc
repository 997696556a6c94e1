// Marking over invented memory: nothing at these addresses exists.
#include "observe/leaks/reachability.h"

#include "support/prelude.h"

namespace tarn::internal {
namespace {

constexpr std::uint64_t kPage = 4096;

/// Words by their addresses; pages that are closed, and what was never written.
class Invented {
 public:
  void write(std::uint64_t address, std::uint64_t word) { words_[address] = word; }
  void close_page(std::uint64_t page) { closed_.insert(page); }

  MemoryReader reader() {
    return {[](void* context, const os::AddressRange* ranges, unsigned count, char* to) {
              return static_cast<Invented*>(context)->read(ranges, count, to);
            },
            [](void* context, os::AddressRange within) {
              return static_cast<Invented*>(context)->next_written(within);
            },
            this};
  }
  std::uint64_t read_bytes() const { return read_bytes_; }

 private:
  std::size_t read(const os::AddressRange* ranges, unsigned count, char* to) {
    std::size_t copied = 0;
    for (unsigned i = 0; i < count; ++i)
      for (std::uint64_t at = ranges[i].start; at < ranges[i].end; at += 8, copied += 8) {
        if (closed_.contains(at / kPage * kPage)) return copied;
        const auto word = words_.find(at);
        const std::uint64_t value = word == words_.end() ? 0 : word->second;
        std::memcpy(to + copied, &value, sizeof value);
        read_bytes_ += 8;
      }
    return copied;
  }
  os::AddressRange next_written(os::AddressRange within) {
    const auto word = words_.lower_bound(within.start);
    if (word == words_.end() || word->first >= within.end) return {within.end, within.end};
    const std::uint64_t page = word->first / kPage * kPage;
    return {std::max<std::uint64_t>(page, within.start), std::min<std::uint64_t>(page + kPage, within.end)};
  }

  std::map<std::uint64_t, std::uint64_t> words_;
  std::set<std::uint64_t> closed_;
  std::uint64_t read_bytes_ = 0;
};

class ReachabilityTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kRoots = 0x9000'0000, kRootBytes = 2 * kPage;

  void add(std::uint64_t start, std::uint64_t bytes) {
    ASSERT_TRUE(
        blocks.add({start, bytes, bytes, 0, LeakBlocks::kNone, 0, 0, Reached::kNo, true, false, false}));
  }
  std::set<std::uint64_t> lost_after_scan(std::uint64_t bytes = kRootBytes) {
    blocks.sort();
    EXPECT_TRUE(blocks.link());
    Reachability reach(blocks, memory.reader());
    EXPECT_TRUE(reach.begin());
    reach.scan({kRoots, kRoots + bytes});
    reach.finish();
    unread = reach.unread_bytes();
    std::set<std::uint64_t> lost;
    for (const LeakBlock& block : blocks)
      if (block.reached == Reached::kNo) lost.insert(block.start);
    return lost;
  }
  using Lost = std::set<std::uint64_t>;

  Invented memory;
  LeakBlocks blocks;
  std::uint64_t unread = 0;
};

TEST_F(ReachabilityTest, WhatARootPointsToIsReachedAlsoByItsInside) {
  for (std::uint64_t i = 0; i < 4; ++i) add(0x10000 + i * 64, 64);
  memory.write(kRoots, 0x10000);
  memory.write(kRoots + 800, 0x10000 + 64 + 63);
  EXPECT_EQ(lost_after_scan(), (Lost{0x10000 + 128, 0x10000 + 192}));
}

TEST_F(ReachabilityTest, APointerBehindTheEndReachesNothing) {
  add(0x10000, 48);
  memory.write(kRoots, 0x10000 + 48);
  EXPECT_EQ(lost_after_scan(), Lost{0x10000});
}

TEST_F(ReachabilityTest, AddressesWithTagsInTheirUpperBitsCount) {
  add(0x10000, 64);
  memory.write(kRoots, 0x10000 | std::uint64_t{0xfff8} << 48);
  EXPECT_EQ(lost_after_scan(), Lost{});
}

TEST_F(ReachabilityTest, ALongListIsFollowedToItsEnd) {
  constexpr std::uint64_t kNodes = 100'000;
  for (std::uint64_t i = 0; i < kNodes; ++i) {
    add(0x1000'0000 + i * 32, 32);
    if (i + 1 < kNodes) memory.write(0x1000'0000 + i * 32 + 8, 0x1000'0000 + (i + 1) * 32);
  }
  memory.write(kRoots + 8, 0x1000'0000);
  EXPECT_EQ(lost_after_scan(), Lost{});
}

TEST_F(ReachabilityTest, ACircleThatNothingPointsToIsLost) {
  add(0x10000, 64);
  add(0x20000, 64);
  memory.write(0x10008, 0x20000);
  memory.write(0x20008, 0x10000);
  EXPECT_EQ(lost_after_scan(), (Lost{0x10000, 0x20000}));
}

TEST_F(ReachabilityTest, WhatLiesInABlockIsNoRootThoughItsMappingIsOne) {
  add(kRoots + 64, 64);
  add(0x10000, 64);
  memory.write(kRoots + 72, 0x10000);  // of a lost block in the program's own memory
  EXPECT_EQ(lost_after_scan(), (Lost{kRoots + 64, 0x10000}));
}

TEST_F(ReachabilityTest, AReachedBlockLeadsOnButNotByWhatIsInItsBlocks) {
  add(0x10000, 0x1000);
  add(0x10100, 64);
  add(0x20000, 64);
  add(0x30000, 64);
  memory.write(kRoots, 0x10000);
  memory.write(0x10108, 0x20000);  // in the inner block, which nothing points to
  memory.write(0x10800, 0x30000);
  EXPECT_EQ(lost_after_scan(), (Lost{0x10100, 0x20000}));
}

TEST_F(ReachabilityTest, APointerToAnInnerBlockReachesWhatItLiesIn) {
  add(0x10000, 0x1000);
  add(0x10100, 64);
  memory.write(kRoots, 0x10108);
  EXPECT_EQ(lost_after_scan(), Lost{});
}

TEST_F(ReachabilityTest, PagesThatCannotBeReadAreLeftOutAndCounted) {
  add(0x10000, 64);
  add(0x20000, 64);
  memory.write(kRoots, 0x10000);
  memory.close_page(kRoots);
  memory.write(kRoots + kPage, 0x20000);
  EXPECT_EQ(lost_after_scan(), Lost{0x10000});
  EXPECT_EQ(unread, kPage);
}

TEST_F(ReachabilityTest, ClosedPagesOfBlocksHideNoOthers) {
  for (std::uint64_t i = 0; i < 100; ++i) {
    add(0x100'0000 + i * kPage, kPage);
    memory.write(kRoots + i * 8, 0x100'0000 + i * kPage);
    if (i % 3 == 0) memory.close_page(0x100'0000 + i * kPage);
  }
  add(0x10000, 64);
  memory.write(0x100'0000 + 1 * kPage + 16, 0x10000);
  EXPECT_EQ(lost_after_scan(), Lost{});
  EXPECT_EQ(unread, 34 * kPage);
}

TEST_F(ReachabilityTest, OfALargeRangeOnlyWrittenPagesAreRead) {
  constexpr std::uint64_t kLarge = std::uint64_t{1} << 30;
  add(0x10000, 64);
  memory.write(kRoots + kLarge / 2, 0x10000);
  EXPECT_EQ(lost_after_scan(kLarge), Lost{});
  EXPECT_LE(memory.read_bytes(), 2 * kPage);
}

TEST_F(ReachabilityTest, LaterMarksAreTold) {
  add(0x10000, 64);
  add(0x20000, 64);
  memory.write(0x10008, 0x20000);
  blocks.sort();
  ASSERT_TRUE(blocks.link());
  Reachability reach(blocks, memory.reader());
  ASSERT_TRUE(reach.begin());
  reach.finish();
  reach.go_on_as(Reached::kFromSuppressed);
  reach.reach(0);
  reach.finish();
  EXPECT_EQ(blocks[0].reached, Reached::kFromSuppressed);
  EXPECT_EQ(blocks[1].reached, Reached::kFromSuppressed);
}

}  // namespace
}  // namespace tarn::internal
