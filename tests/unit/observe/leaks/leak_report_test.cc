#include "observe/leaks/leak_report.h"

#include <gnu/libc-version.h>
#include <gtest/gtest.h>

#include <string>

namespace tarn::internal {
namespace {

class LeakGroupsTest : public ::testing::Test {
 protected:
  void add(std::uint32_t stack, std::uint64_t requested, std::uint16_t pool = 0,
           Reached reached = Reached::kNo, bool is_sampled = true) {
    at += 0x100000;
    ASSERT_TRUE(blocks.add(
        {at, requested, requested, stack, LeakBlocks::kNone, 0, pool, reached, is_sampled, false, false}));
  }

  std::uint64_t at = 0;
  LeakBlocks blocks;
  LeakGroups groups;
};

TEST_F(LeakGroupsTest, BlocksOfOneStackAreOneGroupAndTheLargestComesFirst) {
  for (int i = 0; i < 3; ++i) add(1, 100);
  add(2, 1000);
  add(1, 50);
  ASSERT_TRUE(groups.make(blocks, Reached::kNo));
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups.begin()[0].stack, 2u);
  const LeakGroup& second = groups.begin()[1];
  EXPECT_EQ(second.blocks, 4u);
  EXPECT_EQ(second.bytes, 350u);
  EXPECT_EQ(second.least_bytes, 50u);
  EXPECT_EQ(second.most_bytes, 100u);
  EXPECT_EQ(groups.sum().blocks, 5u);
  EXPECT_EQ(groups.sum().bytes, 1350u);
}

TEST_F(LeakGroupsTest, OtherMarksAndBlocksWithoutASampleAreLeftOut) {
  add(1, 100, 0, Reached::kFromProgram);
  add(1, 100, 0, Reached::kFromSuppressed);
  add(1, 100, 0, Reached::kNo, false);
  ASSERT_TRUE(groups.make(blocks, Reached::kNo));
  EXPECT_EQ(groups.size(), 0u);
  ASSERT_TRUE(groups.make(blocks, Reached::kFromSuppressed));
  EXPECT_EQ(groups.sum().blocks, 1u);
}

TEST_F(LeakGroupsTest, AStackHasAGroupForEachPool) {
  add(1, 100, 0);
  add(1, 100, 1);
  ASSERT_TRUE(groups.make(blocks, Reached::kNo));
  EXPECT_EQ(groups.size(), 2u);
}

TEST(LeakWriter, AGroupIsToldByItsSumItsSizesAndItsPool) {
  const LeakPool pools[] = {{"", ""}, {"heap", "plugin"}};
  const LoadedModules none(nullptr, 0);
  const LeakWriter report(none, pools);
  const auto text_of = [&](const LeakGroup& group) {
    FixedText<256> text;
    report.add_group(text, group);
    return std::string(text.data(), text.length());
  };
  EXPECT_EQ(text_of({1, 72, 72, 72, 1, 0}), "72 bytes in 1 block of 72 B\n");
  EXPECT_EQ(text_of({1500, 1'234'567, 8, 2048, 1, 1}),
            "1,234,567 bytes in 1,500 blocks of 8 B to 2 KiB from heap \"plugin\"\n");
}

TEST(LeakWriter, AFrameIsAFileAndAnOffsetWithItsFunctionIfThatIsExported) {
  LoadedModule storage[64];
  LoadedModules modules(storage, 64);
  modules.note_all();
  const LeakWriter report(modules, nullptr);
  const auto text_of = [&](std::uint64_t address) {
    FixedText<1024> text;
    report.add_frame(text, "by", 0, address);
    return std::string(text.data(), text.length());
  };
  EXPECT_EQ(text_of(0x10), "    by 0x10\n");
  const std::string of_libc = text_of(reinterpret_cast<std::uint64_t>(&gnu_get_libc_version));
  EXPECT_TRUE(of_libc.starts_with("    by gnu_get_libc_version (/")) << of_libc;
  EXPECT_TRUE(of_libc.find("libc.so.6+0x") != std::string::npos && of_libc.ends_with(")\n")) << of_libc;
}

}  // namespace
}  // namespace tarn::internal
