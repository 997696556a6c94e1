#include "commands/option_values.h"

#include <gtest/gtest.h>

#include "system/files/usage_error.h"

namespace tarn::tool {
namespace {

using Setting = std::pair<std::string, std::string>;

std::string complaint(const std::string& setting) {
  try {
    parse_setting(setting);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(OptionValues, ASettingBecomesItsEnvironmentVariable) {
  EXPECT_EQ(parse_setting("classes=lfh128"), (Setting{"TARN_CLASSES", "lfh128"}));
  EXPECT_EQ(parse_setting("free_page_threshold=128M"), (Setting{"TARN_FREE_PAGE_THRESHOLD", "128M"}));
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
  EXPECT_EQ(complaint("colour=red"), "unknown option 'colour' in --set: `tarn options` lists them");
  EXPECT_EQ(complaint("decay"), "--set takes key=value, not 'decay'");
}

}  // namespace
}  // namespace tarn::tool
