#include "base/options/size_class_presets.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/options/option_table.h"

namespace tarn::internal {
namespace {

const OptionInfo& option() { return kOptionTable[static_cast<std::size_t>(Option::kClasses)]; }

TEST(SizeClassPresets, NamesDifferAndAreWordsOfAnOption) {
  std::set<std::string> names;
  for (const SizeClassPreset& preset : kSizeClassPresets) {
    EXPECT_TRUE(names.insert(preset.name).second) << preset.name;
    EXPECT_EQ(std::string(preset.name).find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"),
              std::string::npos)
        << preset.name;
  }
}

TEST(SizeClassPresets, AreTheChoicesOfTheOptionInTheirOrder) {
  std::string choices;
  for (const SizeClassPreset& preset : kSizeClassPresets)
    choices += (choices.empty() ? "" : "|") + std::string(preset.name);
  EXPECT_EQ(option().choices, choices);
  EXPECT_EQ(option().maximum + 1, static_cast<std::int64_t>(kSizeClassPresetCount));
  EXPECT_STREQ(kSizeClassPresets[option().default_value].name, "default");
}

TEST(SizeClassPresets, EachIsExplainedInTheHelpOfTheOption) {
  for (const SizeClassPreset& preset : kSizeClassPresets)
    EXPECT_NE(std::string(option().help).find(preset.help), std::string::npos) << preset.name;
}

TEST(SizeClassPresets, EveryPresetHasAClassForTheLargestBlock) {
  for (const SizeClassPreset& preset : kSizeClassPresets)
    EXPECT_TRUE(preset.has_class(256 * 1024)) << preset.name;
}

TEST(SizeClassPresets, StepsOfADoublingEndAtThePowerOfTwo) {
  for (const std::uint32_t step : {1152u, 1280u, 2048u, 2304u, 16384u, 18432u})
    EXPECT_TRUE(is_step_of_doubling(step, 8)) << step;
  for (const std::uint32_t between : {1088u, 1216u, 2176u, 15872u})
    EXPECT_FALSE(is_step_of_doubling(between, 8)) << between;
}

}  // namespace
}  // namespace tarn::internal
