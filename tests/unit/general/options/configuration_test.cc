#include "general/options/configuration.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "base/options/option_parser.h"
#include "support/child.h"

namespace tarn::internal {
namespace {

const OptionInfo& info(Option option) { return kOptionTable[static_cast<std::size_t>(option)]; }

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
  EXPECT_EQ(reading.value, info(Option::kDecay).default_value);
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
  EXPECT_EQ(reading.value, info(Option::kDecay).default_value);
}

TEST(Configuration, NamesAStatisticsFileUpToALimit) {
  Configuration paths;
  const std::string longest(511, 'x'), too_long(512, 'x');
  EXPECT_TRUE(paths.set(info(Option::kStatsFile), longest, "test"));
  EXPECT_EQ(paths.stats_file(), longest);
  EXPECT_FALSE(paths.set(info(Option::kStatsFile), too_long, "test"));
  EXPECT_EQ(paths.stats_file(), longest);
  EXPECT_TRUE(paths.set(info(Option::kStatsFile), "", "test"));
  EXPECT_STREQ(paths.stats_file(), "");
}

TEST(Configuration, TheTwoOptionsThatNameFilesKeepTheirsApart) {
  Configuration paths;
  EXPECT_TRUE(paths.set(info(Option::kStatsFile), "a", "test"));
  EXPECT_TRUE(paths.set(info(Option::kClassesFile), "b", "test"));
  EXPECT_STREQ(paths.stats_file(), "a");
  EXPECT_STREQ(paths.classes_file(), "b");
  FixedText<8> value;
  paths.add_value(value, info(Option::kClassesFile));
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

}  // namespace
}  // namespace tarn::internal
