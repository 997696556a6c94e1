#include <gtest/gtest.h>

#include <vector>

#include "general/system_blocks.h"
#include "pool/fixed_pool_state.h"
#include "unit/pool/over_malloc.h"

namespace tarn::internal {
namespace {

using FixedPoolOverMalloc = OverMalloc;

TEST_F(FixedPoolOverMalloc, HasNoChunkAndCountsWhatIsLive) {
  FixedPool pool({.block_bytes = 64, .largest_count = 10});
  detail::FixedPoolState& state = detail::FixedPoolAccess::state(pool);
  EXPECT_EQ(state.back_end, &kFixedPoolOverMalloc);
  void* const one = pool.allocate();
  void* const run = pool.allocate_run(7);
  EXPECT_EQ(pool.capacity(), 8u);
  EXPECT_EQ(pool.live_count(), 8u);
  EXPECT_EQ(pool.chunk_count(), 0u);
  EXPECT_EQ(pool.allocate_run(3), nullptr) << "the cap";
  EXPECT_EQ(system_blocks.pool_of(run), &state);
  validate(state);
  pool.deallocate_run(run, 7);
  pool.deallocate(one);
  EXPECT_EQ(pool.live_count(), 0u);
  validate(state);
}

TEST_F(FixedPoolOverMalloc, ClearAndTheEndGiveAllBlocksBack) {
  std::vector<void*> blocks;
  {
    SharedFixedPool pool(100);
    for (int i = 0; i < 100; ++i) blocks.push_back(pool.allocate());
    pool.clear();
    EXPECT_EQ(pool.live_count(), 0u);
    for (void* block : blocks) EXPECT_EQ(system_blocks.pool_of(block), nullptr);
    for (void*& block : blocks) block = pool.allocate();
    validate(detail::FixedPoolAccess::state(pool));
  }
  for (void* block : blocks) EXPECT_EQ(system_blocks.pool_of(block), nullptr);
}

TEST_F(FixedPoolOverMalloc, KeepsTheBackEndItWasMadeWith) {
  FixedPool pool(64);
  use_malloc(false);
  FixedPool later(64);
  void* const block = pool.allocate();
  EXPECT_TRUE(pool.owns(block));
  EXPECT_FALSE(later.owns(block));
  EXPECT_EQ(later.chunk_count(), 0u);
  static_cast<void>(later.allocate());
  EXPECT_EQ(later.chunk_count(), 1u);
  pool.deallocate(block);
}

}  // namespace
}  // namespace tarn::internal
