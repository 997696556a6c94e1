#include "page/memory/memory_limit.h"

#include "page/give_back/page_cache.h"
#include "support/prelude.h"
#include "support/threads.h"

namespace tarn::internal {
namespace {

constexpr std::size_t kMiB = 1 << 20;

bool charge(MemoryLimit& limit, std::size_t bytes) { return limit.charge_pages(bytes, bytes); }

TEST(MemoryLimit, HasNoLimitAtFirst) {
  MemoryLimit limit;
  EXPECT_EQ(limit.soft_limit(), 0u);
  EXPECT_EQ(limit.hard_limit(), 0u);
  EXPECT_TRUE(charge(limit, std::size_t{1} << 50));
  EXPECT_FALSE(limit.has_events());
  EXPECT_EQ(limit.held(), std::size_t{1} << 50);
}

TEST(MemoryLimit, ChargesUpToTheHardLimitAndNotAByteBeyond) {
  MemoryLimit limit;
  limit.set_limits(0, 10 * kMiB);
  EXPECT_TRUE(charge(limit, 9 * kMiB));
  EXPECT_FALSE(charge(limit, kMiB + 1));
  EXPECT_EQ(MemoryLimit::take_refusal().bytes, kMiB + 1);
  EXPECT_EQ(MemoryLimit::take_refusal().bytes, 0u);
  EXPECT_TRUE(charge(limit, kMiB));
  EXPECT_EQ(limit.room(), 0u);
  EXPECT_FALSE(charge(limit, SIZE_MAX));
  limit.credit(kMiB);
  EXPECT_TRUE(charge(limit, 1));
  EXPECT_EQ(limit.held(), 9 * kMiB + 1);
  EXPECT_FALSE(limit.charge_pages(kMiB, 3 * kMiB));
  EXPECT_EQ(MemoryLimit::take_refusal().bytes, 3 * kMiB);
  EXPECT_TRUE(charge(limit, 0));
  EXPECT_EQ(MemoryLimit::take_refusal().bytes, 0u);  // the last charge was granted
}

TEST(MemoryLimit, RecordsAreChargedBeyondTheHardLimit) {
  MemoryLimit limit;
  limit.set_limits(0, kMiB);
  limit.charge_records(2 * kMiB);
  EXPECT_EQ(limit.above_hard_limit(), kMiB);
  EXPECT_EQ(limit.room(), 0u);
  EXPECT_FALSE(charge(limit, 1));
  EXPECT_TRUE(charge(limit, 0));
}

TEST(MemoryLimit, WhatFitsOnlyInReusablePagesMayBeTried) {
  MemoryLimit limit;
  limit.set_limits(0, 10 * kMiB);
  EXPECT_TRUE(charge(limit, 8 * kMiB));
  EXPECT_TRUE(limit.may_fit(2 * kMiB, 0));
  EXPECT_FALSE(limit.may_fit(3 * kMiB, 0));
  EXPECT_TRUE(limit.may_fit(3 * kMiB, kMiB));
  EXPECT_FALSE(limit.may_fit(11 * kMiB, 8 * kMiB));
  EXPECT_EQ(MemoryLimit::take_refusal().bytes, 11 * kMiB);
}

TEST(MemoryLimit, ACrossingIsToldOnceUntilASixteenthOfTheLimitIsFree) {
  MemoryLimit limit;
  limit.set_limits(16 * kMiB, 0);
  EXPECT_TRUE(charge(limit, 16 * kMiB));
  EXPECT_FALSE(limit.has_events());
  EXPECT_TRUE(charge(limit, 1));
  EXPECT_EQ(limit.take_events(), MemoryLimit::kRose);
  EXPECT_TRUE(limit.begin_search_above_soft_limit());
  EXPECT_FALSE(limit.begin_search_above_soft_limit());
  EXPECT_TRUE(limit.begin_crossing());
  EXPECT_FALSE(limit.begin_crossing());
  limit.credit(kMiB);  // one byte more than 15 MiB is held
  EXPECT_TRUE(charge(limit, kMiB));
  EXPECT_FALSE(limit.has_events());
  limit.credit(kMiB + 1);
  EXPECT_TRUE(charge(limit, kMiB + 1));
  EXPECT_EQ(limit.take_events(), MemoryLimit::kRose);
  EXPECT_TRUE(limit.begin_crossing());
  EXPECT_EQ(limit.crossings(), 2u);
}

TEST(MemoryLimit, AFallWhileACrossingIsAnsweredDoesNotSilenceLaterOnes) {
  MemoryLimit limit;
  limit.set_limits(1000, 0);
  limit.charge_records(1100);
  EXPECT_EQ(limit.take_events(), MemoryLimit::kRose);
  EXPECT_TRUE(limit.begin_search_above_soft_limit());
  limit.credit(200);          // what the search has found
  limit.charge_records(200);  // another thread
  EXPECT_TRUE(limit.begin_crossing());
  static_cast<void>(limit.take_events());
  limit.credit(1000);
  limit.charge_records(1000);
  EXPECT_TRUE(limit.has_events());
  EXPECT_TRUE(limit.begin_crossing());
}

TEST(MemoryLimit, ACrossingIsToldToANewFunctionAndForTheSameLimitOnlyOnce) {
  MemoryLimit limit;
  limit.set_limits(1000, 0);
  limit.charge_records(1100);
  static_cast<void>(limit.take_events());
  EXPECT_TRUE(limit.begin_crossing());
  limit.set_limits(1000, 5000);
  EXPECT_FALSE(limit.has_events());
  limit.set_callback({[](const tarn_limit_event*, void*) {}, nullptr});
  EXPECT_TRUE(limit.has_events());
  EXPECT_TRUE(limit.begin_crossing());
}

TEST(MemoryLimit, ALimitBelowWhatIsHeldRefusesUntilEnoughIsFreeAndZeroLiftsIt) {
  MemoryLimit limit;
  EXPECT_TRUE(charge(limit, 8 * kMiB));
  limit.set_limits(2 * kMiB, 4 * kMiB);
  EXPECT_EQ(limit.take_events(), MemoryLimit::kRose);
  EXPECT_EQ(limit.above_soft_limit(), 6 * kMiB);
  EXPECT_EQ(limit.above_hard_limit(), 4 * kMiB);
  EXPECT_FALSE(charge(limit, 1));
  limit.credit(4 * kMiB + 1);
  EXPECT_TRUE(charge(limit, 1));
  EXPECT_FALSE(charge(limit, 1));
  limit.set_limits(0, 0);
  EXPECT_TRUE(charge(limit, 100 * kMiB));
  EXPECT_EQ(limit.above_soft_limit(), 0u);
}

void search_in_vain(MemoryLimit& limit) {
  limit.begin_search();
  limit.end_search(true);
}

TEST(MemoryLimit, AVainSearchIsNotRepeatedUntilSomethingIsFreed) {
  MemoryLimit limit;
  EXPECT_TRUE(limit.may_search());
  search_in_vain(limit);
  unsigned searches = 0;
  for (int i = 0; i < 1024; ++i) {
    if (!limit.may_search()) continue;
    ++searches;
    search_in_vain(limit);
  }
  EXPECT_EQ(searches, 4u);  // frees that it was not told of may have come
  limit.end_search(false);
  search_in_vain(limit);
  EXPECT_FALSE(limit.may_search());
  limit.note_freed();
  EXPECT_TRUE(limit.may_search());
}

TEST(MemoryLimit, AProgramThatStaysAtItsLimitPaysForEverFewerSearches) {
  EXPECT_EQ(refusals_per_search(0, false), 1u);
  EXPECT_EQ(refusals_per_search(1, false), 256u);
  for (std::uint32_t vain = 1; vain <= 4; ++vain) EXPECT_EQ(refusals_per_search(vain, true), 1u);
  EXPECT_EQ(refusals_per_search(5, true), 2u);
  EXPECT_EQ(refusals_per_search(10, true), 64u);
  EXPECT_EQ(refusals_per_search(UINT32_MAX, true), 64u);
  MemoryLimit limit;
  unsigned searches = 0;
  for (int i = 0; i < 6400; ++i) {
    limit.note_freed();
    if (!limit.may_search()) continue;
    ++searches;
    search_in_vain(limit);
  }
  EXPECT_LE(searches, 120u);
  limit.begin_search();
  limit.end_search(false);
  EXPECT_TRUE(limit.may_search()) << "a search that found enough begins anew";
}

TEST(MemoryLimit, ARefusalByTheSystemIsToldFromOneByTheHardLimit) {
  MemoryLimit limit;
  limit.set_limits(0, kMiB);
  EXPECT_FALSE(charge(limit, 2 * kMiB));
  Refusal refusal = MemoryLimit::take_refusal();
  EXPECT_EQ(refusal.by, Refusal::By::kHardLimit);
  EXPECT_EQ(refusal.bytes, 2 * kMiB);
  MemoryLimit::note_refused_by_system(kMiB);
  refusal = MemoryLimit::take_refusal();
  EXPECT_EQ(refusal.by, Refusal::By::kSystem);
  EXPECT_EQ(refusal.bytes, kMiB);
  EXPECT_EQ(MemoryLimit::take_refusal().by, Refusal::By::kNobody);
}

TEST(MemoryLimit, RefusedRequestsAreCountedAndToldOnceASecond) {
  MemoryLimit limit;
  limit.note_refused_request();
  EXPECT_EQ(limit.take_events(), MemoryLimit::kRefused);
  limit.note_refused_request();
  EXPECT_EQ(limit.refusals(), 2u);
}

TEST(MemoryLimit, OneThreadTellsAtATime) {
  MemoryLimit limit;
  EXPECT_TRUE(limit.begin_telling());
  EXPECT_FALSE(limit.begin_telling());
  limit.forget_after_fork();  // of the thread that tells
  EXPECT_FALSE(limit.begin_telling());
  limit.end_telling();
  std::thread([&] { EXPECT_TRUE(limit.begin_telling()); }).join();
  EXPECT_FALSE(limit.begin_telling());
  limit.forget_after_fork();  // of a thread that is gone
  EXPECT_TRUE(limit.begin_telling());
}

TEST(MemoryLimit, ThreadsThatRaceNeverChargeMoreThanTheLimit) {
  constexpr unsigned kThreads = 8, kCharges = 20'000;
  constexpr std::size_t kLimit = 100 * 64;
  MemoryLimit limit;
  limit.set_limits(kLimit / 2, kLimit);
  std::atomic<bool> was_beyond{false};
  std::atomic<std::size_t> left{0}, refused{0};
  test::in_threads(kThreads, [&](unsigned t) {
    std::size_t own = 0;
    for (unsigned i = 0; i < kCharges; ++i) {
      const std::size_t bytes = 64 * (1 + (i + t) % 7);
      if (charge(limit, bytes)) {
        own += bytes;
      } else {
        ++refused;
        limit.credit(own);
        own = 0;
      }
      if (limit.held() > kLimit) was_beyond = true;
    }
    left += own;
  });
  EXPECT_FALSE(was_beyond);
  EXPECT_GT(refused, 0u);
  EXPECT_EQ(limit.held(), left);
}

// What the account of the library says is what its tiers have.
TEST(MemoryLimit, HoldsPagesInUseFreeDirtyPagesAndRecords) {
  const auto pages = [] {
    const PageCacheStats stats = page_cache.stats();
    return stats.used_bytes + stats.dirty_bytes;
  };
  const std::size_t other = memory_limit.held() - pages();
  const PageRun run = page_cache.allocate_pages(PageCount{100});
  const PageRun aligned = page_cache.allocate_pages(PageCount{3}, Density::kSparse, 4 * kMiB);
  ASSERT_NE(run.start, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(aligned.start) % (4 * kMiB), 0u);
  EXPECT_EQ(memory_limit.held(), other + pages());
  page_cache.free_pages(run.start, PageCount{40}, PageState::kDirty);
  page_cache.free_pages(run.start + bytes_of(PageCount{40}), PageCount{60}, PageState::kClean);
  EXPECT_EQ(memory_limit.held(), other + pages());
  page_cache.validate();
  page_cache.purge(SIZE_MAX);
  page_cache.free_pages(aligned.start, PageCount{3}, PageState::kDirty);
  EXPECT_EQ(memory_limit.held(), other + pages());
  page_cache.validate();
}

TEST(MemoryLimit, RefusesPagesWithoutMemoryButHandsOutThoseThatHaveSome) {
  page_cache.purge(SIZE_MAX);
  PageRun run = page_cache.allocate_pages(PageCount{32});
  page_cache.free_pages(run.start, PageCount{32}, PageState::kDirty);
  memory_limit.set_limits(0, memory_limit.held());
  const std::size_t committed = page_cache.committed_bytes();
  run = page_cache.allocate_pages(PageCount{32});
  EXPECT_NE(run.start, nullptr);
  const PageRun refused = page_cache.allocate_pages(PageCount{1});
  EXPECT_EQ(refused.start, nullptr);
  EXPECT_TRUE(refused.is_beyond_limit);
  EXPECT_EQ(page_cache.allocate_pages(PageCount{1 << 16}).start, nullptr);
  EXPECT_EQ(page_cache.committed_bytes(), committed);  // addresses neither
  bool is_zeroed = false;
  EXPECT_FALSE(page_cache.try_extend(run.start + bytes_of(PageCount{32}), PageCount{1}, &is_zeroed));
  EXPECT_EQ(page_cache.prewarm(kMiB), 0u);
  memory_limit.set_limits(0, 0);
  EXPECT_NE(page_cache.allocate_pages(PageCount{1}).start, nullptr);
  page_cache.validate();
}

}  // namespace
}  // namespace tarn::internal
