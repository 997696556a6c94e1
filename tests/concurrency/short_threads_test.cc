// Threads that come and go: what they leave is used by those that follow, and comes back in the end.
#include "concurrency/pool_memory.h"
#include "support/content.h"
#include "support/prelude.h"
#include "support/process_memory.h"
#include "support/sanitizer.h"
#include "support/seed.h"
#include "support/sizes.h"

namespace tarn::test {
namespace {

using Pool = PoolUnderTest;

void work_briefly(std::uint64_t seed) {
  Random random(seed);
  void* blocks[40];
  for (void*& block : blocks) block = Pool::allocate(1 + random.below(seed % 10 == 0 ? 100000 : 500));
  for (void* block : blocks) Pool::deallocate(block);
}

// Trimmed before each look: what is kept for the next thread nears its bound only over tens of thousands.
TEST(ShortThreads, TenThousandLeaveMemoryAsItWas) {
  const std::uint64_t half = amount(5000, 50000);
  auto run = [&](std::uint64_t first) {
    for (std::uint64_t i = 0; i < half; i += 2) {
      std::thread one(work_briefly, first + i), another(work_briefly, first + i + 1);
      one.join();
      another.join();
    }
    EXPECT_LE(held_bytes(), 64 * kMiB) << "kept for the next thread";
    trim_pool();
  };
  run(0);
  const std::size_t held = held_bytes(), resident = resident_bytes();
  run(half);
  EXPECT_LE(held_bytes(), held + kMiB) << "grew in the second half";
  if (!kSanitizer) {
    EXPECT_LE(resident_bytes(), resident + 2 * kMiB) << "grew in the second half";
  }
}

TEST(ShortThreads, BlocksOfEndedThreadsAreWholeAndCanBeFreed) {
  std::vector<void*> blocks;
  constexpr std::size_t kPerThread = 100;
  for (std::uint64_t t = 0; t < 50; ++t)
    std::thread([&] {
      for (std::size_t i = 0; i < kPerThread; ++i) {
        blocks.push_back(Pool::allocate(i * 37 + 1));
        fill(blocks.back(), i * 37 + 1, t);
      }
    }).join();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    EXPECT_TRUE(holds(blocks[i], i % kPerThread * 37 + 1, i / kPerThread));
    Pool::deallocate(blocks[i]);
  }
}

TEST(ShortThreads, MemoryOfEndedThreadsComesBackWhenItsBlocksAreFreed) {
  trim_pool();
  const std::size_t before = held_bytes();
  std::vector<void*> blocks;
  for (int t = 0; t < 20; ++t)
    std::thread([&] {
      for (int i = 0; i < 2000; ++i) blocks.push_back(Pool::allocate(700));
    }).join();
  EXPECT_GE(held_bytes(), before + blocks.size() * 700);
  for (void* block : blocks) Pool::deallocate(block);
  blocks = {};
  trim_pool();
  EXPECT_LE(held_bytes(), before + 4 * kMiB);
}

// A thread ends with half of its blocks live; the next ones use the holes instead of new memory.
TEST(ShortThreads, TheNextThreadAdoptsWhatAnEndedOneLeft) {
  std::vector<void*> kept;
  auto leave_half = [&] {
    std::vector<void*> freed;
    for (int i = 0; i < 4000; ++i) (i % 2 == 0 ? kept : freed).push_back(Pool::allocate(200));
    for (void* block : freed) Pool::deallocate(block);
  };
  std::thread(leave_half).join();
  const std::size_t held = held_bytes();
  for (int t = 0; t < 20; ++t)
    std::thread([&] {
      std::vector<void*> blocks;
      for (int i = 0; i < 1900; ++i) blocks.push_back(Pool::allocate(200));
      for (void* block : blocks) Pool::deallocate(block);
    }).join();
  EXPECT_LE(held_bytes(), held + kMiB);
  for (void* block : kept) Pool::deallocate(block);
}

// Threads end while others free what they allocated: an owner is alive, ending or gone at the moment of the
// free.
TEST(ShortThreads, OwnersEndWhileOthersFreeTheirBlocks) {
  const std::uint64_t rounds = amount(400, 10000);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    constexpr std::size_t kBlocks = 300;
    void* blocks[kBlocks];
    std::barrier allocated(3);
    std::thread owner([&] {
      for (std::size_t i = 0; i < kBlocks; ++i) blocks[i] = Pool::allocate(16 + i % 5 * 200);
      allocated.arrive_and_wait();
    });
    auto free_every_second = [&](std::size_t first) {
      allocated.arrive_and_wait();
      for (std::size_t i = first; i < kBlocks; i += 2) Pool::deallocate(blocks[i]);
    };
    std::thread even(free_every_second, 0), odd(free_every_second, 1);
    owner.join();
    even.join();
    odd.join();
  }
}

TEST(ShortThreads, AThreadThatNeverAllocatedMayFree) {
  for (const std::size_t size : landmark_sizes(5 * kMiB)) {
    void* const block = Pool::allocate(size);
    std::thread([&] { Pool::deallocate(block); }).join();
  }
}

}  // namespace
}  // namespace tarn::test
