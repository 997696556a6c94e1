#include "tarn/detail/live_walk.h"

#include "pool/blocks/block_pool_state.h"
#include "support/prelude.h"
#include "tarn/detail/handle_slots.h"
#include "tarn/object_pool.h"
#include "unit/pool/over_malloc.h"

namespace tarn::internal {
namespace {

TEST(LiveWalk, NamesTheChunksInAddressOrderAlsoThoseMadeMeanwhile) {
  FixedPool pool({.block_bytes = 64, .blocks_per_chunk = 100});
  pool.reserve(500);
  BlockPoolState& state = detail::BlockPoolAccess::state(pool);
  detail::LiveWalk walk(&state);
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

TEST(LiveWalk, VisitsNoBlockThatIsCached) {
  SharedFixedPool pool(64);
  void* const live = pool.allocate();
  void* const freed = pool.allocate();
  pool.deallocate(freed);
  pool.deallocate_run(pool.allocate_run(3), 3);
  std::vector<void*> visited;
  pool.for_each_live([&](void* block) {
    visited.push_back(block);
    pool.deallocate(pool.allocate());
    pool.deallocate_run(pool.allocate_run(3), 3);
  });
  EXPECT_EQ(visited, std::vector<void*>{live});
  pool.deallocate(live);
  validate(detail::BlockPoolAccess::state(pool));
}

// The vector form and the plain one, from every place in memory.
TEST(LiveBits, ABitOfEachWordBecomesTheBitOfItsIndex) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    const std::uint64_t expected = round == 0 ? 0 : round == 1 ? ~std::uint64_t{0} : random();
    const auto offset = static_cast<std::size_t>(round % 16);
    std::uint64_t words[64 + 16] = {};
    for (std::size_t i = 0; i < 64; ++i)
      words[offset + i] = (random() & ~(std::uint64_t{1} << 32)) | (expected >> i & 1) << 32;
    ASSERT_EQ(detail::bits_of_64_words(words + offset), expected);
    const std::uint32_t count = 1 + static_cast<std::uint32_t>(round) % 63;
    const std::uint64_t lowest = expected & ((std::uint64_t{1} << count) - 1);
    ASSERT_EQ(detail::bits_of_words(words + offset, count), lowest);
  }
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
