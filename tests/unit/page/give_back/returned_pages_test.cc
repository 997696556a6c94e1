#include "page/give_back/returned_pages.h"

#include "page/give_back/background.h"
#include "page/give_back/page_cache.h"
#include "page/give_back/unused_reserves.h"
#include "page/memory/metadata.h"
#include "page/spans.h"
#include "page/spans/page_map.h"
#include "support/prelude.h"

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

TEST(LeaveMemory, IsRefusedForLittleAndWhereNothingIsKept) {
  EXPECT_TRUE(may_leave_memory(Background::kWorthATick));
  EXPECT_FALSE(may_leave_memory(Background::kWorthATick - 1));
  background.configure(false, 0);
  EXPECT_FALSE(may_leave_memory(Background::kWorthATick));
}

class UnusedReserves : public ::testing::Test {
 protected:
  void SetUp() override {
    page_cache.configure({0, SIZE_MAX, std::size_t{1} << 30});
    metadata.reserve();
    run = page_cache.allocate_pages(PageCount{3}).start;
    std::memset(run, 1, 3 * kPageBytes);
  }

  char* run = nullptr;
};

TEST_F(UnusedReserves, AreGivenUpAsAWholeAndOnlyOnce) {
  const std::size_t unused = unused_reserve_bytes();
  EXPECT_GE(unused, (std::size_t{1} << 30) - kChunkBytes);
  EXPECT_EQ(release_unused_reserves(), unused);
  EXPECT_EQ(unused_reserve_bytes(), 0u);
  EXPECT_EQ(release_unused_reserves(), 0u);
  page_cache.validate();
  metadata.validate();
}

TEST_F(UnusedReserves, WhatIsInUseStaysAsItIs) {
  release_unused_reserves();
  EXPECT_EQ(run[0], 1);
  EXPECT_EQ(run[3 * kPageBytes - 1], 1);
  EXPECT_EQ(page_cache.stats().used_bytes, 3 * kPageBytes);
}

TEST_F(UnusedReserves, LaterOnesAreTakenWhenNeeded) {
  release_unused_reserves();
  char* const more = page_cache.allocate_pages(PageCount{5 * kPagesPerChunk}).start;
  ASSERT_NE(more, nullptr);
  std::memset(more, 1, 5 * kChunkBytes);
  for (int i = 0; i < 100; ++i) ASSERT_NE(metadata.allocate(Metadata::kLargestReused), nullptr);
  page_cache.validate();
  metadata.validate();
}

TEST_F(UnusedReserves, StayWhileTheLocksCannotBeHad) {
  std::thread([] {}).join();  // from now on locks are taken
  for (os::Mutex* const mutex :
       {&os::global_mutex<os::LockRank::kPageGrowth>(), &os::global_mutex<os::LockRank::kPageCache>(),
        &os::global_mutex<os::LockRank::kMetadata>()}) {
    const os::LockGuard guard(*mutex);
    std::thread([] {
      EXPECT_EQ(unused_reserve_bytes(), 0u);
      EXPECT_EQ(release_unused_reserves(), 0u);
    }).join();
  }
  EXPECT_NE(release_unused_reserves(), 0u);
}

}  // namespace
}  // namespace tarn::internal
