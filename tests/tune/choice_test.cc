#include "tune/choice.h"

#include <gtest/gtest.h>

#include "base/options/option_parser.h"

namespace tarn::tune {
namespace {

TEST(Compare, NoiseSpeaksForTimeAndAgainstMemory) {
  const Measurements base = {{100, 100, 100, 100}, {50, 50, 50, 50}, {1, 1, 1, 1}};
  Measurements own = {{80, 90, 100, 110}, {40, 45, 50, 55}, {1, 1, 1, 1}};
  EXPECT_EQ(compare({}, own, base, {}).verdict, Verdict::kNoise);
  own = {{90, 90, 90, 90}, {45, 45, 45, 45}, {0.9, 1.0, 1.2, 1.3}};
  EXPECT_EQ(compare({}, own, base, {}).verdict, Verdict::kGains);
  own.seconds = {1.1, 1.1, 1.1, 1.1};
  EXPECT_EQ(compare({}, own, base, {}).verdict, Verdict::kTooSlow);
}

TEST(Bounds, TheProgramsTimeMakesRoomForThatOfItsCallsAndNeverTakesAny) {
  EXPECT_DOUBLE_EQ(for_calls({.most_time_percent = 5, .program_seconds = 2}, 0.1).most_time_percent, 100);
  EXPECT_DOUBLE_EQ(for_calls({.most_time_percent = 5, .program_seconds = 0.01}, 0.1).most_time_percent, 5);
  EXPECT_DOUBLE_EQ(for_calls({.most_time_percent = 5}, 0.1).most_time_percent, 5);
}

TEST(ConfigurationFile, HasALineForEachSettingBehindItsComment) {
  EXPECT_EQ(configuration_file({{"huge_pages", "never"}, {"decay", "100ms"}}, "Two\nlines"),
            "# Two\n# lines\nhuge_pages:never\ndecay:100ms\n");
}

TEST(UsualCandidates, AreValuesThatTheLibraryTakesAndNotTheDefaults) {
  for (const Setting& setting : usual_candidates()) {
    const internal::OptionInfo* const option = internal::find_option(setting.key);
    ASSERT_NE(option, nullptr) << setting.key;
    std::int64_t value = option->default_value;
    EXPECT_TRUE(internal::parse_option_value(*option, setting.value, &value)) << setting.key;
    EXPECT_NE(value, option->default_value) << setting.key;
  }
}

}  // namespace
}  // namespace tarn::tune
