#include "taken/fitted_interval.h"

#include "support/prelude.h"

namespace tarn::tool {
namespace {

/// A program that allocates so many bytes a second, seen for a time. \returns its samples.
double samples_of(double bytes_per_second, double seconds, FittedInterval& fitted, double live_bytes = 0) {
  double samples = 0;
  for (double gone = 0; gone < seconds; gone += 0.1) {
    if (fitted.is_due(gone)) static_cast<void>(fitted.fit(gone, samples, live_bytes));
    samples += bytes_per_second * 0.1 / static_cast<double>(fitted.interval());
  }
  return samples;
}

TEST(FittedInterval, TakesSomeThousandSamplesOfAnyProgram) {
  for (const double rate : {2e6, 2e7, 2e8, 2e9, 2e10}) {
    FittedInterval fitted(30);
    const double samples = samples_of(rate, 30, fitted);
    EXPECT_GT(samples, 1500) << rate;
    EXPECT_LT(samples, 12'000) << rate;
  }
}

TEST(FittedInterval, OfAShortTimeTakesFewerSamples) {
  FittedInterval fitted(2);
  const double samples = samples_of(2e9, 2, fitted);
  EXPECT_GT(samples, 300);
  EXPECT_LT(samples, 3000);
}

TEST(FittedInterval, LetsAThousandLiveWhereMostAreFreedAtOnce) {
  FittedInterval fitted(30);
  samples_of(1e9, 30, fitted, 256e6);
  EXPECT_LT(fitted.interval(), 520'000);
  FittedInterval costly(30);
  samples_of(1e11, 30, costly, 1e6);
  EXPECT_GT(costly.interval(), 5e6) << "ten thousand a second at most";
  EXPECT_LT(costly.interval(), 2e7);
}

TEST(FittedInterval, StaysWithinItsBounds) {
  FittedInterval idle(3600), busy(3600);
  EXPECT_EQ(samples_of(0, 3600, idle), 0);
  EXPECT_EQ(idle.interval(), FittedInterval::kLeast);
  samples_of(1e15, 3600, busy);
  EXPECT_EQ(busy.interval(), FittedInterval::kMost);
}

}  // namespace
}  // namespace tarn::tool
