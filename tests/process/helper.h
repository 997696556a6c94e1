// The helper thread of the pool under test, as a test sees it: waking it, waiting for it, and a process of
// the test's own in which it may be disturbed.
#pragma once
#include <sched.h>

#include "process/tasks.h"
#include "support/child.h"
#include "support/pools.h"
#include "support/prelude.h"

#if defined(TARN_TEST_MALLOC)
#include <dlfcn.h>
#endif

namespace tarn::test {

/// Whether the pool under test has a helper: malloc of the system, the control, has none.
inline bool has_helper() {
#if defined(TARN_TEST_MALLOC)
  return dlsym(RTLD_DEFAULT, "tarn_allocate") != nullptr;
#else
  return true;
#endif
}

inline void wake_helper() { ::wake_helper(&PoolUnderTest::allocate, &PoolUnderTest::deallocate); }

/// More than the 8 MiB that may stay free for a while, so that the helper gives some back after 50 ms.
inline void free_more_than_may_stay(std::size_t touched_bytes = 1) {
  free_blocks(&PoolUnderTest::allocate, &PoolUnderTest::deallocate, 128, touched_bytes);
}

/// The tasks of a process with one thread once its helper was woken.
inline int tasks_with_helper() { return has_helper() ? 2 : 1; }

/// \returns whether it came true within the time.
template <typename Condition>
bool comes_true(const Condition& condition, long limit_ms = 10000) {
  for (const long end = milliseconds_now() + limit_ms; !condition(); pause_a_millisecond())
    if (milliseconds_now() > end) return false;
  return true;
}

/// Frees memory again and again until a helper is there.
inline bool helper_comes(int tasks) {
  return comes_true([tasks] {
    wake_helper();
    return task_count(tasks) >= tasks_with_helper();
  });
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
