#include "pool/thread_magazines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <set>
#include <vector>

#include "support/pool_with_magazines.h"
#include "support/sizes.h"

namespace tarn::internal {
namespace {

using test::PoolWithMagazines;

detail::FixedPoolState& state_of(PoolWithMagazines& pool) { return detail::FixedPoolAccess::state(pool); }

class Magazines : public ::testing::Test {
 protected:
  void SetUp() override {
    PoolWithMagazines pool(64);
    if (state_of(pool).magazines.load() == nullptr) GTEST_SKIP() << "free blocks are poisoned";
  }
};

std::size_t entries_of(PoolWithMagazines& pool) { return state_of(pool).magazines.load()->count(); }

std::vector<void*> take(PoolWithMagazines& pool, std::size_t count) {
  std::vector<void*> blocks;
  for (std::size_t i = 0; i < count; ++i) blocks.push_back(pool.allocate());
  return blocks;
}

TEST_F(Magazines, TakeAWordOfBitsAndHandItOutFromTheLowest) {
  PoolWithMagazines pool({.block_bytes = 64, .blocks_per_chunk = 300});
  const std::vector<void*> blocks = take(pool, 300);
  for (std::size_t i = 1; i < blocks.size(); ++i)
    ASSERT_EQ(static_cast<char*>(blocks[i]), static_cast<char*>(blocks[i - 1]) + 64) << i;
  EXPECT_EQ(entries_of(pool), 0u);
  EXPECT_EQ(pool.capacity(), 300u);
  static_cast<void>(pool.allocate());
  EXPECT_EQ(pool.capacity(), 600u);
  EXPECT_EQ(entries_of(pool), 63u);
}

TEST_F(Magazines, HaveABoundAndSoHasTheDepot) {
  PoolWithMagazines pool({.block_bytes = 64, .blocks_per_chunk = 1000});
  std::vector<void*> blocks = take(pool, 1000);
  for (std::size_t i = 0; i < 1000; ++i) {
    pool.deallocate(blocks[i]);
    ASSERT_LE(entries_of(pool), ThreadMagazines::kMagazineBlocks * 5);
    ASSERT_GE(entries_of(pool), std::min(i + 1, std::size_t{ThreadMagazines::kMagazineBlocks} * 3));
    if (i % 50 == 0) validate(state_of(pool));
  }
  EXPECT_EQ(pool.usable_count(), 1000u);
  const std::vector<void*> again = take(pool, 1000);
  EXPECT_EQ(std::set<void*>(again.begin(), again.end()).size(), 1000u);
  EXPECT_EQ(pool.capacity(), 1000u) << "what was freed serves first";
}

TEST_F(Magazines, HoldFewLargeBlocks) {
  PoolWithMagazines pool({.block_bytes = 256 * 1024});
  std::vector<void*> blocks = take(pool, 50);
  for (void* block : blocks) pool.deallocate(block);
  EXPECT_LE(entries_of(pool), 2u * 5);
  validate(state_of(pool));
}

TEST_F(Magazines, AreEmptyWhenTheirPoolGivesBackOrIsCleared) {
  PoolWithMagazines pool({.block_bytes = 512, .blocks_per_chunk = 100});
  const std::vector<void*> blocks = take(pool, 150);
  for (std::size_t i = 0; i < 149; ++i) pool.deallocate(blocks[i]);
  EXPECT_GT(pool.release_unused(), 0u);
  EXPECT_EQ(entries_of(pool), 0u);
  EXPECT_EQ(pool.live_count(), 1u);
  validate(state_of(pool));
  static_cast<void>(take(pool, 30));
  pool.clear();
  EXPECT_EQ(entries_of(pool), 0u);
  EXPECT_EQ(pool.live_count(), 0u);
  validate(state_of(pool));
}

TEST_F(Magazines, AreLookedThroughBeforeARefusal) {
  PoolWithMagazines pool({.block_bytes = 64, .blocks_per_chunk = 64, .largest_count = 64});
  std::vector<void*> blocks = take(pool, 64);
  EXPECT_EQ(pool.allocate(), nullptr);
  for (void* block : blocks) pool.deallocate(block);
  EXPECT_EQ(entries_of(pool), 64u);
  EXPECT_NE(pool.allocate_run(64), nullptr) << "a run needs all of them as bits";
  EXPECT_EQ(entries_of(pool), 0u);
  EXPECT_EQ(pool.allocate(), nullptr);
}

TEST_F(Magazines, GiveBatchesAcrossTheirBounds) {
  PoolWithMagazines pool({.block_bytes = 32, .blocks_per_chunk = 1000, .largest_count = 2500});
  std::vector<void*> blocks(3000, nullptr);
  EXPECT_EQ(pool.allocate_batch(3000, blocks.data()), 2500u);
  EXPECT_EQ(std::set<void*>(blocks.begin(), blocks.begin() + 2500).size(), 2500u);
  validate(state_of(pool));
  pool.deallocate_batch(blocks.data(), 3000);
  EXPECT_EQ(pool.live_count(), 0u);
  validate(state_of(pool));
}

TEST_F(Magazines, TakeBackBatchesInAnyOrder) {
  PoolWithMagazines pool({.block_bytes = 64, .blocks_per_chunk = 101});  // no whole words of bytes
  std::mt19937 random(7);
  for (const std::size_t size : {1u, 2u, 7u, 8u, 31u, 64u, 65u}) {
    std::vector<void*> blocks = take(pool, 600);
    void* const kept = blocks[300];
    blocks[300] = nullptr;
    std::shuffle(blocks.begin(), blocks.end(), random);
    for (std::size_t i = 0; i < blocks.size(); i += size)
      pool.deallocate_batch(&blocks[i], std::min(size, blocks.size() - i));
    EXPECT_EQ(pool.live_count(), 1u) << size;
    validate(state_of(pool));
    pool.deallocate_batch(&kept, 1);
  }
}

TEST_F(Magazines, ABatchWithABlockThatIsFreeStopsTheProcess) {
  PoolWithMagazines pool({.block_bytes = 64, .name = "events"});
  const std::vector<void*> live = take(pool, 40);
  const auto free_batch = [&](std::vector<void*> blocks) {
    pool.deallocate_batch(blocks.data(), blocks.size());
  };
  EXPECT_DEATH(free_batch({live[3], live[3]}), "double free in 'events'");
  EXPECT_DEATH(free_batch({live[3], live[4], live[3]}), "double free in 'events'");
  EXPECT_DEATH(free_batch({live[3], live[30], live[3]}), "double free in 'events'");
  pool.deallocate(live[5]);
  char message[64];
  std::snprintf(message, sizeof message, "double free in 'events': %p", live[5]);
  EXPECT_DEATH(free_batch({live[3], live[4], live[5], live[6]}), message);
  EXPECT_DEATH(free_batch({live[6], static_cast<char*>(live[7]) + 1}), "pointer into a block in 'events'");
  int other = 0;
  EXPECT_DEATH(free_batch({live[6], &other}), "no block of the pool in 'events'");
}

}  // namespace
}  // namespace tarn::internal
