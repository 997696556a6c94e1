#include "pool/watched_blocks.h"

#include "observe/profile/samples.h"
#include "page/spans/watched_spans.h"
#include "pool/blocks/block_pool_state.h"
#include "support/prelude.h"
#include "support/threads.h"
#include "tarn/buffer_pool.h"
#include "tarn/fixed_pool.h"
#include "tarn/handle_pool.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"
#include "thread/observation/exponential.h"

namespace tarn::internal {
namespace {

std::uint64_t live_samples() {
  std::uint64_t count = 0;
  samples.for_each([&](const Sample&) { ++count; });
  return count;
}

std::uint64_t live_samples_of_pools() {
  std::uint64_t count = 0;
  samples.for_each([&](const Sample& sample) { count += sample.pool != 0 ? 1 : 0; });
  return count;
}

// Of all that was allocated from pools.
double blocks_of_pools() {
  double blocks = 0;
  samples.for_each_stack([&](const SampledStack& stack) {
    if (stack.pool != 0)
      blocks += static_cast<double>(stack.block_parts.load()) / SampledStack::kPartsOfBlock;
  });
  return blocks;
}

struct Watch {
  explicit Watch(std::size_t interval) { observation.watch(interval); }
  ~Watch() { observation.watch(0); }
};

constexpr std::size_t kEachBlock = 1;

void keep_compiler_from_removing(void* block) { asm volatile("" : : "r"(block) : "memory"); }

/// A pool of 100-byte blocks, by the calls that all tests below make.
template <typename Pool>
struct Maker;
template <>
struct Maker<FixedPool> {
  FixedPool pool{100};
  void* allocate() { return pool.allocate(); }
  void deallocate(void* block) { pool.deallocate(block); }
  void clear() { pool.clear(); }
};
template <>
struct Maker<SharedFixedPool> {
  SharedFixedPool pool{100};
  void* allocate() { return pool.allocate(); }
  void deallocate(void* block) { pool.deallocate(block); }
  void clear() { pool.clear(); }
};
template <>
struct Maker<Heap> {
  Heap pool;
  void* allocate() { return pool.allocate(100); }
  void deallocate(void* block) { pool.deallocate(block); }
  void clear() { pool.clear(); }
};
template <>
struct Maker<BufferPool> {
  BufferPool pool;
  void* allocate() { return pool.allocate(100); }
  void deallocate(void* block) { pool.deallocate(block); }
  void clear() {}
};

template <typename Pool>
class WatchedPool : public ::testing::Test {
 protected:
  Maker<Pool> maker;
};
using Pools = ::testing::Types<FixedPool, SharedFixedPool, Heap, BufferPool>;
TYPED_TEST_SUITE(WatchedPool, Pools);

TYPED_TEST(WatchedPool, EachBlockIsSampledUntilItIsFreed) {
  std::vector<void*> blocks(1'000);
  const Watch watch(kEachBlock);
  const std::uint64_t before = live_samples_of_pools();
  for (void*& block : blocks) block = this->maker.allocate();
  EXPECT_EQ(live_samples_of_pools(), before + 1'000);
  for (void* const block : blocks) this->maker.deallocate(block);
  EXPECT_EQ(live_samples_of_pools(), before);
  samples.validate();
}

TYPED_TEST(WatchedPool, BlocksThatComeAndGoAreSeenThoughThePoolWasUsedBefore) {
  constexpr int kCalls = 100'000;
  constexpr std::size_t kInterval = 4096;
  for (int i = 0; i < 1'000; ++i) this->maker.deallocate(this->maker.allocate());
  const double before = blocks_of_pools();
  this_thread().random = 1;  // the same draws in each run, as one in 370 lies outside of three deviations
  const Watch watch(kInterval);
  for (int i = 0; i < kCalls; ++i) {
    void* const block = this->maker.allocate();
    keep_compiler_from_removing(block);
    this->maker.deallocate(block);
  }
  const double expected_samples = kCalls * 100.0 / kInterval;
  EXPECT_NEAR(blocks_of_pools() - before, kCalls, 3 * kCalls / std::sqrt(expected_samples));
  EXPECT_EQ(live_samples_of_pools(), 0u);
}

TYPED_TEST(WatchedPool, ABlockThatIsFreedAfterTheSwitchLeavesNoSample) {
  std::vector<void*> blocks(500);
  {
    const Watch watch(kEachBlock);
    for (void*& block : blocks) block = this->maker.allocate();
  }
  EXPECT_EQ(live_samples_of_pools(), 500u);
  for (void* const block : blocks) this->maker.deallocate(block);
  EXPECT_EQ(live_samples_of_pools(), 0u);
  for (int i = 0; i < 1'000; ++i) this->maker.deallocate(this->maker.allocate());
  EXPECT_EQ(live_samples_of_pools(), 0u);
}

TYPED_TEST(WatchedPool, AnotherThreadMayFreeASampledBlock) {
  if constexpr (std::is_same_v<TypeParam, FixedPool>) GTEST_SKIP() << "of one thread";
  std::vector<void*> blocks(500);
  const Watch watch(kEachBlock);
  for (void*& block : blocks) block = this->maker.allocate();
  std::thread([&] {
    for (void* const block : blocks) this->maker.deallocate(block);
  }).join();
  EXPECT_EQ(live_samples_of_pools(), 0u);
}

TYPED_TEST(WatchedPool, ThePoolsEndEndsItsSamples) {
  if constexpr (std::is_same_v<TypeParam, BufferPool>) GTEST_SKIP() << "its live blocks outlive it";
  {
    Maker<TypeParam> other;
    const Watch watch(kEachBlock);
    for (int i = 0; i < 300; ++i) keep_compiler_from_removing(other.allocate());
    EXPECT_EQ(live_samples_of_pools(), 300u);
  }
  EXPECT_EQ(live_samples_of_pools(), 0u);
}

TYPED_TEST(WatchedPool, ClearEndsItsSamples) {
  if constexpr (std::is_same_v<TypeParam, BufferPool>) GTEST_SKIP() << "it has no clear()";
  const Watch watch(kEachBlock);
  for (int i = 0; i < 300; ++i) keep_compiler_from_removing(this->maker.allocate());
  this->maker.clear();
  EXPECT_EQ(live_samples_of_pools(), 0u);
}

TYPED_TEST(WatchedPool, ThreadsThatOnlyHitThePoolNoticeASwitch) {
  if constexpr (std::is_same_v<TypeParam, FixedPool>) GTEST_SKIP() << "of one thread";
  std::atomic<bool> is_over{false};
  std::atomic<int> warm{0};
  test::Threads threads(3, [&] {
    for (std::uint64_t calls = 0; !is_over.load(std::memory_order_relaxed); ++calls) {
      void* const block = this->maker.allocate();
      keep_compiler_from_removing(block);
      this->maker.deallocate(block);
      if (calls == 200'000) warm.fetch_add(1);
    }
  });
  while (warm.load() != 3) std::this_thread::yield();
  for (int round = 0; round < 100; ++round) {
    const double before = blocks_of_pools();
    const Watch watch(4096);
    while (blocks_of_pools() == before) std::this_thread::yield();
  }
  is_over = true;
  threads.join();
  EXPECT_EQ(live_samples_of_pools(), 0u);
  samples.validate();
}

TEST(WatchedRuns, ARunIsOneSampleWhateverFreesIt) {
  FixedPool pool(64);
  for (int i = 0; i < 100; ++i) pool.deallocate_run(pool.allocate_run(4), 4);
  const Watch watch(kEachBlock);
  pool.deallocate_run(pool.allocate_run(4), 4);  // the free notices the switch
  std::vector<void*> runs;
  for (int i = 0; i < 100; ++i) runs.push_back(pool.allocate_run(4));
  EXPECT_EQ(live_samples_of_pools(), 100u);
  for (int i = 0; i < 50; ++i) pool.deallocate_run(runs[static_cast<std::size_t>(i)], 4);
  EXPECT_EQ(live_samples_of_pools(), 50u);
  for (std::size_t i = 50; i < 100; ++i)
    for (std::size_t block = 0; block < 4; ++block) pool.deallocate(static_cast<char*>(runs[i]) + 64 * block);
  EXPECT_EQ(live_samples_of_pools(), 0u);
}

TEST(WatchedRuns, RunsFoundAheadHaveRoomWhereNobodyTakesThem) {
  FixedPool own(64);
  SharedFixedPool shared(64);
  const auto take_many = [](auto& pool) {
    pool.deallocate_run(pool.allocate_run(2), 2);
    const Watch watch(kEachBlock);
    for (int i = 0; i < 1000; ++i) EXPECT_NE(pool.allocate_run(2), nullptr);
    validate(detail::BlockPoolAccess::state(pool));
  };
  take_many(own);
  take_many(shared);
}

TEST(WatchedRuns, HitsComeBackWhenNobodyWatches) {
  FixedPool pool(64);
  const detail::BlockPoolState& state = detail::BlockPoolAccess::state(pool);
  if (state.source != detail::BlockPoolState::Source::kOwn) GTEST_SKIP() << "no call is a hit";
  const auto front_of = [&]() -> detail::OwnPoolFront& { return *state.own; };
  pool.deallocate_run(pool.allocate_run(3), 3);
  EXPECT_NE(front_of().runs, nullptr);
  {
    const Watch watch(kEachBlock);
    pool.deallocate_run(pool.allocate_run(3), 3);
    EXPECT_EQ(front_of().runs, nullptr);
  }
  for (int i = 0; i < 3; ++i) pool.deallocate_run(pool.allocate_run(3), 3);
  ASSERT_NE(front_of().runs, nullptr);
  void** const top = front_of().runs[3].top;
  EXPECT_LT(top, front_of().runs[3].limit);
  void* const run = pool.allocate_run(3);
  EXPECT_EQ(front_of().runs[3].top, top - 1);
  pool.deallocate_run(run, 3);
  EXPECT_EQ(front_of().runs[3].top, top);
}

TEST(WatchedBatches, EachBlockOfABatchIsSampled) {
  SharedFixedPool pool(64);
  void* blocks[200];
  const Watch watch(kEachBlock);
  ASSERT_EQ(pool.allocate_batch(200, blocks), 200u);
  EXPECT_EQ(live_samples_of_pools(), 200u);
  pool.deallocate_batch(blocks, 200);
  EXPECT_EQ(live_samples_of_pools(), 0u);
}

TEST(WatchedHandles, ASampleLastsUntilTheObjectEndsOrNobodyWatches) {
  struct Object {
    std::uint64_t words[4];
  };
  HandlePool<Object> pool;
  std::vector<Handle<Object>> handles;
  {
    const Watch watch(kEachBlock);
    for (int i = 0; i < 100; ++i) handles.push_back(pool.create());
    EXPECT_EQ(live_samples_of_pools(), 100u);
    for (std::size_t i = 0; i < 40; ++i) pool.destroy(handles[i]);
    EXPECT_EQ(live_samples_of_pools(), 60u);
  }
  EXPECT_EQ(live_samples_of_pools(), 0u);
}

TEST(WatchedHeapInABuffer, ItsBlocksAreSampledToo) {
  alignas(4096) static char buffer[256 * 1024];
  Heap heap({.buffer = buffer, .buffer_bytes = sizeof buffer});
  const Watch watch(kEachBlock);
  std::vector<void*> blocks(100);
  for (void*& block : blocks) block = heap.allocate(200);
  EXPECT_EQ(live_samples_of_pools(), 100u);
  for (void* const block : blocks) heap.deallocate(block);
  EXPECT_EQ(live_samples_of_pools(), 0u);
}

TEST(WatchedSpans, NoSpanKeepsItsMarkOnceItIsUsedUnwatched) {
  Heap heap;
  std::vector<void*> blocks(100);
  {
    const Watch watch(kEachBlock);
    for (void*& block : blocks) block = heap.allocate(200);
  }
  for (void* const block : blocks) heap.deallocate(block);
  void* const block = heap.allocate(200);
  heap.deallocate(block);
  EXPECT_FALSE(watched_spans.is_on());
  EXPECT_EQ(live_samples(), 0u);
}

}  // namespace
}  // namespace tarn::internal
