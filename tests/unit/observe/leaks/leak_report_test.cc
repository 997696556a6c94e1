#include "observe/leaks/leak_report.h"

#include <stdlib.h>

#include "observe/leaks/leak_blocks.h"
#include "support/prelude.h"

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
  const std::string of_libc = text_of(reinterpret_cast<std::uint64_t>(&a64l));
  EXPECT_TRUE(of_libc.starts_with("    by a64l (/")) << of_libc;
  EXPECT_TRUE(of_libc.find("libc.so.6+0x") != std::string::npos && of_libc.ends_with(")\n")) << of_libc;
}

std::string pattern_of(const LeakSuppressions::Known* known) {
  return known == nullptr ? "none" : std::string(known->pattern);
}

TEST(LeakSuppressions, AreFoundInFilesAndFunctions) {
  LeakSuppressions known;
  known.parse("# known\nleak:libold.so\n\nleak:^lose_*_quest$\r\n", "known.txt");
  EXPECT_EQ(pattern_of(known.find_in("/usr/lib/libold.so.3", nullptr)), "libold.so");
  EXPECT_EQ(pattern_of(known.find_in("/bin/server", "lose_a_quest")), "^lose_*_quest$");
  EXPECT_EQ(pattern_of(known.find_in("/bin/server", "lose_a_questline")), "none");
  EXPECT_EQ(pattern_of(known.find_in(nullptr, nullptr)), "none");
}

TEST(LeakSuppressions, LinesThatAreNoneCostALineEach) {
  LeakSuppressions known;
  testing::internal::CaptureStderr();
  known.parse("race:a\nleak:*\nleak:good", "known.txt");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "tarn: known.txt:1: no suppression: write leak:PATTERN, or # before a comment\n"
            "tarn: known.txt:2: the pattern would suppress every leak\n");
  EXPECT_EQ(pattern_of(known.find_in("good", nullptr)), "good");
}

TEST(LeakSuppressions, AFileThatIsNotThereSuppressesNothing) {
  LeakSuppressions known;
  testing::internal::CaptureStderr();
  known.read("/nowhere/known.txt");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "tarn: /nowhere/known.txt: cannot be read; no leak is suppressed\n");
  EXPECT_FALSE(known.has_any());
  known.read("");
  EXPECT_FALSE(known.has_any());
}

char known_block;

TEST(LeakSuppressions, AStackIsKnownByAnyOfItsFrames) {
  LoadedModule storage[64];
  LoadedModules modules(storage, 64);
  modules.note_all();
  samples.add({&known_block, 1, 1});  // of this stack, which the C library has begun
  std::uint32_t number = 0;
  samples.for_each([&](const Sample& sample) { number = sample.stack; });
  LeakSuppressions known;
  known.parse("leak:libnothere\nleak:libc.so\nleak:libc\n", "known.txt");
  EXPECT_EQ(pattern_of(known.find(number, modules)), "libc.so");
}

TEST(ExportedFunction, HasItsName) {
  EXPECT_STREQ(exported_function(reinterpret_cast<std::uint64_t>(&std::abort)), "abort");
  EXPECT_EQ(exported_function(0x10), nullptr);
}

constexpr std::uint32_t kNone = LeakBlocks::kNone;

LeakBlock block_at(std::uint64_t start, std::uint64_t bytes) {
  return {start, bytes, bytes, 0, kNone, 0, 0, Reached::kNo, false, false, false};
}

Sample sample_of(std::uint64_t block, std::uint64_t requested) {
  return {block, requested, 9, SampleLasts::kUntilFree, 5, 1, 0, 0};
}

void put_in_order(LeakBlocks& blocks, std::initializer_list<LeakBlock> added) {
  for (const LeakBlock& block : added) ASSERT_TRUE(blocks.add(block));
  blocks.sort();
  ASSERT_TRUE(blocks.link());
}

using Gaps = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

void note_samples(LeakBlocks& blocks, std::initializer_list<Sample> samples) {
  blocks.note_samples([&](std::uint64_t block, Sample& copy) {
    const auto found = std::ranges::find(samples, block, &Sample::block);
    if (found != samples.end()) copy = *found;
    return found != samples.end();
  });
}

Gaps gaps_in(const LeakBlocks& blocks, std::uint64_t start, std::uint64_t end, std::uint32_t outer = kNone) {
  Gaps gaps;
  blocks.for_each_gap(start, end, outer,
                      [&](std::uint64_t from, std::uint64_t to) { gaps.emplace_back(from, to); });
  return gaps;
}

TEST(LeakBlocks, AreFoundByAnyAddressInsideAndNoOther) {
  LeakBlocks blocks;
  put_in_order(blocks, {block_at(0x70000, 0x20000), block_at(0x1000, 16), block_at(0x2000, 48)});
  EXPECT_EQ(blocks.find(0x1000), 0u);
  EXPECT_EQ(blocks.find(0x100f), 0u);
  EXPECT_EQ(blocks.find(0x1010), kNone);
  EXPECT_EQ(blocks.find(0xfff), kNone);
  EXPECT_EQ(blocks.find(0x202f), 1u);
  EXPECT_EQ(blocks.find(0x8ffff), 2u);
  EXPECT_EQ(blocks.find(0x90000), kNone);
  EXPECT_EQ(blocks.find(0), kNone);
  EXPECT_EQ(blocks.find(~std::uint64_t{0}), kNone);
}

