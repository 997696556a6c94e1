#include "thread/observation/exponential.h"

#include "support/prelude.h"

namespace tarn::internal {
namespace {

TEST(Exponential, TheLogarithmOfAFractionIsThatOfTheMathematicsLibrary) {
  std::uint32_t state = 1;
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t x = next_random(state);
    const double expected = -std::log(static_cast<double>(x) * 0x1p-64);
    EXPECT_NEAR(minus_log_of_fraction(x), expected, 1e-4 + expected * 1e-3);
  }
  EXPECT_NEAR(minus_log_of_fraction(1), 64 * std::log(2), 1e-3);
  EXPECT_NEAR(minus_log_of_fraction(UINT64_MAX), 0, 1e-4);
}

TEST(Exponential, ThePowerIsThatOfTheMathematicsLibrary) {
  for (double x = 0; x < 100; x = x * 1.1 + 1e-6)
    EXPECT_NEAR(exponential_of_minus(x) / std::exp(-x), 1, 2e-3) << x;
  EXPECT_EQ(exponential_of_minus(1e9), 0);
}

TEST(Exponential, ASampleStandsForAsManyBlocksAsItsChanceSays) {
  EXPECT_EQ(blocks_of_sample(64, 1), 1);
  EXPECT_NEAR(blocks_of_sample(64, 65536), 1 / (1 - std::exp(-64.0 / 65536)), 1);
  EXPECT_NEAR(blocks_of_sample(1 << 20, 65536), 1, 1e-3);
  EXPECT_NEAR(blocks_of_sample(0, 1000), 1000.5, 1) << "an empty request counts as a byte";
}

TEST(Exponential, TheMeanDistanceOfDrawnNumbersIsOne) {
  std::uint32_t state = 42;
  double sum = 0;
  constexpr int kDrawn = 1'000'000;
  for (int i = 0; i < kDrawn; ++i) sum += minus_log_of_fraction(next_random(state));
  EXPECT_NEAR(sum / kDrawn, 1, 5.0 / std::sqrt(kDrawn));
}

}  // namespace
}  // namespace tarn::internal
