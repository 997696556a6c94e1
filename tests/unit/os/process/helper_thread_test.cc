#include "os/process/helper_thread.h"

#include <sched.h>

#include <filesystem>

#include "os/process/process_status.h"
#include "os/process/processors.h"
#include "support/child.h"
#include "support/forked.h"
#include "support/prelude.h"
#include "support/process_memory.h"
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
              const int status = test::forked([] { return helper_is_alive() ? 1 : 0; }, _Fork);
              stop_helper();
              return status == 0 ? 0 : 2;
            }),
            0);
}

TEST(ProcessStatus, CountsTheAddressesOfTheProcess) {
  EXPECT_NEAR(static_cast<double>(address_bytes()), static_cast<double>(test::address_bytes()), 1e6);
}

TEST(ProcessStatus, CountsItsThreads) {
  const std::size_t before = thread_count();
  std::size_t in_thread = 0;
  std::thread([&] { in_thread = thread_count(); }).join();
  EXPECT_GE(before, 1u);
  if (test::kThreadSanitizer) {
    EXPECT_GT(in_thread, before);  // it starts a thread of its own with the program's first
  } else {
    EXPECT_EQ(in_thread, before + 1);
  }
}

TEST(Processors, AreThoseThatTheProcessMayUse) {
  cpu_set_t set;
  ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  EXPECT_EQ(processor_count(), static_cast<unsigned>(CPU_COUNT(&set)));
}

// Numbers from 0 on, whatever the kernel calls the processors.
TEST(Processors, HaveTheirNumberAmongThese) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  std::thread([&] {
    unsigned expected = 0;
    for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
      if (!CPU_ISSET(processor, &all)) continue;
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(processor, &one);
      ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
      EXPECT_EQ(this_processor(), expected++);
    }
  }).join();
}

}  // namespace
}  // namespace tarn::internal::os
