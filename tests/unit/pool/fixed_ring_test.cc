#include "pool/fixed_ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "general/setup.h"
#include "support/seed.h"

namespace tarn::internal {
namespace {

constexpr std::size_t kStride = 64;
constexpr std::uint32_t kBlocks = 130;  // of a chunk: three words

class FixedRing : public ::testing::Test {
 protected:
  ~FixedRing() override {
    ReturnedPages returned;
    for (PoolChunk* chunk : chunks_) end_chunk(*chunk, false, returned);
    ring_.end();
  }

  PoolChunk& add() {
    EXPECT_TRUE(ring_.make_room());
    chunks_.push_back(make_chunk({this, kStride, kBlocks, 0, Density::kSparse, false}));
    ring_.insert(*chunks_.back());
    return *chunks_.back();
  }
  void remove(std::size_t index) {
    ReturnedPages returned;
    ring_.remove(*chunks_[index]);
    end_chunk(*chunks_[index], false, returned);
    chunks_.erase(chunks_.begin() + static_cast<std::ptrdiff_t>(index));
  }
  void take_all(PoolChunk& chunk) {
    chunk.take(BlockIndex{0}, kBlocks);
    for (std::uint32_t word = 0; word < chunk.word_count; ++word) chunk.forget_word(word);
    ring_.note_taken(chunk);
  }
  /// What the inlined path does to the word it knows.
  std::uint32_t drain_word() const {
    const auto count = static_cast<std::uint32_t>(std::popcount(*front_.word));
    *front_.word = 0;
    return count;
  }

  bool is_set_up_ = (set_up_once(), true);
  detail::FixedPoolFront front_{};
  ChunkRing ring_;
  std::vector<PoolChunk*> chunks_;
};

TEST_F(FixedRing, KeepsItsChunksInTheOrderOfTheirAddresses) {
  test::Random random(1);
  for (int i = 0; i < 500; ++i) {
    if (chunks_.size() < 100 && random.below(5) != 0)
      add();
    else if (!chunks_.empty())
      remove(random.below(chunks_.size()));
    ring_.validate();
    ASSERT_EQ(ring_.count(), chunks_.size());
    ASSERT_EQ(ring_.free_count(), chunks_.size() * kBlocks);
  }
}

TEST_F(FixedRing, ManyChunksAtOnceComeIntoTheOrderToo) {
  for (int i = 0; i < 20; ++i) add();
  take_all(*chunks_[3]);
  constexpr std::uint32_t kMore = 200;
  ASSERT_TRUE(ring_.make_room(kMore));
  PoolChunk* first = nullptr;
  for (std::uint32_t i = 0; i < kMore; ++i) {
    PoolChunk* const chunk = make_chunk({this, kStride, kBlocks, 0, Density::kSparse, false});
    chunk->next = first;
    chunks_.push_back(first = chunk);
  }
  ring_.insert_all(first);
  ring_.validate();
  EXPECT_EQ(ring_.count(), 20 + kMore);
  EXPECT_EQ(ring_.free_count(), (20 + kMore - 1) * kBlocks);
}

TEST_F(FixedRing, FindsTheNextUsableChunkGoingRound) {
  EXPECT_EQ(ring_.next_usable(0), nullptr);
  for (int i = 0; i < 200; ++i) add();
  for (PoolChunk* chunk : chunks_) take_all(*chunk);
  EXPECT_EQ(ring_.next_usable(0), nullptr);
  PoolChunk& chunk = ring_[150];
  chunk.free(BlockIndex{5}, 1);
  ring_.note_usable(chunk);
  for (const std::uint32_t from : {0u, 149u, 150u, 151u, 199u, 200u})
    EXPECT_EQ(ring_.next_usable(from), &chunk) << from;
  ring_.validate();
}

TEST_F(FixedRing, ASlotKeepsItsStateWhenOthersComeAndGo) {
  for (int i = 0; i < 70; ++i) add();
  for (std::uint32_t slot = 0; slot < 70; slot += 2) take_all(ring_[slot]);
  for (int i = 0; i < 30; ++i) remove(static_cast<std::size_t>(i));
  for (int i = 0; i < 30; ++i) add();
  ring_.validate();
}

TEST_F(FixedRing, AWalkWithoutAChunkStandsNowhere) {
  ChunkWalk walk(ring_, front_);
  EXPECT_EQ(*front_.word, 0u);
  EXPECT_FALSE(walk.advance());
  EXPECT_EQ(walk.chunk(), nullptr);
  walk.validate();
}

TEST_F(FixedRing, AWalkPassesEveryWordOnceAndEndsWhenNothingIsFree) {
  for (int i = 0; i < 5; ++i) add();
  ChunkWalk walk(ring_, front_);
  const char* last = nullptr;
  for (int word = 0; word < 15; ++word) {
    ASSERT_TRUE(walk.advance());
    EXPECT_LT(last, front_.word_start) << "in the order of addresses";
    last = front_.word_start;
    EXPECT_EQ(drain_word(), word % 3 == 2 ? 2u : 64u);
    ring_.validate();
    walk.validate();
  }
  EXPECT_FALSE(walk.advance());
  ring_.validate();
  EXPECT_EQ(ring_.next_usable(0), nullptr);
}

TEST_F(FixedRing, AWalkThatHasPausedGoesOnWithItsWord) {
  add();
  ChunkWalk walk(ring_, front_);
  ASSERT_TRUE(walk.advance());
  walk.pause();
  EXPECT_EQ(*front_.word, 0u) << "nothing is taken meanwhile";
  walk.validate();
  ASSERT_TRUE(walk.advance());
  EXPECT_EQ(front_.word, ring_[0].words());
  EXPECT_EQ(*front_.word, ~std::uint64_t{0}) << "what was free still is";
  walk.pause();
  ring_[0].words()[0] = 0;  // a run has taken its rest
  ASSERT_TRUE(walk.advance());
  EXPECT_EQ(*front_.word, 0u) << "the walk comes by, and tells the summary";
  ASSERT_TRUE(walk.advance());
  EXPECT_EQ(front_.word, ring_[0].words() + 1);
  EXPECT_EQ(ring_[0].next_word(0), 1u);
  ring_.validate();
  walk.validate();
}

TEST_F(FixedRing, AWalkGoesOnBehindWhereItStands) {
  for (int i = 0; i < 3; ++i) add();
  ChunkWalk walk(ring_, front_);
  walk.stand_on(ring_[1], 1);
  drain_word();
  ring_[0].free_all();
  ASSERT_TRUE(walk.advance());
  EXPECT_EQ(front_.word_start, ring_[1].block(BlockIndex{128}));
  drain_word();
  ASSERT_TRUE(walk.advance());
  EXPECT_EQ(walk.chunk(), &ring_[2]);
}

using FixedRingDeathTest = FixedRing;

TEST_F(FixedRingDeathTest, AUsableChunkThatTheRingDoesNotKnowBreaksTheInvariant) {
  take_all(add());
  chunks_[0]->free(BlockIndex{0}, 1);
  EXPECT_DEATH(ring_.validate(), "may_have_free");
}

}  // namespace
}  // namespace tarn::internal
