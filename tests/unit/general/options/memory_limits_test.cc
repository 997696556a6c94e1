#include "general/options/memory_limits.h"

#include "central/owners.h"
#include "page/give_back/page_cache.h"
#include "support/prelude.h"
#include "tarn/memory_pool.h"
#include "tarn/stats.h"

namespace tarn::internal {
namespace {

constexpr std::size_t kMiB = 1 << 20;
constexpr std::size_t kRecords = 64 * 1024;  // more than those of a few blocks

struct Told {
  std::vector<tarn_limit_event> events;
  bool allocates = false;
};

void note(const tarn_limit_event* event, void* context) {
  Told& told = *static_cast<Told*>(context);
  told.events.push_back(*event);
  if (!told.allocates) return;
  // All that the header allows.
  tarn::deallocate(tarn::allocate(100'000));
  tarn::deallocate(tarn::allocate(10 * kMiB));
  tarn::trim(0);
  EXPECT_NE(tarn::stats().held_bytes, 0u);
  tarn::set_memory_limits(tarn::memory_limits());
}

class Limits : public testing::Test {
 protected:
  Limits() {
    told_.events.reserve(64);
    tarn::trim(0);
    tarn::set_limit_callback(note, &told_);
  }
  ~Limits() override {
    tarn::set_memory_limits({});
    tarn::set_limit_callback(nullptr);
  }
  static std::size_t at(std::size_t more) { return tarn::held_bytes() + more; }
  Told told_;
};

TEST_F(Limits, AreReadAsTheyWereSet) {
  tarn::set_memory_limits({.soft = 1 << 30, .hard = 2u << 30});
  EXPECT_EQ(tarn::memory_limits().soft, 1u << 30);
  EXPECT_EQ(tarn::memory_limits().hard, 2u << 30);
  const tarn::Statistics now = tarn::stats();
  EXPECT_EQ(now.soft_limit_bytes, 1u << 30);
  EXPECT_EQ(now.hard_limit_bytes, 2u << 30);
  EXPECT_EQ(now.held_bytes, tarn::held_bytes());
  EXPECT_GE(now.held_bytes, now.mapped_bytes + now.free_dirty_bytes + now.metadata_bytes);
}

TEST_F(Limits, TheSoftLimitIsToldOnceEachTimeItIsCrossed) {
  tarn::set_memory_limits({.soft = at(16 * kMiB), .hard = 0});
  for (unsigned round = 1; round <= 3; ++round) {
    std::vector<void*> blocks;
    for (int i = 0; i < 40; ++i) blocks.push_back(tarn::allocate(kMiB));
    ASSERT_EQ(told_.events.size(), round);
    EXPECT_EQ(told_.events.back().kind, TARN_SOFT_LIMIT_CROSSED);
    EXPECT_EQ(told_.events.back().limit_bytes, tarn::memory_limits().soft);
    EXPECT_GT(told_.events.back().held_bytes, tarn::memory_limits().soft);
    for (void* block : blocks) tarn::deallocate(block);
    // A fall that is too short arms nothing.
    EXPECT_LE(tarn::held_bytes(), tarn::memory_limits().soft);
    tarn::trim(0);
  }
}

TEST_F(Limits, FreeMemoryGoesBackBeforeTheSoftLimitCountsAsCrossed) {
  std::vector<void*> blocks;
  for (int i = 0; i < 24; ++i) blocks.push_back(tarn::allocate(kMiB));
  tarn::set_memory_limits({.soft = at(kMiB), .hard = 0});
  for (std::size_t i = 0; i < blocks.size(); i += 2) tarn::deallocate(std::exchange(blocks[i], nullptr));
  const tarn::Statistics before = tarn::stats();
  EXPECT_GE(before.free_dirty_bytes + before.cached_bytes, 12 * kMiB);  // they stay, below the limit
  void* const larger = tarn::allocate(8 * kMiB);                        // fits into none of the holes
  EXPECT_LE(tarn::held_bytes(), tarn::memory_limits().soft);
  EXPECT_TRUE(told_.events.empty());
  EXPECT_GE(tarn::stats().purged_bytes, before.purged_bytes + 7 * kMiB);
  tarn::deallocate(larger);
  for (void* block : blocks) tarn::deallocate(block);
}

TEST_F(Limits, AboveTheSoftLimitFreedPagesGoBackAtOnce) {
  void* const kept = tarn::allocate(32 * kMiB);
  tarn::set_memory_limits({.soft = at(0), .hard = 0});
  void* const block = tarn::allocate(20 * kMiB);
  EXPECT_EQ(told_.events.size(), 1u);
  tarn::deallocate(block);
  EXPECT_LE(tarn::held_bytes(), tarn::memory_limits().soft + kRecords);
  tarn::deallocate(kept);
}

TEST_F(Limits, TheHardLimitRefusesAndIsToldAtMostOnceASecond) {
  tarn::set_memory_limits({.soft = 0, .hard = at(8 * kMiB)});
  const std::size_t refusals = tarn::stats().hard_limit_refusals;
  for (int i = 0; i < 100; ++i) {
    errno = 0;
    EXPECT_EQ(tarn::allocate(20 * kMiB), nullptr);
    EXPECT_EQ(errno, ENOMEM);
  }
  EXPECT_EQ(tarn::stats().hard_limit_refusals, refusals + 100);
  // A second that passes in between tells once more.
  ASSERT_GE(told_.events.size(), 1u);
  EXPECT_LT(told_.events.size(), 50u);
  EXPECT_EQ(told_.events[0].kind, TARN_HARD_LIMIT_REFUSED);
  void* const block = tarn::allocate(7 * kMiB);
  EXPECT_NE(block, nullptr);
  tarn::deallocate(block);
}

// One large block and some that keep the others busy.
TEST_F(Limits, ARefusalThatComesAgainAtOnceLooksNowhere) {
  tarn::set_memory_limits({.soft = 0, .hard = at(8 * kMiB)});
  EXPECT_EQ(tarn::allocate(20 * kMiB), nullptr);
  const std::size_t searches = memory_limit.searches();
  const tarn::Statistics before = tarn::stats();
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(tarn::allocate(20 * kMiB), nullptr);
  EXPECT_LE(memory_limit.searches(), searches + 4);
  EXPECT_EQ(tarn::stats().purge_calls, before.purge_calls);
  EXPECT_EQ(tarn::stats().chunks_committed, before.chunks_committed);
}

TEST_F(Limits, AFreeLetsTheNextRequestSearchAgain) {
  tarn::set_memory_limits({.soft = 0, .hard = at(20 * kMiB)});
  std::vector<void*> blocks;
  while (void* const block = tarn::allocate(300'000)) blocks.push_back(block);
  EXPECT_EQ(tarn::allocate(8 * kMiB), nullptr);
  for (void* block : blocks) tarn::deallocate(block);
  void* const block = tarn::allocate(16 * kMiB);
  EXPECT_NE(block, nullptr);
  tarn::deallocate(block);
}

TEST_F(Limits, SmallBlocksThatWereFreedMakeRoomForALargeOne) {
  tarn::set_memory_limits({.soft = 0, .hard = at(20 * kMiB)});
  for (const std::size_t size : {std::size_t{64}, std::size_t{4000}, std::size_t{30'000}}) {
    std::vector<void*> blocks;
    while (void* const block = tarn::allocate(size)) blocks.push_back(block);
    EXPECT_GT(blocks.size() * size, 12 * kMiB);
    EXPECT_EQ(tarn::allocate(8 * kMiB), nullptr);
    for (void* block : blocks) tarn::deallocate(block);
    blocks = {};
    void* const block = tarn::allocate(14 * kMiB);
    EXPECT_NE(block, nullptr) << size;
    tarn::deallocate(block);
  }
}

TEST_F(Limits, ABlockGrowsAfterFreePagesWentBackOrStaysAsItIs) {
  auto* block = static_cast<char*>(tarn::allocate(4 * kMiB));
  void* const free_later = tarn::allocate(3 * kMiB);
  block[0] = 1;
  tarn::set_memory_limits({.soft = 0, .hard = at(8 * kMiB)});
  tarn::deallocate(free_later);
  block = static_cast<char*>(tarn::reallocate(block, 7 * kMiB));
  ASSERT_NE(block, nullptr);
  EXPECT_LE(tarn::held_bytes(), tarn::memory_limits().hard);
  EXPECT_EQ(tarn::reallocate(block, 40 * kMiB), nullptr);
  EXPECT_EQ(block[0], 1);
  tarn::deallocate(block);
}

TEST_F(Limits, AlignedBlocksCountWithTheirOwnPagesAlone) {
  tarn::set_memory_limits({.soft = 0, .hard = at(3 * kMiB)});
  void* const block = tarn::allocate(kMiB, 64 * kMiB);
  EXPECT_NE(block, nullptr);
  EXPECT_LE(tarn::held_bytes(), tarn::memory_limits().hard);
  EXPECT_EQ(tarn::allocate(3 * kMiB, 64 * kMiB), nullptr);
  tarn::deallocate(block);
}

TEST_F(Limits, TheFunctionMayUseTheLibrary) {
  told_.allocates = true;
  tarn::set_memory_limits({.soft = at(4 * kMiB), .hard = at(30 * kMiB)});
  void* const block = tarn::allocate(6 * kMiB);
  EXPECT_EQ(tarn::allocate(40 * kMiB), nullptr);
  EXPECT_EQ(tarn::allocate(40 * kMiB), nullptr);
  EXPECT_GE(told_.events.size(), 2u);
  tarn::deallocate(block);
}

TEST_F(Limits, ALimitBelowWhatIsInUseRefusesUntilEnoughIsFree) {
  void* const first = tarn::allocate(20 * kMiB);
  void* const second = tarn::allocate(20 * kMiB);
  tarn::set_memory_limits({.soft = tarn::held_bytes() - 30 * kMiB, .hard = tarn::held_bytes() - 20 * kMiB});
  ASSERT_EQ(told_.events.size(), 1u);  // in the call that lowered the soft limit
  EXPECT_EQ(tarn::allocate(kMiB), nullptr);
  tarn::deallocate(first);
  EXPECT_EQ(tarn::allocate(2 * kMiB), nullptr);
  tarn::deallocate(second);
  void* const third = tarn::allocate(2 * kMiB);
  EXPECT_NE(third, nullptr);
  tarn::set_memory_limits({});
  void* const fourth = tarn::allocate(200 * kMiB);
  EXPECT_NE(fourth, nullptr);
  tarn::deallocate(third);
  tarn::deallocate(fourth);
}

}  // namespace
}  // namespace tarn::internal
