// Which leaks are direct, who keeps whom, and what several looks agree on.
#include "observer/leaks/leaks.h"

#include <gtest/gtest.h>

#include "fake_program.h"

namespace tarn::observer::test {
namespace {

constexpr Address kHeap = 0x7f00'0000'0000;
constexpr std::uint32_t kStride = 64;

/// A slab whose blocks are all lost, with pointers among them.
class Lost : public ::testing::Test {
 protected:
  explicit Lost(std::uint32_t blocks = 6) {
    program_.map(kHeap, kPageBytes);
    add_slab(snapshot_, kHeap, kStride, blocks);
  }
  static Address block(std::uint32_t number) { return kHeap + Address{number} * kStride; }
  void point(std::uint32_t from, std::uint32_t to) { program_.write_word(block(from) + 16, block(to) + 8); }
  Look look() const { return look_for_leaks(program_, snapshot_, {}); }
  std::vector<std::uint32_t> keepers() const { return keepers_of(program_, look().suspects); }

  FakeProgram program_;
  Snapshot snapshot_;
};

using Numbers = std::vector<std::uint32_t>;

TEST_F(Lost, BlocksWithoutPointersAreAllDirect) { EXPECT_EQ(keepers(), (Numbers{0, 1, 2, 3, 4, 5})); }

TEST_F(Lost, AChainIsKeptByItsHead) {
  point(5, 3);
  point(3, 4);
  EXPECT_EQ(keepers(), (Numbers{0, 1, 2, 5, 5, 5}));
}

TEST_F(Lost, ACircleIsKeptByItsLowestBlock) {
  point(4, 2);
  point(2, 3);
  point(3, 4);
  EXPECT_EQ(keepers(), (Numbers{0, 1, 2, 2, 2, 5}));
}

TEST_F(Lost, ACircleBehindADirectLeakIsKeptByThatOne) {
  point(1, 2);
  point(2, 1);
  point(5, 1);
  EXPECT_EQ(keepers(), (Numbers{0, 5, 5, 3, 4, 5}));
}

TEST_F(Lost, ABlockThatPointsToItselfIsDirect) {
  point(2, 2);
  EXPECT_EQ(keepers()[2], 2U);
}

TEST_F(Lost, TheReportSumsUpBySizeAndPool) {
  point(5, 3);
  ClassNames names(program_);
  const LeaksByClass report = group_leaks(program_, snapshot_, look().suspects, names);
  ASSERT_EQ(report.groups.size(), 1U);
  EXPECT_EQ(report.groups[0].block_bytes, kStride);
  EXPECT_EQ(report.direct.blocks, 5U);
  EXPECT_EQ(report.indirect.blocks, 1U);
  EXPECT_EQ(report.groups[0].kept.bytes, kStride);
  EXPECT_EQ(report.bytes(), 6U * kStride);
}

TEST_F(Lost, OnlyWhatTwoLooksFindWithTheSameFirstBytesIsConfirmed) {
  const std::vector<Suspect> first = look().suspects;
  program_.write_word(block(1) + 24, 1);  // within the first bytes
  program_.write_word(block(2) + 32, 1);  // behind them
  end_block(snapshot_, 0, 4);
  const std::vector<Suspect> both = confirmed(first, look());
  ASSERT_EQ(both.size(), 4U);
  EXPECT_EQ(both[1].block.address, block(2));
}

TEST_F(Lost, WhatALaterSnapshotHasFreeOrChangedIsDropped) {
  const std::vector<Suspect> suspects = look().suspects;
  end_block(snapshot_, 0, 0);
  program_.write_word(block(5), 1);
  const std::vector<Suspect> live = still_live(program_, snapshot_, suspects);
  ASSERT_EQ(live.size(), 4U);
  EXPECT_EQ(live.front().block.address, block(1));
}

}  // namespace
}  // namespace tarn::observer::test
