#include "general/options/configuration.h"

#include <sys/stat.h>

#include "base/options/option_parser.h"
#include "central/classes/class_table.h"
#include "general/options/class_file.h"
#include "support/child.h"
#include "support/prelude.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"
#include "tarn/options.h"

namespace tarn::internal {
namespace {

const OptionInfo& option_info(Option option) { return kOptionTable[static_cast<std::size_t>(option)]; }

/// What the library says on standard error when it reads its options in a process with this environment.
struct Reading {
  std::string complaints;
  std::int64_t value;
};
Reading read_with(const std::vector<std::string>& environment, Option option) {
  const test::ChildResult result = test::run_in_child([&] {
    for (const std::string& entry : environment) putenv(const_cast<char*>(entry.c_str()));
    configuration.read();
    std::printf("%lld", static_cast<long long>(configuration.value(option)));
    return 0;
  });
  return {result.error, std::atoll(result.output.c_str())};
}

TEST(Configuration, ReadsPairsSeparatedByCommasOrLinesWithSpacesAndComments) {
  Configuration parsed_pairs;
  const std::string text =
      "# a comment, with a comma: check:0\n"
      "  decay = 5s , huge_pages:always,,\n"
      "\tfree_page_threshold: 3M # decay:1\r\n"
      "check=on";
  parsed_pairs.set_all(text, "test");
  EXPECT_EQ(parsed_pairs.value(Option::kDecay), 5000);
  EXPECT_EQ(parsed_pairs.value(Option::kHugePages), 2);
  EXPECT_EQ(parsed_pairs.value(Option::kFreePageThreshold), 3 << 20);
  EXPECT_TRUE(parsed_pairs.is_on(Option::kCheck));
}

TEST(Configuration, TheLastOfTwoValuesWins) {
  Configuration parsed_pairs;
  const std::string text = "decay:1,decay:2";
  parsed_pairs.set_all(text, "test");
  EXPECT_EQ(parsed_pairs.value(Option::kDecay), 2);
}

TEST(Configuration, AnUnknownKeyCostsOneLineAndTheRestIsRead) {
  const Reading reading = read_with({"TARN_CONF=colour:red,decay:7"}, Option::kDecay);
  EXPECT_EQ(reading.complaints, "tarn: TARN_CONF: unknown option 'colour'; 'tarn options' lists the names\n");
  EXPECT_EQ(reading.value, 7);
}

TEST(Configuration, ABadValueCostsOneLineAndLeavesTheDefault) {
  const Reading reading = read_with({"TARN_CONF=decay:soon"}, Option::kDecay);
  EXPECT_EQ(reading.complaints, "tarn: TARN_CONF: bad value 'soon' for decay; it stays '2000ms' (default)\n");
  EXPECT_EQ(reading.value, option_info(Option::kDecay).default_value);
  EXPECT_EQ(read_with({"TARN_DECAY=later"}, Option::kDecay).complaints,
            "tarn: TARN_DECAY: bad value 'later' for decay; it stays '2000ms' (default)\n");
}

TEST(Configuration, ABadValueLeavesThatOfAWeakerSource) {
  const Reading reading =
      read_with({"TARN_CONF=decay:7,check:1,check:maybe", "TARN_DECAY=later"}, Option::kDecay);
  EXPECT_EQ(reading.complaints,
            "tarn: TARN_CONF: bad value 'maybe' for check; it stays '1' (TARN_CONF)\n"
            "tarn: TARN_DECAY: bad value 'later' for decay; it stays '7ms' (TARN_CONF)\n");
  EXPECT_EQ(reading.value, 7);
}

TEST(Configuration, LaterSourcesWin) {
  const std::string path = ::testing::TempDir() + "tarn_configuration_test.conf";
  std::ofstream(path) << "decay: 11\nclasses: lfh128\n";
  const std::string file = "TARN_CONF_FILE=" + path;
  EXPECT_EQ(read_with({file}, Option::kDecay).value, 11);
  EXPECT_EQ(read_with({file, "TARN_CONF=decay:22"}, Option::kDecay).value, 22);
  EXPECT_EQ(read_with({file, "TARN_CONF=decay:22", "TARN_DECAY=33"}, Option::kDecay).value, 33);
  EXPECT_EQ(read_with({file, "TARN_DECAY=33"}, Option::kClasses).value, 1);
  std::remove(path.c_str());
}

TEST(Configuration, AFileThatCannotBeReadCostsOneLine) {
  const Reading reading = read_with({"TARN_CONF_FILE=/nonexistent/tarn.conf"}, Option::kDecay);
  EXPECT_NE(reading.complaints.find("'/nonexistent/tarn.conf'"), std::string::npos) << reading.complaints;
  EXPECT_EQ(reading.value, option_info(Option::kDecay).default_value);
}

TEST(Configuration, NamesAStatisticsFileUpToALimit) {
  Configuration paths;
  const std::string longest(511, 'x'), too_long(512, 'x');
  EXPECT_TRUE(paths.set(option_info(Option::kStatsFile), longest, "test"));
  EXPECT_EQ(paths.stats_file(), longest);
  EXPECT_FALSE(paths.set(option_info(Option::kStatsFile), too_long, "test"));
  EXPECT_EQ(paths.stats_file(), longest);
  EXPECT_TRUE(paths.set(option_info(Option::kStatsFile), "", "test"));
  EXPECT_STREQ(paths.stats_file(), "");
}

TEST(Configuration, TheTwoOptionsThatNameFilesKeepTheirsApart) {
  Configuration paths;
  EXPECT_TRUE(paths.set(option_info(Option::kStatsFile), "a", "test"));
  EXPECT_TRUE(paths.set(option_info(Option::kClassesFile), "b", "test"));
  EXPECT_STREQ(paths.stats_file(), "a");
  EXPECT_STREQ(paths.classes_file(), "b");
  FixedText<8> value;
  paths.add_value(value, option_info(Option::kClassesFile));
  EXPECT_EQ(std::string(value.data(), value.length()), "b");
}

TEST(Configuration, PrintsEveryOptionOnce) {
  const test::ChildResult result = test::run_in_child([] {
    configuration.read();
    print_configuration();
    return 0;
  });
  for (const OptionInfo& option : kOptionTable) {
    const std::string start = "tarn: " + std::string(environment_name(option).text) + "=";
    EXPECT_NE(result.error.find(start), std::string::npos) << result.error;
  }
}

// -- Files that are tables and files that are none, read by the library at its start; each in a new process.

constexpr const char* kServes = "; the classes of 'default' serve\n";

/// The classes of a preset, with finer ones about 4 KiB in the place of those up to 2 KiB.
std::string fine_table() {
  std::string text = "# for pages of 4360 bytes\ntarn-classes 1\n";
  for (const std::uint32_t bytes : sizes_of_preset(kSizeClassPresets[0])) {
    if (bytes == 4608) text += "4160 4224 4288 4352 4416 4480 ";
    if (bytes <= 1024 || bytes > 2048) text += std::to_string(bytes) + "\n";
  }
  return text;
}

class ClassFile : public ::testing::Test {
 protected:
  ~ClassFile() override { std::remove(path_.c_str()); }

