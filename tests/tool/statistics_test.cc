#include "engine/rounds/statistics.h"

#include <gtest/gtest.h>

namespace tarn::tool {
namespace {

TEST(Statistics, MedianOfAnOddCountIsTheMiddleValue) { EXPECT_EQ(summarize({9, 1, 5}).median, 5); }

TEST(Statistics, MedianOfAnEvenCountLiesBetweenTheMiddleValues) {
  EXPECT_EQ(summarize({4, 1, 3, 2}).median, 2.5);
}

TEST(Statistics, QuartilesAreInterpolated) {
  const Summary summary = summarize({1, 2, 3, 4});
  EXPECT_DOUBLE_EQ(summary.lower_quartile, 1.75);
  EXPECT_DOUBLE_EQ(summary.upper_quartile, 3.25);
  EXPECT_DOUBLE_EQ(summary.spread(), 0.75);
}

TEST(Statistics, OneDisturbedRoundDoesNotWidenTheSpread) {
  EXPECT_EQ(summarize({10, 10, 10, 10, 1000}).spread(), 0);
  EXPECT_EQ(summarize({10, 10, 10, 10, 1000}).maximum, 1000);
}

TEST(Statistics, SpreadPercentIsRelativeToTheMedian) {
  EXPECT_DOUBLE_EQ(summarize({90, 95, 100, 105, 110}).spread_percent(), 5);
  EXPECT_EQ(summarize({0, 0, 0}).spread_percent(), 0);
}

TEST(Statistics, NothingMeasuredSummarizesToNothing) { EXPECT_EQ(summarize({}).count, 0u); }

TEST(Statistics, OneValueIsItsOwnQuartiles) {
  const Summary summary = summarize({7});
  EXPECT_EQ(summary.lower_quartile, 7);
  EXPECT_EQ(summary.upper_quartile, 7);
}

TEST(Statistics, MediansCloserThanBothSpreadsTogetherAreEqual) {
  const Summary best = summarize({90, 95, 100, 105, 110});
  EXPECT_TRUE(is_within_noise(summarize({99, 104, 109, 114, 119}), best));
  EXPECT_FALSE(is_within_noise(summarize({101, 106, 111, 116, 121}), best));
}

TEST(Statistics, HalfAPercentIsNeverADifference) {
  EXPECT_TRUE(is_within_noise(summarize({1004, 1004, 1004}), summarize({1000, 1000, 1000})));
  EXPECT_FALSE(is_within_noise(summarize({1006, 1006, 1006}), summarize({1000, 1000, 1000})));
}

TEST(Statistics, ASingleRoundIsEqualToNothingButItself) {
  EXPECT_FALSE(is_within_noise(summarize({1001}), summarize({1000})));
  EXPECT_TRUE(is_within_noise(summarize({1000}), summarize({1000})));
}

TEST(Statistics, AMeanOfRowsIsADifferenceWhereItIsBeyondTheirNoise) {
  const Summary base = summarize({90, 95, 100, 105, 110});
  MeanRatio equal, less;
  equal.add(summarize({92, 97, 102, 107, 112}), base);
  equal.add(summarize({88, 93, 98, 103, 108}), base);
  EXPECT_TRUE(equal.is_within_noise());
  EXPECT_EQ(equal.less() + equal.more(), 0u);
  less.add(summarize({45, 48, 50, 52, 55}), base);
  less.add(summarize({92, 97, 102, 107, 112}), base);
  EXPECT_FALSE(less.is_within_noise());
  EXPECT_EQ(less.less(), 1u);
  EXPECT_NEAR(less.mean(), 0.714, 0.001);  // of 0.5 and 1.02
}

}  // namespace
}  // namespace tarn::tool
