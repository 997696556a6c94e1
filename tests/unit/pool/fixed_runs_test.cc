#include "pool/fixed_runs.h"

#include <gtest/gtest.h>

#include <vector>

#include "general/setup.h"
#include "support/seed.h"

namespace tarn::internal {
namespace {

class FixedRuns : public ::testing::Test {
 protected:
  ~FixedRuns() override {
    ReturnedPages returned;
    while (ring_.count() != 0) {
      PoolChunk& chunk = ring_[0];
      runs_.remove(chunk);
      ring_.remove(chunk);
      end_chunk(chunk, false, returned);
    }
    ring_.end();
  }

  PoolChunk& add(std::uint32_t blocks) {
    set_up_once();
    EXPECT_TRUE(ring_.make_room());
    PoolChunk* const chunk = make_chunk({this, 64, blocks, 0, Density::kSparse, false});
    ring_.insert(*chunk);
    runs_.add(*chunk);
    return *chunk;
  }
  bool take(std::uint32_t count, BlockRun* taken = nullptr) {
    const BlockRun run = runs_.find(count, nullptr);
    if (run.chunk == nullptr) return false;
    run.chunk->take(run.first, count);
    if (taken != nullptr) *taken = run;
    return true;
  }
  void give_back(const BlockRun& run, std::uint32_t count) {
    EXPECT_EQ(run.chunk->free(run.first, count), run.chunk->end());
    ring_.note_usable(*run.chunk);
    runs_.unsettle(*run.chunk);
    runs_.begin_at(*run.chunk, run.first);
  }
  static bool is_settled(const PoolChunk& chunk) { return (address_of(chunk.span->pool) & 1) != 0; }

  ChunkRing ring_;
  ChunkRuns runs_;
};

TEST_F(FixedRuns, ASearchThatFailsSettlesTheChunkUnderALowerBound) {
  PoolChunk& chunk = add(100);
  chunk.take(BlockIndex{50}, 1);
  EXPECT_FALSE(take(60));
  EXPECT_TRUE(is_settled(chunk)) << "every free takes the slow door";
  EXPECT_EQ(chunk.longest_run, 59u);
  runs_.validate(ring_);
  EXPECT_TRUE(take(50)) << "shorter ones are found";
  EXPECT_FALSE(take(50));
  EXPECT_EQ(chunk.longest_run, 49u);
  runs_.validate(ring_);
}

TEST_F(FixedRuns, AFreeUnsettlesItsChunk) {
  PoolChunk& chunk = add(64);
  chunk.take(BlockIndex{0}, 64);
  EXPECT_FALSE(take(2));
  give_back({&chunk, BlockIndex{10}}, 2);
  EXPECT_FALSE(is_settled(chunk));
  EXPECT_EQ(chunk.span->unmarked_pool(), this);
  runs_.validate(ring_);
  BlockRun run{};
  EXPECT_TRUE(take(2, &run));
  EXPECT_EQ(run.first, BlockIndex{10});
}

TEST_F(FixedRuns, AChunkThatIsTooSmallForARunIsPassedBy) {
  add(10);
  EXPECT_FALSE(take(20));
  runs_.validate(ring_);
  PoolChunk& large = add(30);
  BlockRun run{};
  EXPECT_TRUE(take(20, &run));
  EXPECT_EQ(run.chunk, &large);
  EXPECT_TRUE(take(10));
}

TEST_F(FixedRuns, LooksFirstWhereBlocksCameBackLast) {
  std::vector<PoolChunk*> chunks;
  for (int i = 0; i < 10; ++i) chunks.push_back(&add(1000));
  chunks[7]->take(BlockIndex{300}, 100);
  give_back({chunks[7], BlockIndex{320}}, 20);
  BlockRun run{};
  EXPECT_TRUE(take(5, &run));
  EXPECT_EQ(run.chunk, chunks[7]);
  EXPECT_EQ(bitmap::word_of(run.first), 320u / 64);
}

TEST_F(FixedRuns, OfAllLengthsAreFoundWheneverThereAreSome) {
  test::Random random(1);
  std::vector<std::pair<BlockRun, std::uint32_t>> taken;
  for (int i = 0; i < 20; ++i) add(1 + static_cast<std::uint32_t>(random.below(2000)));
  for (int i = 0; i < 3000; ++i) {
    const auto count = static_cast<std::uint32_t>(2 + random.below(std::size_t{1} << random.below(11)));
    BlockRun run{};
    if (taken.size() < 300 && random.below(2) == 0) {
      bool exists = false;
      for (std::uint32_t slot = 0; slot < ring_.count(); ++slot)
        exists |= ring_[slot].find_run(count) != ring_[slot].end();
      ASSERT_EQ(take(count, &run), exists) << count;
      if (exists) taken.emplace_back(run, count);
    } else if (!taken.empty()) {
      std::swap(taken[random.below(taken.size())], taken.back());
      give_back(taken.back().first, taken.back().second);
      taken.pop_back();
    }
    runs_.validate(ring_);
    ring_.validate();
  }
}

using FixedRunsDeathTest = FixedRuns;

TEST_F(FixedRunsDeathTest, ASettledChunkWithALongerRunBreaksTheInvariant) {
  PoolChunk& chunk = add(100);
  chunk.take(BlockIndex{0}, 100);
  EXPECT_FALSE(take(2));
  chunk.free(BlockIndex{20}, 5);
  EXPECT_DEATH(runs_.validate(ring_), "longest_run");
}

}  // namespace
}  // namespace tarn::internal
