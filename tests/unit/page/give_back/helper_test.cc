// A helper of the test's own, whose work is to wait until it is told to end.
#include "page/give_back/helper.h"

#include <gtest/gtest.h>

#include "support/child.h"
#include "support/sanitizer.h"
#include "support/wait.h"

namespace tarn::internal {
namespace {

constinit std::atomic<bool> may_end{false}, is_work_left{false};
constinit std::atomic<int> runs{0};

void wait_until_told() {
  ++runs;
  for (;;) {
    const std::uint32_t wakes = os::helper_wakes();
    if (os::helper_must_stop() || may_end) return;
    os::helper_sleep(wakes, 10'000);
  }
}

class HelperLife : public ::testing::Test {
 protected:
  void SetUp() override {
    if (test::kSanitizer) GTEST_SKIP() << "a sanitizer's build has no helper";
    may_end = is_work_left = false;
    own.note_that_it_can_step_aside();
  }
  void TearDown() override { own.step_aside(); }

  Helper own{{[] {}, wait_until_told, [] { return is_work_left.load(); }}};
};

TEST_F(HelperLife, BeginsWhenItIsFirstNeeded) {
  EXPECT_FALSE(own.is_running());
  EXPECT_TRUE(own.ensure());
  EXPECT_TRUE(own.ensure());
  EXPECT_TRUE(own.is_running());
  EXPECT_TRUE(test::comes_true([] { return runs == 1; }));
}

TEST_F(HelperLife, DoesNotBeginWhereItMayNot) {
  own.configure(false);
  EXPECT_FALSE(own.ensure());
  own.configure(true);
  EXPECT_TRUE(own.ensure());
}

TEST_F(HelperLife, EndsWhenItsWorkIsDoneAndBeginsAgain) {
  ASSERT_TRUE(own.ensure());
  may_end = true;
  os::wake_helper();
  EXPECT_TRUE(test::comes_true([&] { return !own.is_running(); }));
  may_end = false;
  EXPECT_TRUE(own.ensure());
}

TEST_F(HelperLife, IsGoneWhileSomebodyNeedsItAside) {
  ASSERT_TRUE(own.ensure());
  own.step_aside();
  EXPECT_FALSE(own.is_running());
  EXPECT_FALSE(own.ensure());
  own.step_aside();
  own.return_now();
  EXPECT_FALSE(own.ensure()) << "the first has not let it back";
  own.return_now();
  EXPECT_TRUE(test::comes_true([&] { return own.ensure(); })) << "after the pause between two helpers";
}

TEST_F(HelperLife, ComesBackAtOnceOnlyWhenWorkIsLeft) {
  ASSERT_TRUE(own.ensure());
  own.step_aside();
  own.return_now();
  EXPECT_FALSE(own.is_running());
  ASSERT_TRUE(own.ensure());
  is_work_left = true;
  own.step_aside();
  own.return_now();
  EXPECT_TRUE(own.is_running());
}

TEST_F(HelperLife, ComesBackAfterAForkWithASlowCallAndNotAtOnce) {
  ASSERT_TRUE(own.ensure());
  is_work_left = true;
  own.step_aside();
  constexpr std::uint64_t kFarMs = 1'000'000;
  own.return_later(kFarMs);
  own.on_slow_call();
  EXPECT_FALSE(own.is_running()) << "the pause is not over";
  own.step_aside();
  own.return_later();
  EXPECT_FALSE(own.is_running());
  EXPECT_TRUE(test::comes_true([&] { return own.on_slow_call(), own.is_running(); }));
}

TEST_F(HelperLife, ASlowCallStartsNothingThatNobodyWants) {
  own.on_slow_call();
  EXPECT_FALSE(own.is_running());
}

TEST_F(HelperLife, IsForbiddenForGood) {
  ASSERT_TRUE(own.ensure());
  is_work_left = true;
  own.step_aside();
  own.forbid();
  own.return_now();
  EXPECT_FALSE(own.is_running());
  EXPECT_FALSE(own.ensure());
}

TEST_F(HelperLife, AChildOfAForkHasNoneAndMayStartItsOwn) {
  ASSERT_TRUE(own.ensure());
  own.step_aside();
  const test::ChildResult result = test::run_in_child([&] {
    own.forget_after_fork(Helper::OtherThreads::kNone);
    const bool had_none = !own.is_running(), starts = own.ensure();
    own.step_aside();
    return had_none && starts ? 0 : 1;
  });
  own.return_now();
  EXPECT_TRUE(result.is_success()) << result.describe();
}

TEST_F(HelperLife, PausesOfThreadsThatAForkLeftBehindAreOver) {
  for (int i = 0; i < 3; ++i) own.step_aside();
  const test::ChildResult result = test::run_in_child([&] {
    own.forget_after_fork(Helper::OtherThreads::kGone);
    const bool starts = own.ensure();
    own.step_aside();
    return starts ? 0 : 1;
  });
  EXPECT_TRUE(result.is_success()) << result.describe();
}

}  // namespace
}  // namespace tarn::internal
