#include "page/give_back/background.h"

#include "page/give_back/page_cache.h"
#include "support/child.h"
#include "support/prelude.h"
#include "support/sanitizer.h"
#include "support/wait.h"

namespace tarn::internal {
namespace {

// Each test runs in a process of its own (CMakeLists.txt): times and limits are set once.
constexpr std::uint32_t kNeverMs = 1'000'000'000;
constexpr PageCount kMuch{512};
static_assert(bytes_of(kMuch) >= 64 * Background::kWorthATick);

void free_pages(PageCount pages) {
  page_cache.free_pages(page_cache.allocate_pages(pages).start, pages, PageState::kDirty);
}

enum class Thread : std::uint8_t { kNone, kAllowed };

class BackgroundTest : public ::testing::Test {
 protected:
  void TearDown() override {
    background.configure(false, 2000);
    background.apply_change();
    EXPECT_TRUE(test::comes_true([] { return !background.has_thread(); }));
    background.set_trim_idle(nullptr);
    page_cache.validate();
  }

  static void begin(Thread thread, std::uint32_t decay_ms, std::size_t threshold) {
    background.set_trim_idle(nullptr);
    background.configure(thread == Thread::kAllowed, decay_ms);
    page_cache.configure({threshold, SIZE_MAX, std::size_t{1} << 30});
  }
};

TEST_F(BackgroundTest, WhoFreesMuchGivesTheExcessBackAtOnce) {
  begin(Thread::kNone, kNeverMs, bytes_of(kMuch) / 2);
  free_pages(kMuch);
  ASSERT_TRUE(page_cache.exceeds_limit());
  background.notice(bytes_of(kMuch));
  EXPECT_FALSE(page_cache.exceeds_limit());
  EXPECT_NE(page_cache.dirty_bytes(), 0u);
  EXPECT_FALSE(background.has_thread());
}

TEST_F(BackgroundTest, WhoFreesLittleGivesBackAPart) {
  begin(Thread::kNone, kNeverMs, bytes_of(kMuch) / 2);
  free_pages(kMuch);
  const std::size_t before = page_cache.dirty_bytes();
  background.notice(kPageBytes);
  EXPECT_LT(page_cache.dirty_bytes(), before);
  EXPECT_TRUE(page_cache.exceeds_limit());
  for (int i = 0; i < 100; ++i) background.notice(kPageBytes);
  EXPECT_FALSE(page_cache.exceeds_limit());
}

TEST_F(BackgroundTest, CallsGiveBackWhatNobodyNeedsInSteps) {
  begin(Thread::kNone, 10, 2 * bytes_of(kMuch));
  free_pages(kMuch);
  const std::size_t before = page_cache.dirty_bytes();
  ASSERT_TRUE(test::comes_true([&] { return background.step(), page_cache.dirty_bytes() < before; }));
  EXPECT_TRUE(background.has_step());
  EXPECT_NE(page_cache.dirty_bytes(), 0u);
  EXPECT_TRUE(test::comes_true([] { return background.step(), page_cache.dirty_bytes() == 0; }));
  EXPECT_FALSE(background.has_step());
}

TEST_F(BackgroundTest, AStepOfALookThatHasMoreIsFollowedByAnother) {
  static int steps = 0;
  begin(Thread::kNone, 10, 0);
  background.set_trim_idle([](LookShare share) {
    EXPECT_EQ(share, LookShare::kStep);
    return ++steps % 5 == 0 ? LookState::kDoneAllIdle : LookState::kHasMore;
  });
  ASSERT_TRUE(test::comes_true([] { return background.step(), steps != 0; }));
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(background.has_step());
    background.step();
  }
  EXPECT_EQ(steps, 5);
  EXPECT_FALSE(background.has_step());
}

TEST_F(BackgroundTest, ALookThatComesDueWhileAnotherThreadGivesBackIsOfALaterCall) {
  static int steps = 0;
  begin(Thread::kNone, 10, 0);
  background.set_trim_idle([](LookShare) { return ++steps, LookState::kDoneAllIdle; });
  {
    const GiveBackGuard give_back;
    EXPECT_TRUE(test::comes_true([] { return background.step(), background.has_step(); }));
    background.step();
    EXPECT_EQ(steps, 0);
  }
  background.step();
  EXPECT_EQ(steps, 1);
  EXPECT_FALSE(background.has_step());
}

TEST_F(BackgroundTest, WithoutADecayTimeEachPageGoesBackAtOnce) {
  begin(Thread::kAllowed, 0, 0);
  free_pages(PageCount{1});
  background.notice(kPageBytes);
  EXPECT_EQ(page_cache.dirty_bytes(), 0u);
  EXPECT_FALSE(background.has_thread());
}

TEST_F(BackgroundTest, ALittleFreeMemoryIsNotWorthAThread) {
  begin(Thread::kAllowed, 2000, 0);
  free_pages(pages_for(Background::kWorthATick) - PageCount{1});
  background.notice(Background::kWorthATick);
  EXPECT_FALSE(background.has_thread());
  EXPECT_NE(page_cache.dirty_bytes(), 0u);
}

TEST_F(BackgroundTest, TheThreadGivesBackWhatExceedsTheLimitLongBeforeItDecays) {
  begin(Thread::kAllowed, kNeverMs, bytes_of(kMuch) / 2);
  free_pages(kMuch);
  background.notice(bytes_of(kMuch));
  EXPECT_TRUE(background.has_thread());
  EXPECT_TRUE(test::comes_true([] { return !page_cache.exceeds_limit(); }));
  EXPECT_NE(page_cache.dirty_bytes(), 0u);
}

constinit std::atomic<int> looks{0};

TEST_F(BackgroundTest, TheThreadLooksAtTheTiersAboveAndAtUnusedPages) {
  begin(Thread::kAllowed, 20, 2 * bytes_of(kMuch));
  background.set_trim_idle([](LookShare share) {
    return ++looks, share == LookShare::kAll ? LookState::kDone : LookState::kHasMore;
  });
  free_pages(kMuch);
  background.notice(bytes_of(kMuch));
  EXPECT_TRUE(test::comes_true([] { return looks > 10 && page_cache.dirty_bytes() == 0; }));
  EXPECT_FALSE(background.has_step());
}

TEST_F(BackgroundTest, TheThreadThatRestsIsWokenByFreeMemory) {
  begin(Thread::kAllowed, 20, 2 * bytes_of(kMuch));
  free_pages(kMuch);
  background.notice(bytes_of(kMuch));
  ASSERT_TRUE(test::comes_true([] { return page_cache.dirty_bytes() == 0; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // it rests
  free_pages(kMuch);
  const auto start = std::chrono::steady_clock::now();
  background.notice(bytes_of(kMuch));
  EXPECT_TRUE(test::comes_true([] { return page_cache.dirty_bytes() == 0; }));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(1500));
}

TEST_F(BackgroundTest, AChildOfAForkStartsAThreadOfItsOwn) {
  if (test::kThreadSanitizer) GTEST_SKIP() << "ThreadSanitizer lets no such child start a thread";
  begin(Thread::kAllowed, 2000, bytes_of(kMuch) / 2);
  ASSERT_TRUE(background.ensure_thread());
  const test::ChildResult result = test::run_in_child([] {
    background.forget_after_fork();
    const bool had_none = !background.has_thread();
    return had_none && background.ensure_thread() ? 0 : 1;
  });
  EXPECT_TRUE(result.is_success()) << result.describe();
}

}  // namespace
}  // namespace tarn::internal
