#include "page/give_back/unused_reserves.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "page/give_back/page_cache.h"
#include "page/memory/metadata.h"

namespace tarn::internal {
namespace {

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
