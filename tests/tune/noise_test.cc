#include "tune/noise.h"

#include <gtest/gtest.h>

#include <random>

namespace tarn::tune {
namespace {

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
