// What tests of the library in a process share: a process of the test's own, memory that is freed, and what
// /proc says of the process's tasks.
#pragma once
#include "process/tasks.h"
#include "support/child.h"
#include "support/pools.h"
#include "support/prelude.h"
#include "tarn/options.h"

#if defined(TARN_TEST_MALLOC)
#include <dlfcn.h>
#endif

namespace tarn::test {

/// Sets an option of the pool under test. \returns false over malloc of the system, the control.
inline bool set_option(const char* key, const char* value) {
#if defined(TARN_TEST_MALLOC)
  auto* const set = reinterpret_cast<decltype(&tarn_set_option)>(dlsym(RTLD_DEFAULT, "tarn_set_option"));
  return set != nullptr && set(key, value) == 0;
#else
  return tarn_set_option(key, value) == 0;
#endif
}

/// Frees 128 MiB, far more than may stay free.
inline void free_more_than_may_stay(std::size_t touched_bytes = 1) {
  free_blocks(&PoolUnderTest::allocate, &PoolUnderTest::deallocate, 128, touched_bytes);
}

/// \returns whether it came true within the time.
template <typename Condition>
bool comes_true(const Condition& condition, long limit_ms = 10000) {
  for (const long end = milliseconds_now() + limit_ms; !condition(); pause_a_millisecond())
    if (milliseconds_now() > end) return false;
  return true;
}

/// Runs `body` in a process of its own, which fails with what its EXPECTs say. Its status kSkipped skips the
/// test.
inline void in_child(const std::function<void()>& body, int timeout_seconds = 30) {
  const ChildResult result = run_in_child(
      [&] {
        body();
        return testing::Test::HasFailure() ? 1 : 0;
      },
      timeout_seconds);
  if (result.exit_status == kSkipped) GTEST_SKIP() << result.output;
  EXPECT_TRUE(result.is_success()) << result.describe();
}

}  // namespace tarn::test
