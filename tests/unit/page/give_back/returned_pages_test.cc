#include "page/give_back/returned_pages.h"

#include <gtest/gtest.h>

#include "page/give_back/background.h"
#include "page/give_back/helper.h"
#include "page/give_back/page_cache.h"
#include "page/spans.h"
#include "page/spans/page_map.h"
#include "support/sanitizer.h"

namespace tarn::internal {
namespace {

Span* allocate(std::uint32_t pages) {
  return allocate_span({.pages = PageCount{pages}, .kind = SpanKind::kLarge});
}

TEST(ReturnedPagesTest, StayOutOfThePageCacheUntilTheyAreGivenBack) {
  Span* const span = allocate(2);
  char* const start = span->start;
  const std::size_t used = page_cache.stats().used_bytes;
  ReturnedPages returned;
  returned.add(span);
  EXPECT_EQ(returned.bytes(), 2 * kPageBytes);
  EXPECT_EQ(page_cache.stats().used_bytes, used);
  EXPECT_NE(page_map.find(start), nullptr);
  returned.give_back();
  EXPECT_EQ(page_cache.stats().used_bytes, used - 2 * kPageBytes);
  EXPECT_EQ(page_map.find(start), nullptr);
}

TEST(ReturnedPagesTest, GoBackAtTheLatestWhenTheyGoOutOfScope) {
  Span *const first = allocate(1), *const second = allocate(3);
  const std::size_t used = page_cache.stats().used_bytes;
  {
    ReturnedPages returned;
    returned.add(first);
    returned.add(second);
  }
  EXPECT_EQ(page_cache.stats().used_bytes, used - 4 * kPageBytes);
}

TEST(LeaveToHelper, IsRefusedForLittleAndWhereNoHelperComes) {
  EXPECT_FALSE(may_leave_to_helper(Background::kWorthATick - 1));
  background.configure(true, 0);
  EXPECT_FALSE(may_leave_to_helper(Background::kWorthATick));
  background.configure(false, 2000);
  EXPECT_FALSE(may_leave_to_helper(Background::kWorthATick));
  EXPECT_FALSE(leave_to_helper());
  background.configure(true, 2000);
  const bool may_leave = may_leave_to_helper(Background::kWorthATick);
  EXPECT_EQ(may_leave, helper.is_running());
  EXPECT_EQ(leave_to_helper(), may_leave);
}

TEST(LeaveToHelper, IsNotHeardByAHelperThatHasEnded) {
  if (test::kSanitizer) GTEST_SKIP() << "a sanitizer's build has no helper";
  ASSERT_TRUE(may_leave_to_helper(Background::kWorthATick));
  helper.step_aside();
  EXPECT_FALSE(leave_to_helper());
  helper.return_now();
  EXPECT_TRUE(helper.is_running()) << "what was left is work";
}

}  // namespace
}  // namespace tarn::internal
