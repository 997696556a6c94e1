#include "page/give_back/helper.h"

#include "page/give_back/background.h"
#include "page/give_back/page_cache.h"
#include "support/child.h"
#include "support/prelude.h"
#include "support/sanitizer.h"
#include "support/wait.h"

namespace tarn::internal {
namespace {

// -- A helper of the test's own, whose work is to wait until it is told to end.

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

// -- Each test runs in a process of its own (CMakeLists.txt): times and limits are set once.

constexpr std::uint32_t kNeverMs = 1'000'000'000;
constexpr PageCount kMuch{512};
static_assert(bytes_of(kMuch) >= 64 * Background::kWorthATick);

void free_pages(PageCount pages) {
  page_cache.free_pages(page_cache.allocate_pages(pages).start, pages, PageState::kDirty);
}

enum class Helpers { kNone, kAllowed };

class BackgroundTest : public ::testing::Test {
 protected:
  void TearDown() override {
    background.configure(false, kNeverMs);
    { const HelperPause ends_it; }
    background.set_trim_idle(nullptr);
    page_cache.validate();
  }

  void begin(Helpers helpers, std::uint32_t decay_ms, std::size_t threshold) {
    helper.note_that_it_can_step_aside();
    background.configure(helpers == Helpers::kAllowed, decay_ms);
    page_cache.configure({threshold, SIZE_MAX, std::size_t{1} << 30});
  }
};

class BackgroundHelperTest : public BackgroundTest {
 protected:
  void SetUp() override {
    if (test::kSanitizer) GTEST_SKIP() << "a sanitizer's build has no helper";
  }
};

TEST_F(BackgroundTest, WithoutAHelperTheThreadThatFreesGivesTheExcessBack) {
  begin(Helpers::kNone, kNeverMs, bytes_of(kMuch) / 2);
  free_pages(kMuch);
  ASSERT_TRUE(page_cache.exceeds_limit());
  background.notice();
  EXPECT_FALSE(page_cache.exceeds_limit());
  EXPECT_NE(page_cache.dirty_bytes(), 0u);
  EXPECT_FALSE(helper.is_running());
}

TEST_F(BackgroundTest, WithoutAHelperTheThreadsThatFreeTickTheClock) {
  begin(Helpers::kNone, 10, 2 * bytes_of(kMuch));
  free_pages(kMuch);
  EXPECT_TRUE(test::comes_true([] { return background.notice(), page_cache.dirty_bytes() == 0; }));
}

TEST_F(BackgroundTest, WithoutADecayTimeEachPageGoesBackAtOnce) {
  begin(Helpers::kAllowed, 0, 0);
  free_pages(PageCount{1});
  background.notice();
  EXPECT_EQ(page_cache.dirty_bytes(), 0u);
  EXPECT_FALSE(helper.is_running());
}

TEST_F(BackgroundHelperTest, WithoutADecayTimeTheHelperTrimsTheTiersAboveAndEnds) {
  static std::atomic<unsigned> trims{0};
  begin(Helpers::kAllowed, 0, 0);
  background.set_trim_idle([] { return ++trims != 0; });
  ASSERT_TRUE(helper.ensure());
  EXPECT_TRUE(test::comes_true([] { return !helper.is_running(); }));
  EXPECT_GE(trims.load(), 4u);
}

TEST_F(BackgroundTest, ALittleFreeMemoryIsNotWorthAThread) {
  begin(Helpers::kAllowed, 2000, 0);
  free_pages(pages_for(Background::kWorthATick) - PageCount{1});
  background.notice();
  EXPECT_FALSE(helper.is_running());
  EXPECT_NE(page_cache.dirty_bytes(), 0u);
}

TEST_F(BackgroundHelperTest, TheHelperGivesBackWhatExceedsTheLimitLongBeforeItDecays) {
  begin(Helpers::kAllowed, kNeverMs, bytes_of(kMuch) / 2);
  free_pages(kMuch);
  background.notice();
  EXPECT_TRUE(helper.is_running());
  EXPECT_TRUE(test::comes_true([] { return !page_cache.exceeds_limit(); }));
  EXPECT_NE(page_cache.dirty_bytes(), 0u);
}

TEST_F(BackgroundHelperTest, TheHelperEndsWhenThereIsNothingLeftToGiveBack) {
  begin(Helpers::kAllowed, 20, 2 * bytes_of(kMuch));
  free_pages(kMuch);
  background.notice();
  EXPECT_TRUE(test::comes_true([] { return page_cache.dirty_bytes() == 0; }));
  EXPECT_TRUE(test::comes_true([] { return !helper.is_running(); }));
}

constinit std::atomic<int> looks{0};
constinit std::atomic<bool> is_idle{false};

TEST_F(BackgroundHelperTest, TheHelperLooksAtTheTiersAboveAndStaysWhileTheyAreAtWork) {
  begin(Helpers::kAllowed, 20, 2 * bytes_of(kMuch));
  background.set_trim_idle([] { return ++looks, is_idle.load(); });
  free_pages(kMuch);
  background.notice();
  EXPECT_TRUE(test::comes_true([] { return looks > 10; }));
  EXPECT_TRUE(helper.is_running());
  is_idle = true;
  EXPECT_TRUE(test::comes_true([] { return !helper.is_running(); }));
}

TEST_F(BackgroundTest, WorkIsLeftWhileThereIsMuchFreeMemoryOrTheTiersAboveAreAtWork) {
  begin(Helpers::kNone, 10, 2 * bytes_of(kMuch));
  EXPECT_TRUE(Background::was_left()) << "nobody has looked yet";
  free_pages(kMuch);
  EXPECT_TRUE(Background::was_left());
  EXPECT_TRUE(test::comes_true([] { return background.notice(), page_cache.dirty_bytes() == 0; }));
  EXPECT_FALSE(Background::was_left());
}

TEST_F(BackgroundHelperTest, AHelperThatSteppedAsideGoesOnWithItsWork) {
  begin(Helpers::kAllowed, kNeverMs, bytes_of(kMuch) / 2);
  free_pages(kMuch);
  background.notice();
  {
    const HelperPause pause;
    EXPECT_FALSE(helper.is_running());
  }
  EXPECT_TRUE(helper.is_running());
  background.notice();
  EXPECT_TRUE(test::comes_true([] { return !page_cache.exceeds_limit(); })) << "announced anew";
}

}  // namespace
}  // namespace tarn::internal
