#include "tarn/steady_state.h"

#include <dlfcn.h>

#include "support/child.h"
#include "support/prelude.h"
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
      "tarn: growth in 'match': .*; the stack:\n  .*adapters\\+0x[0-9a-f]+ \\[0x[0-9a-f]+\\]\n");
}

TEST(SteadyState, ReportsTheStackAtOnceAndItsNamesAtTheEnd) {
  const ChildResult result = run_in_child([] {
    SteadyState guard(AtGrowth::kReport, nullptr);
    static_cast<void>(allocate(std::size_t{100} << 20));
    static_cast<void>(allocate(std::size_t{100} << 20));
    return 0;
  });
  EXPECT_TRUE(result.is_success()) << result.describe();
  const std::size_t stack = result.error.find("; the stack:\n  ");
  ASSERT_NE(stack, std::string::npos) << result.error;
  EXPECT_EQ(result.error.rfind("; the stack:\n"), stack) << "only the first time";
  EXPECT_EQ(result.error.find("tarn: growth in 'steady state': "), 0u);
  EXPECT_GT(result.error.rfind("tarn: growth in 'steady state': the stack with names:\n"), stack)
      << result.error;
}

std::atomic<bool> is_loading{false}, has_grown{false};

void wait_for_growth() {
  is_loading = true;
  while (!has_grown) std::this_thread::yield();
}

// A thread that loads a library holds the loader's locks, and it may wait for a lock of ours.
TEST(SteadyState, ReportsWhileAnotherThreadHoldsTheLoadersLocks) {
  const ChildResult result = run_in_child(
      [] {
        char address[32];
        std::snprintf(address, sizeof address, "%zx", reinterpret_cast<std::size_t>(&wait_for_growth));
        setenv("TARN_TEST_CALL_BACK", address, 1);
        std::size_t growth_count = 0;
        {
          SteadyState guard(AtGrowth::kReport);
          std::thread loader([] { dlopen(TARN_TEST_SLOW_TO_LOAD, RTLD_NOW); });
          while (!is_loading) std::this_thread::yield();
          static_cast<void>(allocate(std::size_t{100} << 20));
          has_grown = true;
          loader.join();
          growth_count = guard.growth_count();
        }
        return growth_count != 0 ? 0 : 1;
      },
      20);
  EXPECT_TRUE(result.is_success()) << result.describe();
  EXPECT_NE(result.error.find("; the stack:\n  "), std::string::npos) << result.error;
}

}  // namespace
}  // namespace tarn::test
