#include <filesystem>

#include "commands/classes/class_costs.h"
#include "commands/classes/conf_file.h"
#include "commands/classes/size_class_list.h"
#include "commands/option_values.h"
#include "scratch_directory.h"
#include "support/error_of.h"
#include "support/prelude.h"
#include "system/files/files.h"
#include "system/files/usage_error.h"

namespace tarn::tool {
namespace {

// -- Size classes: lists of them, and what a table of them costs.

TEST(SizeClassList, EveryRequestFallsIntoExactlyOneClass) {
  for (const internal::SizeClassPreset& preset : internal::kSizeClassPresets) {
    std::uint32_t next_request = 1;
    for (const ListedClass& c : list_classes(internal::sizes_of_preset(preset))) {
      EXPECT_EQ(c.smallest_request, next_request) << preset.name;
      next_request = c.block_bytes + 1;
    }
    EXPECT_EQ(next_request, detail::kMediumLimit + 1) << preset.name;
  }
}

TEST(SizeClassList, TheLibraryServesEachRequestFromTheListedClass) {
  for (const internal::SizeClassPreset& preset : internal::kSizeClassPresets) {
    const internal::ClassOfBin class_of_bin = internal::make_class_of_bin(preset);
    for (const ListedClass& c : list_classes(internal::sizes_of_preset(preset)))
      for (const std::uint32_t request : {c.smallest_request, c.block_bytes})
        EXPECT_EQ(internal::kGeometry[class_of_bin[detail::bin_of(request)]].block_bytes, c.block_bytes)
            << preset.name << " " << request;
  }
}

TEST(SizeClassList, BlocksAndTailMakeUpTheSlab) {
  for (const ListedClass& c : list_classes(internal::sizes_of_preset(internal::kSizeClassPresets[0]))) {
    EXPECT_EQ(c.tail_bytes() + std::size_t{c.block_count} * c.stride, c.slab_bytes);
    EXPECT_LT(c.tail_bytes(), c.stride) << c.block_bytes;
  }
}

TEST(SizeClassList, ClassesFinerThanBinsAreListedWithTheirOwnMeasures) {
  internal::BlockSizes sizes;
  for (const std::uint32_t bytes : {4160u, 4224u, 4608u, 32768u, 262144u}) sizes.add(bytes);
  const std::vector<ListedClass> classes = list_classes(sizes);
  ASSERT_EQ(classes.size(), 5u);
  EXPECT_EQ(classes[1].smallest_request, 4161u);
  EXPECT_EQ(classes[1].stride, 4224u);
  EXPECT_EQ(classes[1].block_count, 262144u / 4224);
  EXPECT_EQ(classes[2].stride, 4672u) << "a multiple of 512 bytes is coloured";
}

TEST(SizeClassList, WasteIsThatOfTheSmallestRequest) {
  const ListedClass c = {
      .smallest_request = 61, .block_bytes = 80, .stride = 80, .slab_bytes = 800, .block_count = 10};
  EXPECT_DOUBLE_EQ(c.worst_waste_percent(), 23.75);
  EXPECT_DOUBLE_EQ(c.mean_waste_percent(), 11.875);
}

TEST(SizeClassList, AlignedClassesArePowersOfTwo) {
  const std::vector<ListedClass> aligned = list_aligned_classes();
  ASSERT_FALSE(aligned.empty());
  for (const ListedClass& c : aligned) EXPECT_EQ(c.block_bytes & (c.block_bytes - 1), 0u);
}

TEST(SizeClassList, APresetIsFoundByItsName) {
  for (const internal::SizeClassPreset& preset : internal::kSizeClassPresets)
    EXPECT_EQ(&preset_of_name(preset.name), &preset);
}

TEST(SizeClassList, AnUnknownPresetIsRefused) { EXPECT_THROW(preset_of_name("fancy"), UsageError); }

TEST(BucketList, Has128BucketsOfTheRangesThatTheSourceNames) {
  const std::vector<Bucket> buckets = list_buckets();
  ASSERT_EQ(buckets.size(), 128u);
  const std::pair<unsigned, std::uint32_t> ends[] = {{32, 256},  {48, 512},   {64, 1024},  {80, 2048},
                                                     {96, 4096}, {112, 8192}, {128, 16384}};
  for (const auto& [number, bytes] : ends) {
    EXPECT_EQ(buckets[number - 1].number, number);
    EXPECT_EQ(buckets[number - 1].bytes, bytes);
  }
}

TEST(BucketList, FifteenOddMultiplesOf8AreNoClassesAndTheNextBucketServesThem) {
  unsigned forbidden = 0;
  for (const Bucket& bucket : list_buckets()) {
    const bool may_be_aligned = bucket.bytes % 16 == 0 || bucket.bytes == 8;
    EXPECT_EQ(bucket.is_class(), may_be_aligned) << bucket.bytes;
    EXPECT_EQ(bucket.served_by, may_be_aligned ? bucket.bytes : bucket.bytes + 8) << bucket.bytes;
    forbidden += !may_be_aligned;
  }
  EXPECT_EQ(forbidden, 15u);
}

TEST(BucketList, WasteIsTheShareOfTheBlockThatServes) {
  const std::vector<Bucket> buckets = list_buckets();
  EXPECT_DOUBLE_EQ(buckets[2].waste_percent(), 25);  // 24 bytes in 32
  EXPECT_DOUBLE_EQ(buckets[3].waste_percent(), 0);
}

class ClassCosts : public ::testing::Test {
 protected:
  std::string file_of(const std::string& text) const {
    write_file(directory_.path() / "file", text);
    return directory_.path() / "file";
  }
  template <typename Read>
  std::string refusal(Read read, const std::string& path) const {
    return test::error_of<UsageError>([&] { read(path); });
  }

