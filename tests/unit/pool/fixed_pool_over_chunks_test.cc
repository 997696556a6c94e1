#include <gtest/gtest.h>

#include <vector>

#include "pool/fixed_pool_state.h"

namespace tarn::internal {
namespace {

detail::FixedPoolState& state_of(FixedPool& pool) { return detail::FixedPoolAccess::state(pool); }

TEST(FixedPoolOverChunks, GrowsByAChunkWhenNoBlockIsFree) {
  FixedPool pool({.block_bytes = 64, .blocks_per_chunk = 100, .largest_count = 250});
  EXPECT_EQ(state_of(pool).back_end, &kFixedPoolOverChunks);
  for (std::size_t live = 0; live < 250; ++live) {
    ASSERT_NE(pool.allocate(), nullptr);
    ASSERT_EQ(pool.chunk_count(), live / 100 + 1);
    validate(state_of(pool));
  }
  EXPECT_EQ(pool.allocate(), nullptr);
  EXPECT_EQ(pool.capacity(), 250u) << "the last chunk has what the cap leaves";
  validate(state_of(pool));
}

TEST(FixedPoolOverChunks, ARunThatNoChunkHasRoomForChangesNothing) {
  FixedPool pool({.block_bytes = 64, .blocks_per_chunk = 100, .largest_count = 150});
  ASSERT_NE(pool.allocate_run(60), nullptr);
  ASSERT_NE(pool.allocate_run(40), nullptr);
  EXPECT_EQ(pool.allocate_run(60), nullptr) << "the cap leaves 50";
  validate(state_of(pool));
  EXPECT_NE(pool.allocate_run(50), nullptr);
  validate(state_of(pool));
}

TEST(FixedPoolOverChunks, VisitsLiveBlocksAndLetsTheVisitorFreeThem) {
  FixedPool pool({.block_bytes = 64, .blocks_per_chunk = 10});
  std::vector<void*> blocks(35);
  ASSERT_EQ(pool.allocate_batch(blocks.size(), blocks.data()), blocks.size());
  for (std::size_t i = 0; i < blocks.size(); i += 2) pool.deallocate(blocks[i]);
  kFixedPoolOverChunks.visit_live(state_of(pool), [&](void* block) { pool.deallocate(block); });
  EXPECT_EQ(pool.live_count(), 0u);
  EXPECT_EQ(kFixedPoolOverChunks.first_of_malloc(state_of(pool)), nullptr);
  validate(state_of(pool));
}

TEST(FixedPoolOverChunksDeathTest, ACountThatIsNotThatOfTheChunksBreaksTheInvariant) {
  FixedPool pool(64);
  static_cast<void>(pool.allocate());
  ++state_of(pool).capacity;
  EXPECT_DEATH(validate(state_of(pool)), "state.capacity == blocks");
  --state_of(pool).capacity;
}

}  // namespace
}  // namespace tarn::internal