  void write(const std::string& text) { std::ofstream(path_, std::ios::binary) << text; }

  /// What a process whose first calls find this file says on standard error; body() runs with the classes.
  test::ChildResult start(const std::function<int()>& body, const std::string& file) const {
    return test::run_in_child([&] {
      setenv("TARN_CLASSES_FILE", file.c_str(), 1);
      tarn::deallocate(tarn::allocate(100));
      return body();
    });
  }
  test::ChildResult start(const std::function<int()>& body) const { return start(body, path_); }

  /// The whole line of a process that refuses this text. The table of the preset serves it then.
  std::string refusal_of(const std::string& text) {
    write(text);
    const test::ChildResult result = start([] { return serves_as_default() ? 0 : 1; });
    EXPECT_EQ(result.exit_status, 0) << text.substr(0, 100);
    return result.error;
  }

  static bool serves_as_default() {
    char file[8];
    return std::memcmp(&detail::class_of_bin, &kPresetClasses.of[0], sizeof detail::class_of_bin) == 0 &&
           std::memcmp(&bin_geometry, &kGeometry, sizeof kGeometry) == 0 &&
           tarn::option("classes_file", file) == 0 && tarn::good_size(4360) == 4608;
  }

  const std::string path_ = ::testing::TempDir() + "tarn_class_file_test." + std::to_string(getpid());
};

TEST_F(ClassFile, ItsClassesServeAllKindsOfCalls) {
  write(fine_table());
  const test::ChildResult result = start([] {
    if (tarn::good_size(4360) != 4416 || tarn::good_size(1025) != 2304 || tarn::good_size(100) != 112)
      return 1;
    std::vector<void*> blocks;
    for (std::size_t size = 1; size < 20000; size += 7) {
      void* const block = tarn::allocate(size);
      if (tarn::usable_size(block) < size || tarn::usable_size(block) > 2 * size + 2048) return 2;
      std::memset(block, 1, tarn::usable_size(block));
      blocks.push_back(block);
      blocks.push_back(tarn::allocate(size, 64));
      if (reinterpret_cast<std::uintptr_t>(blocks.back()) % 64 != 0) return 3;
      std::memset(blocks.back(), 2, size);
    }
    void* batch[50];
    if (tarn::allocate_batch(4360, 50, batch) != 50 || tarn::usable_size(batch[49]) != 4416) return 4;
    tarn::deallocate_batch(batch, 50);
    void* moved = tarn::reallocate(tarn::allocate(4360), 4400);
    if (tarn::usable_size(moved) != 4416) return 5;
    moved = tarn::reallocate(moved, 1100);
    tarn::deallocate(moved);
    for (void* const block : blocks) tarn::deallocate(block);
    return 0;
  });
  EXPECT_EQ(result.exit_status, 0) << result.describe();
  EXPECT_EQ(result.error, "");
}

TEST_F(ClassFile, ItsClassesServeHeaps) {
  write(fine_table());
  const test::ChildResult result = start([] {
    tarn::Heap heap;
    std::vector<void*> blocks;
    for (int round = 0; round < 2; ++round) {
      for (std::size_t size = 1; size < 40000; size += 13) {
        void* const block = heap.allocate(size);
        if (heap.usable_size(block) < size) return 1;
        std::memset(block, 3, size);
        blocks.push_back(block);
      }
      for (void* const block : blocks) heap.deallocate(block);
      blocks.clear();
    }
    return heap.use().live_bytes == 0 ? 0 : 2;
  });
  EXPECT_EQ(result.exit_status, 0) << result.describe();
}

TEST_F(ClassFile, TheOptionTellsWhichFileServes) {
  write(fine_table());
  const test::ChildResult result = start([&] {
    char file[512];
    tarn::option("classes_file", file);
    return file == path_ ? 0 : 1;
  });
  EXPECT_EQ(result.exit_status, 0) << result.describe();
}

TEST_F(ClassFile, ItCannotChangeOnceClassesAreInUse) {
  write(fine_table());
  const test::ChildResult result = test::run_in_child([&] {
    tarn::deallocate(tarn::allocate(100));
    if (tarn::set_option("classes_file", path_.c_str()) != OptionResult::kTooLate) return 1;
    return serves_as_default() ? 0 : 2;
  });
  EXPECT_EQ(result.exit_status, 0) << result.describe();
}

TEST_F(ClassFile, AProgramNamesItBeforeItsFirstBlock) {
  write(fine_table());
  const test::ChildResult result = test::run_in_child([&] {
    if (tarn::set_option("classes_file", path_.c_str()) != OptionResult::kSet) return 1;
    return tarn::good_size(4360) == 4416 ? 0 : 2;
  });
  EXPECT_EQ(result.exit_status, 0) << result.describe();
}

TEST_F(ClassFile, WhereItIsRefusedThePresetServesThatTheProgramHasChosen) {
  write("16 32");
  const test::ChildResult result = test::run_in_child([&] {
    setenv("TARN_CLASSES_FILE", path_.c_str(), 1);
    setenv("TARN_CLASSES", "stepped", 1);
    return tarn::good_size(33) == 64 ? 0 : 1;
  });
  EXPECT_EQ(result.exit_status, 0) << result.describe();
  EXPECT_EQ(
      result.error,
      "tarn: " + path_ + ":1: the first line must be 'tarn-classes 1'; the classes of 'stepped' serve\n");
}

TEST_F(ClassFile, AMissingFileAndADirectoryCannotBeRead) {
  for (const std::string& file : {path_ + ".missing", ::testing::TempDir()}) {
    const test::ChildResult result = start([] { return serves_as_default() ? 0 : 1; }, file);
    EXPECT_EQ(result.exit_status, 0) << result.describe();
    EXPECT_EQ(result.error, "tarn: " + file + ": cannot be read" + kServes);
  }
}

TEST_F(ClassFile, AFileWithoutEndIsRefusedByItsSize) {
  const test::ChildResult result = start([] { return serves_as_default() ? 0 : 1; }, "/dev/zero");
  EXPECT_EQ(result.exit_status, 0) << result.describe();
  EXPECT_EQ(result.error,
            "tarn: /dev/zero: is larger than 8 KiB, which no table needs; the classes of 'default' serve\n");
}

TEST_F(ClassFile, ATableOfTheLargestSizeIsReadAndOneByteMoreIsRefused) {
  std::string text = fine_table();
  text.resize(kLargestClassFile, ' ');
  EXPECT_EQ((write(text), start([] { return 0; }).error), "");
  EXPECT_NE(refusal_of(text + " ").find("larger than 8 KiB"), std::string::npos);
}

TEST_F(ClassFile, EachBadFileCostsOneLineThatNamesTheLineAndWhatServes) {
  const std::string start_of_line = "tarn: " + path_ + ":", heading = "tarn-classes 1\n";
  const auto refuses = [&](const std::string& text, const std::string& line) {
    EXPECT_EQ(refusal_of(text), start_of_line + line + kServes);
  };
  refuses("", "1: the first line must be 'tarn-classes 1'");
  refuses(std::string("\x7f"
                      "ELF\0\0\0\1",
                      8),
          "1: the first line must be 'tarn-classes 1'");
  refuses("tarn-classes 7\n", "1: version '7' is none that this library reads, which is 1");
  refuses(heading + "16\n32\n32768\n26214", "5: 26214 is no class: above 16384 the next is 26624");
  refuses(heading + "16\r\n40\r\n", "3: 40 is no multiple of 16, as sizes but 8 are");
  refuses(heading + "64\n48\n", "3: 48 follows 64, but sizes ascend");
  refuses(heading + "16 32768\n", "3: 262144 is missing, which each table has");
  refuses(heading + "16 262144\n", "2: 32768 is missing, which each table has");
}

TEST_F(ClassFile, AFileOfAnotherSystemsLineEndsIsATable) {
  std::string text;
  for (const char character : fine_table()) text += character == '\n' ? "\r\n" : std::string(1, character);
  write(text);
  const test::ChildResult result = start([] { return tarn::good_size(4360) == 4416 ? 0 : 1; });
  EXPECT_EQ(result.exit_status, 0) << result.describe();
  EXPECT_EQ(result.error, "");
}

}  // namespace
}  // namespace tarn::internal
