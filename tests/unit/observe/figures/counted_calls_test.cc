// With count_calls every call and every requested byte is counted.
#include <pthread.h>

#include "base/units.h"
#include "observe/figures/stats.h"
#include "support/prelude.h"
#include "support/sizes.h"
#include "tarn/arena.h"
#include "tarn/memory_pool.h"
#include "thread/watch/call_counts.h"

namespace tarn::internal {
namespace {

using test::kMiB;

[[gnu::constructor(101)]] void count_calls() {
  setenv("TARN_COUNT_CALLS", "1", 1);
  tarn::deallocate(tarn::allocate(1));  // reads the options
}

struct Totals {
  std::uint64_t allocations, deallocations, requested_bytes;
};

Totals totals() {
  const auto stats = std::make_unique<Stats>();
  collect_stats(*stats);
  EXPECT_TRUE(stats->are_calls_counted);
  Totals sum{stats->large_calls.allocations, stats->large_calls.deallocations,
             stats->large_calls.requested_bytes};
  for (const ClassUse& use : stats->classes) {
    sum.allocations += use.allocations;
    sum.deallocations += use.deallocations;
    sum.requested_bytes += use.requested_bytes;
  }
  return sum;
}

TEST(CountedCalls, AreExact) {
  for (const std::size_t size : {5u, 100u, 1000u, 3000u, 100000u, 1000000u}) {
    const Totals before = totals();
    for (int i = 0; i < 10; ++i) tarn::deallocate(tarn::allocate(size));
    tarn::deallocate(tarn::allocate_zeroed(1, size), size);
    const Totals after = totals();
    EXPECT_EQ(after.allocations - before.allocations, 11u) << size;
    EXPECT_EQ(after.deallocations - before.deallocations, 11u) << size;
    EXPECT_EQ(after.requested_bytes - before.requested_bytes, 11 * size) << size;
  }
}

TEST(CountedCalls, BlocksOfEndedThreadsCountToo) {
  for (const std::size_t size : {100u, 1000000u}) {
    const Totals before = totals();
    const std::size_t live = counted_live.bytes;
    pthread_key_t key;
    pthread_key_create(&key, [](void* block) {  // when the thread's heap has gone
      tarn::deallocate(block);
      tarn::deallocate(tarn::allocate(100));
    });
    std::thread([&] { pthread_setspecific(key, tarn::allocate(size)); }).join();
    pthread_key_delete(key);
    EXPECT_EQ(totals().allocations - before.allocations, 2u) << size;
    EXPECT_EQ(totals().deallocations - before.deallocations, 2u) << size;
    EXPECT_EQ(counted_live.bytes, live) << size;
  }
}

TEST(CountedCalls, AThreadMayFreeBeforeItAllocates) {
  for (const std::size_t size : {100u, 1000000u}) {
    const std::size_t live = counted_live.bytes;
    void* const block = tarn::allocate(size);
    std::thread([&] { tarn::deallocate(block); }).join();
    EXPECT_EQ(counted_live.bytes, live) << size;
  }
}

TEST(CountedCalls, ALargeBlockThatGrowsIsOneBlock) {
  void* const block = tarn::allocate(4 * kMiB, kChunkBytes);
  const Totals before = totals();
  const std::size_t live = counted_live.bytes;
  counted_live.peak_bytes = live;
  void* const grown = tarn::reallocate(block, 6 * kMiB);
  EXPECT_EQ(counted_live.bytes, live + 2 * kMiB);
  EXPECT_EQ(counted_live.peak_bytes, live + 2 * kMiB);
  EXPECT_EQ(totals().allocations - before.allocations, grown == block ? 0u : 1u);
  tarn::deallocate(grown);
}

TEST(CountedCalls, AMoveOfPagesIsAnAllocation) {
  void* const block = tarn::allocate(8 * kMiB, kChunkBytes);  // pages move by whole chunks
  const Totals before = totals();
  void* const moved = tarn::reallocate(block, std::size_t{1} << 30);
  ASSERT_NE(moved, block);
  EXPECT_EQ(totals().allocations - before.allocations, 1u);
  EXPECT_EQ(totals().deallocations - before.deallocations, 1u);
  tarn::deallocate(moved);
}

TEST(CountedCalls, ThePeakIsAtLeastWhatIsLive) {
  Arena arena;
  static_cast<void>(arena.allocate(64 * kMiB));
  const auto stats = std::make_unique<Stats>();
  collect_stats(*stats);
  EXPECT_GE(stats->live_bytes, 64 * kMiB);
  EXPECT_GE(stats->peak_live_bytes, stats->live_bytes);
}

TEST(CountedCalls, AlignedOnesCountWithTheBytesAskedFor) {
  const Totals before = totals();
  tarn::deallocate(tarn::allocate(100, 64), 100, 64);
  const Totals after = totals();
  EXPECT_EQ(after.allocations - before.allocations, 1u);
  EXPECT_EQ(after.deallocations - before.deallocations, 1u);
  EXPECT_EQ(after.requested_bytes - before.requested_bytes, 100u);
}

}  // namespace
}  // namespace tarn::internal