  TemporaryDirectory directory_;
};

TEST_F(ClassCosts, AFileThatIsNoTableIsRefusedWithItsNameAndLine) {
  const std::string path = file_of("tarn-classes 1\n16\n24\n");
  EXPECT_EQ(refusal(read_class_file, path), path + ":3: 24 is no multiple of 16, as sizes but 8 are");
  EXPECT_EQ(refusal(read_class_file, path + "x"), "'" + path + "x' cannot be read");
}

TEST_F(ClassCosts, AFileThatIsNoHistogramIsRefusedWithItsName) {
  const std::string path = file_of("16 many\n");
  EXPECT_EQ(refusal(read_histogram_file, path), path + ": line 1 is not 'size count', two numbers");
  EXPECT_EQ(refusal(read_histogram_file, path + "x"), "'" + path + "x' cannot be read");
}

TEST_F(ClassCosts, ATableThatWasWrittenIsReadAgain) {
  const internal::BlockSizes sizes = internal::sizes_of_preset(internal::kSizeClassPresets[1]);
  const internal::BlockSizes read = read_class_file(file_of(tune::text_of_table(sizes, "one\ntwo")));
  EXPECT_TRUE(std::equal(read.begin(), read.end(), sizes.begin(), sizes.end()));
}

TEST(Gain, IsAShareOfTheWasteAndOfTheHeap) {
  tune::TableCost before, after;
  before.floor = after.floor = 1000;
  before.blocks = 2000;
  after.blocks = 1500;
  EXPECT_EQ(describe_gain(before, after),
            "saves 500 B: 50.0 % of the waste above the floor, 25.0 % of the heap");
}

TEST(Gain, OfNothingIsNothing) {
  EXPECT_EQ(describe_gain({}, {}), "saves 0 B: 0.0 % of the waste above the floor, 0.0 % of the heap");
}

class ConfFile : public ::testing::Test {
 protected:
  std::string write(const std::string& text) { return scratch_.add_file("a.conf", text); }
  std::string complaint_of(const std::string& text) {
    return test::error_of<UsageError>([&] { checked_conf_file(write(text)); });
  }

