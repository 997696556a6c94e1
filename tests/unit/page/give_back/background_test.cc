// Each test runs in a process of its own (CMakeLists.txt): times and limits are set once.
#include "page/give_back/background.h"

#include <gtest/gtest.h>

#include <atomic>

#include "page/give_back/page_cache.h"
#include "support/sanitizer.h"
#include "support/wait.h"

namespace tarn::internal {
namespace {

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
