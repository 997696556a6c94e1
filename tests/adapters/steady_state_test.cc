#include "tarn/steady_state.h"

#include <gtest/gtest.h>

#include "support/sanitizer.h"
#include "tarn/fixed_pool.h"
#include "tarn/memory_pool.h"

namespace tarn::test {
namespace {

TEST(SteadyState, CountsGrowthAndNothingElse) {
  trim();  // so that growth finds no pages left warm by other tests
  FixedPool pool(64);
  pool.prewarm(1000);
  SteadyState guard(AtGrowth::kCount);
  for (int i = 0; i < 1000; ++i) ASSERT_NE(pool.allocate(), nullptr);
  EXPECT_EQ(guard.growth_count(), 0u);
  for (int i = 0; i < 2000; ++i) ASSERT_NE(pool.allocate(), nullptr);
  EXPECT_GT(guard.growth_count(), 0u);
}

TEST(SteadyState, OnlyOneIsArmedAtATime) {
  {
    SteadyState first(AtGrowth::kCount);
    SteadyState second(AtGrowth::kAbort);
    EXPECT_TRUE(first.is_armed());
    EXPECT_FALSE(second.is_armed());
  }
  EXPECT_TRUE(SteadyState(AtGrowth::kCount).is_armed());
}

using SteadyStateDeathTest = ::testing::Test;

TEST(SteadyStateDeathTest, AbortsWithItsNameAndTheStack) {
  if (kSanitizer) GTEST_SKIP() << "the sanitizer prints a stack of its own";
  EXPECT_DEATH(
      {
        SteadyState guard(AtGrowth::kAbort, "match");
        static_cast<void>(allocate(std::size_t{100} << 20));
      },
      "tarn: growth in 'match': .*; the stack:");
}

}  // namespace
}  // namespace tarn::test
