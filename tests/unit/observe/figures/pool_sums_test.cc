#include "observe/figures/pool_sums.h"

#include <gtest/gtest.h>

#include <string>

#include "tarn/fixed_pool.h"
#include "tarn/heap.h"

namespace tarn::internal {
namespace {

PoolUse use_named(const char* name) {
  PoolUse use{};
  use.kind = "heap";
  use.name = name;
  use.live_bytes = 100;
  use.limit_bytes = 1000;
  use.mapped_limit_bytes = PoolUse::kNoLimit;
  use.refusals = 3;
  return use;
}

std::size_t count_of(const PoolSums& sums) {
  std::size_t count = 0;
  for (const PoolSum* sum = sums.first(); sum != nullptr; sum = sum->next) ++count;
  return count;
}

TEST(PoolSums, AddsPoolsWithEqualLabels) {
  PoolSums sums;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(sums.add(use_named("session")));
  ASSERT_EQ(count_of(sums), 1u);
  const PoolSum& sum = *sums.first();
  EXPECT_EQ(sum.pools, 3u);
  EXPECT_EQ(sum.use.live_bytes, 300u);
  EXPECT_EQ(sum.use.limit_bytes, 3000u);
  EXPECT_EQ(sum.use.refusals, 9u);
  EXPECT_EQ(sum.use.mapped_limit_bytes, PoolUse::kNoLimit);
}

TEST(PoolSums, OnePoolWithoutALimitLeavesTheSumWithoutOne) {
  PoolSums sums;
  PoolUse open = use_named("session");
  open.limit_bytes = PoolUse::kNoLimit;
  EXPECT_TRUE(sums.add(use_named("session")));
  EXPECT_TRUE(sums.add(open));
  EXPECT_TRUE(sums.add(use_named("session")));
  EXPECT_EQ(sums.first()->use.limit_bytes, PoolUse::kNoLimit);
}

TEST(PoolSums, KeepsApartWhatDiffersInAnyLabel) {
  PoolSums sums;
  PoolUse other_kind = use_named("session"), other_size = other_kind, in_a = other_kind, in_b = other_kind;
  other_kind.kind = "fixed pool";
  other_size.block_bytes = 64;
  in_a.parent = "a";
  in_b.parent = "b";
  for (const PoolUse& use : {use_named("session"), use_named("other"), other_kind, other_size, in_a, in_b})
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(sums.add(use));
  EXPECT_EQ(count_of(sums), 6u);
  EXPECT_STREQ(sums.first()->use.name, "session") << "in the order of the first ones";
}

TEST(PoolSums, HasNamesThatOutliveTheVisit) {
  PoolSums sums;
  Heap tenant("tenant"), session({.name = "session", .parent = &tenant});
  FixedPool packets({.block_bytes = 64, .name = "packets"});
  ASSERT_TRUE(sums.collect());
  std::string names;
  for (const PoolSum* sum = sums.first(); sum != nullptr; sum = sum->next)
    names += std::string(sum->use.name) +
             (sum->use.parent != nullptr ? std::string("<") + sum->use.parent : "") + " ";
  EXPECT_EQ(names, "tenant session<tenant packets ");
}

}  // namespace
}  // namespace tarn::internal
