#include "central/classes/class_table.h"

#include "central/classes/block_sizes.h"
#include "support/prelude.h"

namespace tarn::internal {
namespace {

BlockSizes list_of(const std::set<std::uint32_t>& sizes) {
  BlockSizes list;
  for (const std::uint32_t bytes : sizes) list.add(bytes);
  return list;
}

/// A table as a file may have it.
BlockSizes random_sizes(std::mt19937& random) {
  std::set<std::uint32_t> sizes{32768, 262144};
  const unsigned one_in = 1 + random() % 12;
  for (std::uint32_t bytes = 8; bytes <= detail::kSmallLimit; bytes += 8)
    if (may_be_class(bytes) && random() % one_in == 0) sizes.insert(bytes);
  for (unsigned bin = detail::kFirstCoarseBin; bin < detail::kTinyBin; ++bin)
    if (random() % one_in == 0) sizes.insert(bin_limit(Bin{bin}));
  const std::uint32_t start = 1024 + 64 * static_cast<std::uint32_t>(random() % 200);
  for (unsigned i = 0, count = random() % 65; i < count; ++i) {
    const std::uint32_t bytes = random() % 2 == 0 ? start + 64 * (i + 1) : 1088 + 64 * (random() % 240);
    if (bytes <= detail::kSteppedLimit) sizes.insert(bytes);
  }
  return list_of(sizes);
}

/// The size that a list has for a request.
std::uint32_t smallest_that_holds(const BlockSizes& sizes, std::size_t request) {
  return *std::find_if(sizes.begin(), sizes.end(), [&](std::uint32_t bytes) { return bytes >= request; });
}

void expect_table_serves_list(const BlockSizes& sizes) {
  const ClassTable table = make_class_table(sizes);
  for (std::size_t request = 1; request <= detail::kMediumLimit; request += request < 20000 ? 1 : 61) {
    const SizeClass size_class = table.lookup().of_size(request);
    ASSERT_EQ(table.geometry[size_class].block_bytes, smallest_that_holds(sizes, request)) << request;
  }
  ASSERT_EQ(table.geometry[table.lookup().of_size(detail::kMediumLimit)].block_bytes, detail::kMediumLimit);
}

TEST(ClassTable, APresetAsAListIsTheTableOfThePreset) {
  for (std::size_t i = 0; i < kSizeClassPresetCount; ++i) {
    const ClassTable table = make_class_table(sizes_of_preset(kSizeClassPresets[i]));
    const detail::ClassOfStep steps = make_class_of_step(kPresetClasses.of[i]);
    for (unsigned bin = 1; bin < kBinCount; ++bin) {
      EXPECT_EQ(table.of_bin.of[bin], kPresetClasses.of[i].of[bin]) << bin;
      EXPECT_EQ(table.geometry.of[bin].stride, kGeometry.of[bin].stride) << bin;
    }
    for (std::size_t step = 1; step * 64 <= detail::kSteppedLimit; ++step)
      EXPECT_EQ(table.of_step[step], steps[step]) << step;
  }
}

TEST(ClassTable, EachRequestGetsTheSmallestBlockOfTheListThatHoldsIt) {
  std::mt19937 random(1);
  for (int i = 0; i < 100; ++i) {
    const BlockSizes sizes = random_sizes(random);
    ASSERT_LE(sizes.medium_count(), kMostMediumSizes);
    ASSERT_NO_FATAL_FAILURE(expect_table_serves_list(sizes)) << i;
  }
}

TEST(ClassTable, ClassesHaveNumbersOfTheirOwnThatAscendAndThoseOfOtherSizesAreTheirBins) {
  std::mt19937 random(2);
  for (int i = 0; i < 100; ++i) {
    const BlockSizes sizes = random_sizes(random);
    const ClassTable table = make_class_table(sizes);
    unsigned last = 0;
    for (const std::uint32_t bytes : sizes) {
      const unsigned number = index_of_class(table.lookup().of_size(bytes));
      if (bytes == detail::kTinyLimit) continue;
      ASSERT_GT(number, last);
      last = number;
      if (!BlockSizes::is_medium(bytes)) {
        ASSERT_EQ(Bin{number}, detail::bin_of(bytes));
        ASSERT_EQ(table.geometry.of[number].block_bytes, kGeometry.of[number].block_bytes);
      } else {
        ASSERT_GE(number, detail::kFirstMediumBin);
        ASSERT_LT(number, detail::kFirstCoarseBin);
      }
    }
  }
}

TEST(ClassTable, SixtyFourClassesOfNeighbouringSizesHaveAllNumbers) {
  for (const std::uint32_t first : {1088u, 8000u, 16384u - 63 * 64}) {
    std::set<std::uint32_t> sizes{32768, 262144};
    const std::uint32_t start = first / 64 * 64;
    for (std::uint32_t i = 0; i < 64; ++i) sizes.insert(start + 64 * i);
    const ClassTable table = make_class_table(list_of(sizes));
    for (std::uint32_t i = 0; i < 64; ++i)
      ASSERT_EQ(index_of_class(table.lookup().of_size(start + 64 * i)), detail::kFirstMediumBin + i);
  }
}

TEST(ClassTable, AlignedBlocksAreSoWhateverTheTable) {
  std::mt19937 random(3);
  for (int i = 0; i < 30; ++i) {
    const BlockSizes sizes = random_sizes(random);
    const ClassTable table = make_class_table(sizes);
    for (std::size_t alignment = 32; alignment <= 32768; alignment *= 2)
      for (std::size_t size = 0; size <= 32768; size += 1 + random() % 200) {
        const SizeClass size_class = aligned_class_of(table.lookup(), size, alignment);
        ASSERT_NE(size_class, SizeClass::kNone) << size << " at " << alignment;
        const ClassGeometry& geometry = table.geometry[size_class];
        ASSERT_GE(geometry.block_bytes, size);
        ASSERT_EQ(geometry.stride % alignment, 0u) << size << " at " << alignment;
      }
  }
}

TEST(ClassTable, AnIndexIsExactForEachBlockOfEachSizeThatMayBeAClass) {
  for (std::uint32_t bytes = 1088; bytes <= detail::kSteppedLimit; bytes += 64) {
    const ClassGeometry geometry = make_geometry(bytes, coloured_stride(bytes));
    ASSERT_GE(bytes_of(geometry.first_slab_pages), 2 * geometry.stride);
    ASSERT_EQ(geometry.stride % 16, 0u);
    for (std::uint32_t i = 0; i < geometry.block_count; ++i)
      ASSERT_EQ(index_of(geometry, i * geometry.stride), BlockIndex{i}) << bytes;
  }
}

TEST(ClassTable, ATableWithoutTinyBlocksServesThemBySmallOnes) {
  const ClassTable table = make_class_table(list_of({48, 32768, 262144}));
  EXPECT_EQ(table.geometry[table.lookup().of_size(8)].block_bytes, 48u);
  EXPECT_EQ(table.geometry[table.lookup().of_size(0)].block_bytes, 48u);
}

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