TEST(LeakBlocks, AreFoundAsASearchOfAllFindsThem) {
  std::mt19937_64 random(7);
  LeakBlocks blocks;
  std::vector<LeakBlock> all;
  for (std::uint64_t at = 0x5000'0000; all.size() < 3000; at += 16 + random() % (1 << 18)) {
    all.push_back(block_at(at, 16 + random() % 4096 / 16 * 16));
    at += all.back().bytes;
    ASSERT_TRUE(blocks.add(all.back()));
  }
  blocks.sort();
  ASSERT_TRUE(blocks.link());
  for (int i = 0; i < 20'000; ++i) {
    const LeakBlock& near = all[random() % all.size()];
    const std::uint64_t address = near.start + random() % (near.bytes + 64) - 32;
    std::uint32_t expected = kNone;
    for (std::uint32_t n = 0; n < all.size(); ++n)
      if (all[n].contains(address)) expected = n;
    ASSERT_EQ(blocks.find(address), expected) << std::hex << address;
  }
}

TEST(LeakBlocks, ABlockInABlockIsFoundFirst) {
  LeakBlocks blocks;
  put_in_order(blocks, {block_at(0x10000, 0x1000), block_at(0x10000, 64), block_at(0x10800, 0x100),
                        block_at(0x10840, 16)});
  EXPECT_EQ(blocks.find(0x10000), 1u);
  EXPECT_EQ(blocks.find(0x10040), 0u);
  EXPECT_EQ(blocks.find(0x10848), 3u);
  EXPECT_EQ(blocks.find(0x10850), 2u);
  EXPECT_EQ(blocks.find(0x10fff), 0u);
  EXPECT_EQ(blocks[3].around, 2u);
  EXPECT_EQ(blocks[2].around, 0u);
  EXPECT_EQ(blocks[0].around, kNone);
  EXPECT_TRUE(blocks[0].has_inner);
  EXPECT_FALSE(blocks[1].has_inner);
}

TEST(LeakBlocks, GapsAreWhereNoBlockLies) {
  LeakBlocks blocks;
  put_in_order(blocks, {block_at(0x1000, 0x100), block_at(0x1100, 0x100), block_at(0x2000, 0x1000),
                        block_at(0x2400, 0x100)});
  EXPECT_EQ(gaps_in(blocks, 0x800, 0x4000), (Gaps{{0x800, 0x1000}, {0x1200, 0x2000}, {0x3000, 0x4000}}));
  EXPECT_EQ(gaps_in(blocks, 0x1080, 0x1300), (Gaps{{0x1200, 0x1300}})) << "it begins within a block";
  EXPECT_EQ(gaps_in(blocks, 0x2480, 0x2800), Gaps{}) << "in an inner one, which ends before its outer one";
  EXPECT_EQ(gaps_in(blocks, 0x2000, 0x3000, 2), (Gaps{{0x2000, 0x2400}, {0x2500, 0x3000}}));
}

TEST(LeakBlocks, NoneAreFoundWhereThereAreNone) {
  LeakBlocks blocks;
  put_in_order(blocks, {});
  EXPECT_EQ(blocks.find(0), kNone);
  EXPECT_EQ(blocks.find(0x1000), kNone);
  EXPECT_EQ(gaps_in(blocks, 0x1000, 0x2000), (Gaps{{0x1000, 0x2000}}));
}

TEST(LeakBlocks, ASampleOfARunIsOfAllItsBlocks) {
  LeakBlocks blocks;
  for (std::uint64_t i = 0; i < 4; ++i) ASSERT_TRUE(blocks.add(block_at(0x1000 + i * 64, 64)));
  blocks.sort();
  note_samples(blocks, {sample_of(0x1000, 192)});
  ASSERT_TRUE(blocks.link());
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].bytes, 192u);
  EXPECT_EQ(blocks[0].stack, 9u);
  EXPECT_EQ(blocks[0].serial, 5u);
  EXPECT_EQ(blocks.find(0x10bf), 0u);
  EXPECT_FALSE(blocks[1].is_sampled);
}

TEST(LeakBlocks, ARunEndsBeforeABlockWithASampleOfItsOwn) {
  LeakBlocks blocks;
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_TRUE(blocks.add(block_at(0x1000 + i * 64, 64)));
  blocks.sort();
  note_samples(blocks, {sample_of(0x1000, 192), sample_of(0x1080, 60)});
  ASSERT_TRUE(blocks.link());
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].bytes, 128u);
  EXPECT_EQ(blocks[1].requested, 60u);
}

TEST(LeakBlocks, ASampleIsOfTheInnermostBlockThatBeginsThere) {
  LeakBlocks blocks;
  ASSERT_TRUE(blocks.add(block_at(0x1000, 4096)));
  ASSERT_TRUE(blocks.add(block_at(0x1000, 64)));
  blocks.sort();
  note_samples(blocks, {sample_of(0x1000, 50)});
  ASSERT_TRUE(blocks.link());
  EXPECT_FALSE(blocks[0].is_sampled);
  EXPECT_EQ(blocks[1].requested, 50u);
}

TEST(LeakBlocks, ASampleSaysWhatWasAskedForUnlessTheBlockHasGrown) {
  LeakBlocks blocks;
  ASSERT_TRUE(blocks.add(block_at(0x10000, 112)));
  ASSERT_TRUE(blocks.add(block_at(0x100000, 0x200000)));
  blocks.sort();
  note_samples(blocks, {sample_of(0x10000, 100), sample_of(0x100000, 300'000)});
  ASSERT_TRUE(blocks.link());
  EXPECT_EQ(blocks[0].requested, 100u);
  EXPECT_EQ(blocks[0].bytes, 112u);
  EXPECT_EQ(blocks[1].requested, 0x200000u);
}

}  // namespace
}  // namespace tarn::internal
