#include "tune/choice.h"

#include "base/options/option_parser.h"
#include "support/prelude.h"
#include "tune/noise.h"

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

TEST(Noise, ASavingIsAShareOfTheMedianWithBothSpreads) {
  const Share share = saving({88, 90, 92}, {98, 100, 102});
  EXPECT_DOUBLE_EQ(share.percent, 10);
  EXPECT_DOUBLE_EQ(share.spread, 2);
}

TEST(Noise, ASavingOfNothingIsNone) { EXPECT_EQ(saving({5}, {0}).percent, 0); }

TEST(Noise, APriceIsThatOfEachRoundBesideItsNeighbour) {
  const Share share = price({1.1, 2.2, 4.4}, {1, 2, 4});
  EXPECT_NEAR(share.percent, 10, 1e-9);
  EXPECT_NEAR(share.spread, 0, 1e-9) << "rounds that are slow for both say nothing";
}

TEST(Noise, TheErrorOfAPriceIsLessTheMoreRoundsThereAre) {
  const std::vector<double> few = {1.0, 1.1, 1.2, 1.3}, base(4, 1.0);
  std::vector<double> many, many_base(64, 1.0);
  for (int i = 0; i < 16; ++i) many.insert(many.end(), few.begin(), few.end());
  EXPECT_NEAR(price(many, many_base).error, price(few, base).error / 4, 0.5);
}

TEST(Noise, FiveValuesAreLessThanFiveOthersIfNoneReachesThem) {
  EXPECT_TRUE(is_less({1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}));
  EXPECT_FALSE(is_less({1, 2, 3, 4, 6}, {6, 7, 8, 9, 10}));
  EXPECT_FALSE(is_less({6, 7, 8, 9, 10}, {1, 2, 3, 4, 5}));
  EXPECT_FALSE(is_less({5, 5, 5, 5, 5}, {5, 5, 5, 5, 5}));
}

TEST(Noise, FewerThanFiveValuesAreNeverEnough) {
  EXPECT_FALSE(is_less({1, 1, 1, 1}, {2, 2, 2, 2}));
  EXPECT_FALSE(is_less({1}, {2}));
}

TEST(Noise, OneDisturbedRoundOfNineDoesNotHideADifference) {
  EXPECT_TRUE(is_less({1, 1, 1, 1, 1, 1, 1, 1, 9}, {2, 2, 2, 2, 2, 2, 2, 2, 2}));
}

TEST(Noise, SetsOfOneKindAreRarelyToldApart) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  unsigned told_apart = 0;
  for (int i = 0; i < 4000; ++i) {
    std::vector<double> own(9), base(9);
    for (double& value : own) value = normal(random);
    for (double& value : base) value = normal(random);
    told_apart += is_less(own, base) ? 1 : 0;
  }
  EXPECT_LE(told_apart, 4000u / 100);
  EXPECT_GE(told_apart, 1u);
}

}  // namespace
}  // namespace tarn::tune
