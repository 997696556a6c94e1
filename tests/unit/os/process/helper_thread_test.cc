#include "os/process/helper_thread.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <iterator>
#include <thread>

#include "support/child.h"
#include "support/sanitizer.h"

namespace tarn::internal::os {
namespace {

constinit std::atomic<bool> has_run{false};
constinit std::atomic<bool> may_end{false};

void run_until_asked_to_end() {
  has_run = true;
  for (;;) {
    const std::uint32_t wakes = helper_wakes();
    if (helper_must_stop() || may_end) return;
    helper_sleep(wakes, 10'000);
  }
}

std::ptrdiff_t count_threads() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                       std::filesystem::directory_iterator());
}

// In a child of a fork, which has one thread and no helper.
int in_child(int (*body)()) {
  const test::ChildResult result = test::run_in_child([body] { return body(); });
  return result.is_success() ? 0 : 1;
}

class HelperThread : public ::testing::Test {
 protected:
  void SetUp() override {
    if (test::kSanitizer) GTEST_SKIP() << "a sanitizer's build has no helper";
  }
};

TEST_F(HelperThread, RunsItsBodyAndEndsWhenAskedTo) {
  EXPECT_EQ(in_child([] {
              has_run = may_end = false;
              if (start_helper(run_until_asked_to_end) != HelperStart::kStarted || !helper_is_alive())
                return 1;
              if (stop_helper() != HelperEnd::kEnded || helper_is_alive()) return 2;
              return count_threads() == 1 ? 0 : 3;  // at once: the kernel has forgotten it
            }),
            0);
}

TEST_F(HelperThread, EndsByItself) {
  EXPECT_EQ(in_child([] {
              may_end = true;
              if (start_helper(run_until_asked_to_end) != HelperStart::kStarted) return 1;
              while (helper_is_alive()) std::this_thread::yield();
              return stop_helper() == HelperEnd::kWasNone ? 0 : 2;
            }),
            0);
}

TEST_F(HelperThread, CanBeStartedAgainAndAgain) {
  EXPECT_EQ(in_child([] {
              may_end = false;
              for (int i = 0; i < 200; ++i)
                if (start_helper(run_until_asked_to_end) != HelperStart::kStarted ||
                    stop_helper() != HelperEnd::kEnded)
                  return 1;
              return 0;
            }),
            0);
}

TEST_F(HelperThread, IsNotThereInAChildOfABareClone) {
  EXPECT_EQ(in_child([] {
              may_end = false;
              if (start_helper(run_until_asked_to_end) != HelperStart::kStarted) return 1;
              const pid_t child = _Fork();
              if (child == 0) _exit(helper_is_alive() ? 1 : 0);
              int status = 1;
              waitpid(child, &status, 0);
              stop_helper();
              return status == 0 ? 0 : 2;
            }),
            0);
}

}  // namespace
}  // namespace tarn::internal::os