  ScratchDirectory scratch_;
};

TEST_F(ConfFile, WhatTheLibraryTakesIsFine) {
  EXPECT_EQ(complaint_of("# a comment\nhuge_pages:never\ndecay=100ms, thread_cache:64K\n\n"), "");
  EXPECT_EQ(complaint_of(""), "");
}

TEST_F(ConfFile, IsNamedByItsWholePath) {
  const std::string path = write("decay:0\n");
  EXPECT_EQ(checked_conf_file(std::filesystem::relative(path)), path);
}

TEST_F(ConfFile, AnUnknownKeyIsNamedWithItsLine) {
  const std::string complaint = complaint_of("# one\nhuge_pages:never\nhugepages:never\n");
  EXPECT_NE(complaint.find("a.conf:3: unknown option 'hugepages'"), std::string::npos) << complaint;
}

TEST_F(ConfFile, ABadValueIsNamedWithWhatIsTaken) {
  const std::string complaint = complaint_of("thread_cache:lots\n");
  EXPECT_NE(complaint.find("a.conf:1: thread_cache: 'lots' is not one of 64 KiB"), std::string::npos)
      << complaint;
}

TEST_F(ConfFile, AFileOfClassesMustBeOne) {
  EXPECT_NE(complaint_of("classes_file:/nowhere\n").find("/nowhere"), std::string::npos);
  EXPECT_EQ(complaint_of("classes_file:\n"), "");
}

TEST_F(ConfFile, MoreThanTheLibraryReadsIsRefused) {
  EXPECT_NE(complaint_of(std::string(8 * 1024 + 1, '\n')).find("8 KiB"), std::string::npos);
  EXPECT_EQ(complaint_of(std::string(8 * 1024, '\n')), "");
}

TEST_F(ConfFile, WhatIsNoFileIsRefused) {
  EXPECT_THROW(checked_conf_file(scratch_.path("none")), UsageError);
  EXPECT_THROW(checked_conf_file(scratch_.path()), UsageError);
}

TEST_F(ConfFile, APathThatWouldEndAPairIsNoValue) {
  EXPECT_TRUE(is_value_of_conf("/srv/my server/tarn.classes"));
  EXPECT_TRUE(is_value_of_conf("/srv/a:b=c"));
  for (const char* bad : {"/a,b", "/a#b", "/a\nb"}) EXPECT_FALSE(is_value_of_conf(bad)) << bad;
  EXPECT_TRUE(is_value_of_conf(std::string(511, 'a')));
  EXPECT_FALSE(is_value_of_conf(std::string(512, 'a'))) << "the library keeps no more";
}

using Variable = std::pair<std::string, std::string>;

std::string complaint(const std::string& setting) {
  return test::error_of<UsageError>([&] { parse_setting(setting); });
}

TEST(OptionValues, ASettingBecomesItsEnvironmentVariable) {
  EXPECT_EQ(parse_setting("classes=lfh128"), (Variable{"TARN_CLASSES", "lfh128"}));
  EXPECT_EQ(parse_setting("free_page_threshold=128M"), (Variable{"TARN_FREE_PAGE_THRESHOLD", "128M"}));
}

TEST(OptionValues, EveryOptionTakesItsOwnDefault) {
  for (const internal::OptionInfo& option : internal::kOptionTable) {
    if (option.kind == internal::OptionKind::kPath) continue;
    const bool is_choice = option.kind == internal::OptionKind::kChoice;
    const std::string value =
        is_choice ? format_option_value(option, option.default_value) : std::to_string(option.default_value);
    EXPECT_EQ(complaint(std::string(option.key) + "=" + value), "") << option.key;
  }
}

TEST(OptionValues, SizesAndTimesTakeTheSuffixesOfTheLibrary) {
  for (const char* good : {"thread_cache=65536", "thread_cache=64K", "thread_cache=1m", "thread_cache=1GiB",
                           "decay=2s", "decay=500ms", "decay=0", "check=yes", "stats_file="})
    EXPECT_EQ(complaint(good), "") << good;
  for (const char* bad : {"thread_cache=64X", "thread_cache=64Ki", "decay=2m", "decay=-1",
                          "decay=", "check=maybe", "classes=0"})
    EXPECT_NE(complaint(bad), "") << bad;
}

TEST(OptionValues, AValueOutsideItsRangeIsRefusedWithTheRange) {
  EXPECT_EQ(complaint("thread_cache=2G"), "--set thread_cache: '2G' is not one of 64 KiB .. 1 GiB");
  EXPECT_NE(complaint("thread_cache=99999999999G"), "");
}

TEST(OptionValues, AnUnknownKeyPointsToTheList) {
  EXPECT_EQ(complaint("colour=red"), "unknown option 'colour' in --set; `tarn options` lists them");
  EXPECT_EQ(complaint("decy=1"),
            "unknown option 'decy' in --set; did you mean 'decay'?; `tarn options` lists them");
  EXPECT_EQ(complaint("decay"), "--set takes key=value, not 'decay'");
}

}  // namespace
}  // namespace tarn::tool
