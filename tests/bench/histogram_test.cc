// Percentiles of known samples.
#include "histogram.h"

#include "percentiles.h"
#include "support/prelude.h"

namespace tarn::bench {
namespace {

TEST(Histogram, SmallValuesAreExact) {
  const auto histogram = std::make_unique<Histogram>();
  for (std::uint64_t value = 0; value < 50; ++value) histogram->add(value);
  EXPECT_EQ(histogram->total(), 50u);
  EXPECT_EQ(histogram->percentile(0), 0u);
  EXPECT_EQ(histogram->percentile(0.5), 25u);
  EXPECT_EQ(histogram->percentile(0.98), 49u);
  EXPECT_EQ(histogram->largest(), 49u);
}

TEST(Histogram, LargeValuesAreRightWithinThreePercent) {
  for (std::uint64_t value = 64; value < (std::uint64_t{1} << 50); value = value * 3 + 1) {
    const auto histogram = std::make_unique<Histogram>();
    histogram->add(value);
    const auto told = static_cast<double>(histogram->percentile(0.5));
    EXPECT_LE(told, static_cast<double>(value));
    EXPECT_GE(told, 0.968 * static_cast<double>(value));
  }
}

TEST(Histogram, AThousandthAndATenThousandthAreToldApart) {
  const auto histogram = std::make_unique<Histogram>();
  for (int i = 0; i < 99'890; ++i) histogram->add(10);
  for (int i = 0; i < 100; ++i) histogram->add(40);
  for (int i = 0; i < 10; ++i) histogram->add(60);
  EXPECT_EQ(histogram->percentile(0.99), 10u);
  EXPECT_EQ(histogram->percentile(0.999), 40u);
  EXPECT_EQ(histogram->percentile(0.9999), 60u);
}

TEST(Histogram, APercentileIsToldByTenValuesAboveIt) {
  const auto histogram = std::make_unique<Histogram>();
  for (int i = 0; i < 999; ++i) histogram->add(10);
  EXPECT_TRUE(histogram->tells(0.9));
  EXPECT_TRUE(histogram->tells(0.99));
  EXPECT_FALSE(histogram->tells(0.999));
  for (int i = 0; i < 9'001; ++i) histogram->add(10);
  EXPECT_TRUE(histogram->tells(0.999));
  EXPECT_FALSE(histogram->tells(0.9999));
}

TEST(Percentiles, OnlyThoseThatTheValuesTellAndTheMaximumAreFields) {
  const auto histogram = std::make_unique<Histogram>();
  for (std::uint64_t i = 0; i < 100; ++i) histogram->add(i < 95 ? 4 : 40);
  EXPECT_STREQ(percentile_fields("free_", *histogram, 0.5).text,
               ",\"free_p50_ns\":2.000,\"free_p90_ns\":2.000,\"free_max_ns\":20.000");
}

TEST(Histogram, MergingIsAddingAll) {
  const auto one = std::make_unique<Histogram>(), other = std::make_unique<Histogram>();
  for (int i = 0; i < 9; ++i) one->add(5);
  other->add(500);
  one->merge(*other);
  EXPECT_EQ(one->total(), 10u);
  EXPECT_EQ(one->largest(), 500u);
  EXPECT_EQ(one->percentile(0.5), 5u);
  EXPECT_GT(one->percentile(0.95), 480u);
}

}  // namespace
}  // namespace tarn::bench
