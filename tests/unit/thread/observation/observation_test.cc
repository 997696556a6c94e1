#include "thread/observation/observation.h"

#include "observe/profile/samples.h"
#include "support/forked.h"
#include "support/prelude.h"
#include "support/seed.h"
#include "support/threads.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"
#include "tarn/object_pool.h"
#include "thread/observation/exponential.h"
#include "thread/registry.h"

namespace tarn::internal {
namespace {

struct Live {
  std::uint64_t samples = 0;
  double blocks = 0;
};
Live live_samples() {
  Live live;
  samples.for_each([&](const Sample& sample) {
    ++live.samples;
    live.blocks += blocks_of_sample(sample.requested, sample.interval);
  });
  return live;
}

/// Watches while it exists.
struct Watch {
  explicit Watch(std::size_t interval) { observation.watch(interval); }
  ~Watch() { observation.watch(0); }
};

void keep_compiler_from_removing(void* block) { asm volatile("" : : "r"(block) : "memory"); }

TEST(Observation, NothingIsSampledBeforeTheFirstSwitch) {
  for (int i = 0; i < 10'000; ++i) {
    void* const block = allocate(100);
    keep_compiler_from_removing(block);
    deallocate(block);
  }
  EXPECT_EQ(live_samples().samples, 0u);
  EXPECT_FALSE(observation.has_begun());
}

TEST(Observation, EachBlockIsSampledWithAnIntervalOfOne) {
  Watch watch(1);
  std::vector<void*> blocks;
  blocks.reserve(1'000);
  const std::uint64_t before = live_samples().samples;
  for (std::size_t i = 0; i < 1'000; ++i) blocks.push_back(allocate(i * 7 % 5'000));
  EXPECT_EQ(live_samples().samples, before + 1'000);
  for (void* block : blocks) deallocate(block);
  EXPECT_EQ(live_samples().samples, before);
  samples.validate();
}

// Six sites of the same kind of work: what is sampled of each must be what it did, within three standard
// deviations of a Poisson process. The draws are the same in each run, as one in 370 lies outside.
class Unbiased : public ::testing::Test {
 protected:
  Unbiased() { this_thread().random = 1; }
  static constexpr std::size_t kInterval = 8192;
  static void expect_estimate(double estimate, double truth, std::size_t bytes) {
    const double samples_expected = truth * static_cast<double>(bytes) / kInterval;
    EXPECT_NEAR(estimate, truth, 3 * truth / std::sqrt(samples_expected)) << bytes << " bytes";
  }
};

TEST_F(Unbiased, WhatIsKept) {
  Watch watch(kInterval);
  std::vector<void*> blocks(200'000);
  const Live before = live_samples();
  for (void*& block : blocks) block = allocate(64);
  expect_estimate(live_samples().blocks - before.blocks, 200'000, 64);
  for (void* block : blocks) deallocate(block);
  EXPECT_EQ(live_samples().samples, before.samples);
}

TEST_F(Unbiased, WhatAnotherThreadFrees) {
  Watch watch(kInterval);
  std::vector<void*> blocks(200'000);
  const Live before = live_samples();
  for (void*& block : blocks) block = allocate(100);
  std::thread([&] {
    for (std::size_t i = 0; i < blocks.size(); i += 2) deallocate(blocks[i]);
  }).join();
  expect_estimate(live_samples().blocks - before.blocks, 100'000, 100);
  for (std::size_t i = 1; i < blocks.size(); i += 2) deallocate(blocks[i]);
}

TEST_F(Unbiased, LargeBlocks) {
  Watch watch(std::size_t{1} << 20);
  const Live before = live_samples();
  std::vector<void*> blocks(300);
  for (void*& block : blocks) block = allocate(400'000);
  const double chance = 1 - std::exp(-400'000.0 / (1 << 20));
  const double deviation = std::sqrt(300 * chance * (1 - chance)) / chance;
  EXPECT_NEAR(live_samples().blocks - before.blocks, 300, 3 * deviation);
  for (void* block : blocks) deallocate(block);
  EXPECT_EQ(live_samples().samples, before.samples);
}

struct Object {
  char bytes[88];
};

TEST_F(Unbiased, ObjectsOfAPool) {
  Watch watch(kInterval);
  ObjectPool<Object> pool;
  std::vector<Object*> objects(100'000);
  const Live before = live_samples();
  for (Object*& object : objects) object = pool.create();
  expect_estimate(live_samples().blocks - before.blocks, 100'000, sizeof(Object));
  for (Object* object : objects) pool.destroy(object);
  EXPECT_EQ(live_samples().samples, before.samples);
  EXPECT_EQ(pool.live_count(), 0u);
}

TEST_F(Unbiased, WhatGrows) {
  Watch watch(kInterval);
  const Live before = live_samples();
  std::vector<void*> blocks(50'000);
  for (void*& block : blocks) block = reallocate(allocate(48), 96);
  expect_estimate(live_samples().blocks - before.blocks, 50'000, 96);
  for (void* block : blocks) deallocate(block);
  EXPECT_EQ(live_samples().samples, before.samples);
}

TEST(Observation, AThreadThatOnlyHitsIsReached) {
  std::atomic<bool> has_begun{false}, ends{false};
  std::thread hitter([&] {
    // Enough calls for a heap of its own, then hits alone.
    for (int i = 0; i < 1'000; ++i) {
      void* const block = allocate(64);
      keep_compiler_from_removing(block);
      deallocate(block);
    }
    has_begun = true;
    while (!ends.load(std::memory_order_relaxed)) {
      void* const block = allocate(64);
      keep_compiler_from_removing(block);
      deallocate(block);
    }
  });
  while (!has_begun) std::this_thread::yield();
  observation.watch(1024);
  // Its samples live for a moment only; each has its stack.
  while (samples.stack(1) == nullptr) std::this_thread::yield();
  observation.watch(0);
  ends = true;
  hitter.join();
  EXPECT_EQ(live_samples().samples, 0u);
}

TEST(Observation, AScopeOfAHeapStaysOneWhileItIsSwitchedOnAndOff) {
  Heap heap({.name = "room"});
  {
    HeapScope scope(heap);
    for (int i = 0; i < 100; ++i) {
      observation.watch(i % 2 == 0 ? 256 : 0);
      void* const block = allocate(100);
      EXPECT_TRUE(heap.owns(block));
      deallocate(block);
    }
  }
  observation.watch(0);
  void* const block = allocate(100);
  EXPECT_FALSE(heap.owns(block));
  deallocate(block);
}

TEST(Observation, TheChildOfAForkIsWatchedAsItsParentWas) {
  Watch watch(1);
  void* const block = allocate(1'000);
  const std::uint64_t live = live_samples().samples;
  const int status = test::forked([&] {
    void* const more = allocate(2'000);
    const bool counts = live_samples().samples == live + 1;
    deallocate(more);
    deallocate(block);
    return counts && live_samples().samples == live - 1 ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
  deallocate(block);
}

TEST(Observation, SwitchesUnderLoadLeaveNoSampleAndLoseNoBlock) {
  std::atomic<bool> ends{false};
  test::Threads threads(4, [&](unsigned t) {
    std::minstd_rand random(t + 1);
    std::vector<std::pair<unsigned char*, std::size_t>> live(200);
    while (!ends.load(std::memory_order_relaxed)) {
      auto& [block, bytes] = live[random() % live.size()];
      if (block != nullptr) {
        EXPECT_EQ(block[0], bytes & 0xff);
        EXPECT_EQ(block[bytes - 1], bytes & 0xff);
        deallocate(block);
      }
      bytes = 2 + random() % 3'000;
      block = static_cast<unsigned char*>(allocate(bytes));
      block[0] = block[bytes - 1] = static_cast<unsigned char>(bytes);
    }
    for (const auto& [block, bytes] : live) deallocate(block);
  });
  // Threads that come and go meanwhile take the mode at their birth.
  const std::uint64_t switches = test::amount(10'000, 10'000);
  for (std::uint64_t i = 0; i < switches; ++i) {
    observation.watch(i % 2 == 0 ? 1'024 : 0);
    if (i % 50 == 0)
      std::thread([] {
        for (int n = 0; n < 200; ++n) deallocate(allocate(128));
      }).join();
  }
  observation.watch(0);
  ends = true;
  threads.join();
  EXPECT_EQ(live_samples().samples, 0u);
  samples.validate();
}

// Tools read the count and write it later: it may fall.
TEST(Observation, AThreadWithoutAHeapAllocatesWhereTheCountOfSwitchesHasFallen) {
  observation.watch(1'024);
  observation.watch(0);
  std::thread([] {
    deallocate(allocate(100));  // notices the last switch
    const std::uint32_t now = watch_switches.generation.load();
    watch_switches.generation.store(now - 1);
    void* const block = allocate(100);
    EXPECT_NE(block, nullptr);
    deallocate(block);
    watch_switches.generation.store(now);
  }).join();
}

// A thread that rings for one switch may still do so when others have noticed the next one.
TEST(Observation, WhatIsHiddenLateStaysShownWhereTheLastSwitchIsNoticed) {
  observation.watch(1'024);
  observation.watch(0);
  deallocate(allocate(100));
  ASSERT_NE(detail::own_cache(), &detail::empty_cache.cache);
  registry.hide_all_records();
  EXPECT_NE(detail::own_cache(), &detail::empty_cache.cache);
}

}  // namespace
}  // namespace tarn::internal
