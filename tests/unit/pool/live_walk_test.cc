#include "tarn/detail/live_walk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "pool/thread_magazines.h"
#include "tarn/object_pool.h"
#include "unit/pool/over_malloc.h"

namespace tarn::internal {
namespace {

TEST(LiveWalk, NamesTheChunksInAddressOrderAlsoThoseMadeMeanwhile) {
  FixedPool pool({.block_bytes = 64, .blocks_per_chunk = 100});
  pool.reserve(500);
  detail::FixedPoolState& state = detail::FixedPoolAccess::state(pool);
  detail::LiveWalk walk(*state.front);
  std::vector<char*> starts;
  while (walk.advance()) {
    EXPECT_EQ(walk.block_count, 100u);
    starts.push_back(walk.start);
    if (starts.size() == 2) pool.reserve(900);
  }
  EXPECT_GE(starts.size(), 5u);
  EXPECT_TRUE(std::is_sorted(starts.begin(), starts.end()));
  EXPECT_EQ(state.walks, 1u);
}

TEST(LiveWalk, LetsNoMagazinesBegin) {
  SharedFixedPool pool(64);
  detail::FixedPoolState& state = detail::FixedPoolAccess::state(pool);
  void* const block = pool.allocate();
  {
    const detail::LiveWalk walk(*state.front);
    make_magazines(state);
    EXPECT_EQ(state.magazines.load(), nullptr) << "the bits of free blocks in magazines look live";
  }
  make_magazines(state);
  if (state.may_have_magazines) {
    EXPECT_NE(state.magazines.load(), nullptr);
  }
  pool.deallocate(block);
  validate(state);
}

TEST(LiveWalk, VisitsNoBlockThatIsInAMagazine) {
  SharedFixedPool pool(64);
  detail::FixedPoolState& state = detail::FixedPoolAccess::state(pool);
  make_magazines(state);
  void* const live = pool.allocate();
  void* const freed = pool.allocate();
  pool.deallocate(freed);
  std::vector<void*> visited;
  pool.for_each_live([&](void* block) { visited.push_back(block); });
  EXPECT_EQ(visited, std::vector<void*>{live});
  pool.deallocate(live);
}

using LiveWalkOverMalloc = OverMalloc;

TEST_F(LiveWalkOverMalloc, GoesThroughManyBlocksInAddressOrder) {
  FixedPool pool(64);
  std::vector<void*> live;
  for (int i = 0; i < 3000; ++i) live.push_back(pool.allocate());
  for (std::size_t i = 0; i < live.size(); i += 3) pool.deallocate(live[i]);
  std::vector<void*> expected;
  for (std::size_t i = 0; i < live.size(); ++i)
    if (i % 3 != 0) expected.push_back(live[i]);
  std::sort(expected.begin(), expected.end());
  std::vector<void*> visited;
  pool.for_each_live([&](void* block) { visited.push_back(block); });
  EXPECT_EQ(visited, expected);
}

TEST_F(LiveWalkOverMalloc, VisitsNoBlockThatAVisitHasFreed) {
  ObjectPool<long, LiveObjects::kListed> pool;
  std::vector<long*> live;
  for (int i = 0; i < 100; ++i) live.push_back(pool.create(i));
  int visits = 0;
  pool.for_each_live([&](long&) {
    ++visits;
    for (long*& object : live) pool.destroy(std::exchange(object, nullptr));
  });
  EXPECT_EQ(visits, 1);
}

}  // namespace
}  // namespace tarn::internal
