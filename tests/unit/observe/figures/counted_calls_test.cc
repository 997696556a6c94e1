// With count_calls every call and every requested byte is counted.
#include "observe/figures/stats.h"
#include "support/prelude.h"
#include "tarn/memory_pool.h"

namespace tarn::internal {
namespace {

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
