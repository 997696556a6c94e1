// The census on memory made by hand.
#include "observer/objects/census.h"

#include <gtest/gtest.h>

#include "fake_program.h"

namespace tarn::observer::test {
namespace {

constexpr Address kHeap = 0x7f00'0000'0000, kFile = 0x40'0000;

/// A file with a virtual table of Quest, and a slab of 100 blocks of 48 bytes.
class Counted : public ::testing::Test {
 protected:
  static constexpr Address kTable = kFile + 0x110, kType = kFile + 0x200, kTypeTable = kFile + 0x310,
                           kTypeOfType = kFile + 0x400;
  Counted() {
    program_.map(kFile, 4096, "/bin/program", false);
    program_.write_word(kTable - 8, kType);
    program_.write_word(kType, kTypeTable);
    program_.write_word(kType + 8, kFile + 0x800);
    program_.write_word(kTypeTable - 8, kTypeOfType);
    program_.write_word(kTypeOfType, kTypeTable);
    program_.write_word(kTypeOfType + 8, kFile + 0x900);
    program_.write_text(kFile + 0x800, "5Quest");
    program_.write_text(kFile + 0x900, "N10__cxxabiv120__si_class_type_infoE");
    program_.map(kHeap, 8 * kPageBytes);
    add_slab(snapshot_, kHeap, 48, 100);
  }
  void make_quest(std::uint32_t number) { program_.write_word(kHeap + Address{number} * 48, kTable); }
  Census census(Contents contents = Contents::kRead) {
    ClassNames names(program_);
    return take_census(program_, snapshot_, names, contents);
  }

  FakeProgram program_;
  Snapshot snapshot_;
};

TEST_F(Counted, BlocksAreCountedByClassAndTheOthersBySize) {
  for (std::uint32_t i = 0; i < 60; ++i) make_quest(i);
  end_block(snapshot_, 0, 0);
  const Census counted = census();
  ASSERT_EQ(counted.groups.size(), 2U);
  EXPECT_EQ(counted.groups[0].class_name, "Quest");
  EXPECT_EQ(counted.groups[0].blocks, 59U);
  EXPECT_EQ(counted.groups[1].block_bytes, 48U);
  EXPECT_EQ(counted.groups[1].bytes, 40U * 48);
  EXPECT_EQ(counted.class_blocks, 59U);
  EXPECT_EQ(counted.blocks, 99U);
}

TEST_F(Counted, WithoutContentsAllAreCountedBySize) {
  make_quest(1);
  const Census counted = census(Contents::kLeave);
  ASSERT_EQ(counted.groups.size(), 1U);
  EXPECT_FALSE(counted.groups[0].is_class());
  EXPECT_EQ(counted.groups[0].blocks, 100U);
}

TEST_F(Counted, BlocksOfPoolsAreCountedUnderTheirPools) {
  make_quest(1);
  add_slab(snapshot_, kHeap + kPageBytes, 48, 10);
  snapshot_.spans[1].pool = add_pool(snapshot_, "quests");
  program_.write_word(kHeap + kPageBytes, kTable);
  const Census counted = census();
  ASSERT_EQ(counted.groups.size(), 4U);
  EXPECT_EQ(counted.groups[1].pool, "quests");
  EXPECT_EQ(counted.groups[1].blocks, 9U);
}

TEST_F(Counted, SensitivePoolsAreNotRead) {
  add_slab(snapshot_, kHeap + kPageBytes, 48, 10);
  snapshot_.spans[1].pool = add_pool(snapshot_, "keys", true);
  program_.write_word(kHeap + kPageBytes, kTable);
  const Census counted = census();
  EXPECT_EQ(counted.class_blocks, 0U);
  EXPECT_EQ(counted.sensitive_blocks, 10U);
}

TEST_F(Counted, LargeBlocksAreCountedByPowersOfTwo) {
  add_large(snapshot_, kHeap + 2 * kPageBytes, 70'000);
  add_large(snapshot_, kHeap + 4 * kPageBytes, 100'000);
  const Census counted = census();
  ASSERT_EQ(counted.groups.size(), 2U);
  EXPECT_EQ(counted.groups[0].block_bytes, 131'072U);
  EXPECT_EQ(counted.groups[0].bytes, 170'000U);
}

TEST_F(Counted, BlocksThatCannotBeReadAreCountedBySizeAndTold) {
  add_slab(snapshot_, kHeap + (Address{1} << 30), 64, 5);
  const Census counted = census();
  EXPECT_EQ(counted.unread_bytes, 5U * 8);
  EXPECT_EQ(counted.blocks, 105U);
}

TEST(Growth, ComparesGroupsByTheirNames) {
  const std::vector<CensusGroup> before = {
      {"Quest", 0, "", 10, 480}, {"", 64, "", 5, 320}, {"Gone", 0, "", 1, 9}};
  const std::vector<CensusGroup> now = {
      {"Quest", 0, "", 30, 1440}, {"", 64, "", 5, 320}, {"Quest", 0, "p", 1, 48}};
  const std::vector<Growth> growth = growth_since(before, now);
  ASSERT_EQ(growth.size(), 3U);
  EXPECT_EQ(growth[0].blocks, 20);
  EXPECT_EQ(growth[0].bytes, 960);
  EXPECT_EQ(growth[1].group.pool, "p");
  EXPECT_EQ(growth[2].group.class_name, "Gone");
  EXPECT_EQ(growth[2].bytes, -9);
}

}  // namespace
}  // namespace tarn::observer::test
