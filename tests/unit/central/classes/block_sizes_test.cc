#include "central/classes/block_sizes.h"

#include <gtest/gtest.h>

#include <string>

namespace tarn::internal {
namespace {

const std::string kHeading = "tarn-classes 1\n";

std::string fault_of(const std::string& text) {
  BlockSizes sizes;
  BlockSizesFault fault;
  if (read_block_sizes(text, sizes, fault)) return "";
  return std::to_string(fault.line) + ": " + std::string(fault.what.data(), fault.what.length());
}

std::string text_of(const BlockSizes& sizes, const std::string& between = "\n") {
  std::string text = kHeading;
  for (const std::uint32_t bytes : sizes) text += std::to_string(bytes) + between;
  return text;
}

/// Sizes from `first` on in equal steps.
std::string steps(unsigned first, unsigned step, unsigned count) {
  std::string text;
  for (unsigned i = 0; i < count; ++i) text += std::to_string(first + i * step) + "\n";
  return text;
}

TEST(BlockSizes, AFileOfEachPresetIsReadAsThePreset) {
  for (const SizeClassPreset& preset : kSizeClassPresets) {
    const BlockSizes wanted = sizes_of_preset(preset);
    BlockSizes sizes;
    BlockSizesFault fault;
    ASSERT_TRUE(read_block_sizes(text_of(wanted), sizes, fault)) << fault_of(text_of(wanted));
    EXPECT_TRUE(std::equal(sizes.begin(), sizes.end(), wanted.begin(), wanted.end())) << preset.name;
    EXPECT_EQ(sizes.medium_count(), wanted.medium_count());
  }
}

TEST(BlockSizes, CommentsSpacesAndCarriageReturnsStandBetweenSizes) {
  EXPECT_EQ(
      fault_of("# made by hand\r\n\r\ntarn-classes 1 # heading\r\n16\t32\r\n32768# a comment\r\n262144"), "");
  EXPECT_EQ(fault_of(text_of(sizes_of_preset(kSizeClassPresets[0]), "\r\n")), "");
}

TEST(BlockSizes, FewClassesAreATableToo) { EXPECT_EQ(fault_of(kHeading + "32768 262144"), ""); }

TEST(BlockSizes, FinerStepsThanBinsAreClasses) {
  EXPECT_EQ(fault_of(kHeading + "1024 1088 1152 4416 4480 32768 262144"), "");
}

TEST(BlockSizes, SaysWhatIsNoTableAndWhere) {
  EXPECT_EQ(fault_of(""), "1: the first line must be 'tarn-classes 1'");
  EXPECT_EQ(fault_of("# nothing\n"), "2: the first line must be 'tarn-classes 1'");
  EXPECT_EQ(fault_of("16 32"), "1: the first line must be 'tarn-classes 1'");
  EXPECT_EQ(fault_of(std::string("\x7f"
                                 "ELF\0\1",
                                 6)),
            "1: the first line must be 'tarn-classes 1'");
  EXPECT_EQ(fault_of("tarn-classes 2\n16"), "1: version '2' is none that this library reads, which is 1");
  EXPECT_EQ(fault_of("tarn-classes"), "1: version '' is none that this library reads, which is 1");
}

TEST(BlockSizes, SaysWhichWordIsNoSizeAndWhere) {
  EXPECT_EQ(fault_of(kHeading + "16\nlarge"), "3: 'large' is no block size");
  EXPECT_EQ(fault_of(kHeading + "-16"), "2: '-16' is no block size");
  EXPECT_EQ(fault_of(kHeading + "4294967312"), "2: '4294967312' is no block size");
  EXPECT_EQ(fault_of(kHeading + std::string("1\0006", 3)), "2: '1?6' is no block size");
  EXPECT_EQ(fault_of(kHeading + std::string(100, 'x')), "2: 'xxxxxxxxxxxxxxxxxxxxxxxx...' is no block size");
}

TEST(BlockSizes, SaysWhichSizeMayBeNoClassAndWhy) {
  EXPECT_EQ(fault_of(kHeading + "16\n\n24"), "4: 24 is no multiple of 16, as sizes but 8 are");
  EXPECT_EQ(fault_of(kHeading + "0"), "2: 0 is no multiple of 16, as sizes but 8 are");
  EXPECT_EQ(fault_of(kHeading + "1040"), "2: 1040 is no multiple of 64, as sizes above 1024 are");
  EXPECT_EQ(fault_of(kHeading + "16448"), "2: 16448 is no class: above 16384 the next is 18432");
  EXPECT_EQ(fault_of(kHeading + "262208"), "2: 262208 is larger than 262144, the largest class");
}

TEST(BlockSizes, RefusesSizesThatDoNotAscend) {
  EXPECT_EQ(fault_of(kHeading + "32\n16"), "3: 16 follows 32, but sizes ascend");
  EXPECT_EQ(fault_of(kHeading + "32 32"), "2: 32 follows 32, but sizes ascend");
}

TEST(BlockSizes, RefusesATableThatLeavesRequestsWithoutAClass) {
  EXPECT_EQ(fault_of(kHeading + "16 32768"), "2: 262144 is missing, which each table has");
  EXPECT_EQ(fault_of(kHeading + "16 36864"), "2: 32768 is missing, which each table has");
  EXPECT_EQ(fault_of(kHeading), "2: 32768 is missing, which each table has");
}

TEST(BlockSizes, AFileThatEndsEarlyIsRefusedWhereverItEnds) {
  const std::string whole = text_of(sizes_of_preset(kSizeClassPresets[0]));
  const std::size_t last = whole.size() - std::string("\n").size();
  for (std::size_t length = 0; length < last; ++length)
    ASSERT_NE(fault_of(whole.substr(0, length)), "") << length;
  EXPECT_EQ(fault_of(whole.substr(0, last)), "");
}

TEST(BlockSizes, SixtyFourClassesMayBeFinerThanBinsAndNoMore) {
  EXPECT_EQ(fault_of(kHeading + steps(1088, 64, 64) + "32768 262144"), "");
  EXPECT_EQ(fault_of(kHeading + steps(1088, 64, 65) + "32768 262144"),
            "66: 5184 is one too many: at most 64 classes are above 1024 and up to 16384");
}

TEST(BlockSizes, ASizeMayBeAClassWhenATableOfItAndTheRequiredOnesIsRead) {
  for (std::uint32_t bytes = 0; bytes <= 300000; bytes += 8) {
    std::string text = kHeading;
    if (bytes < 32768) text += std::to_string(bytes) + " ";
    text += "32768 ";
    if (bytes > 32768 && bytes < 262144) text += std::to_string(bytes) + " ";
    text += "262144 ";
    if (bytes > 262144) text += std::to_string(bytes);
    ASSERT_EQ(fault_of(text).empty(), may_be_class(bytes)) << bytes;
  }
}

}  // namespace
}  // namespace tarn::internal
