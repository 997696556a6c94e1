// One thread allocates, another only frees: memory comes back to where it is allocated, and stays bounded.
#include "concurrency/pool_memory.h"
#include "support/content.h"
#include "support/invariants.h"
#include "support/prelude.h"
#include "support/seed.h"
#include "support/sizes.h"
#include "support/threads.h"

namespace tarn::test {
namespace {

using Pool = PoolUnderTest;

struct Message {
  void* block;
  std::size_t size;
};

/// A ring for one producer and one consumer.
class Channel {
 public:
  void send(Message message) {
    const std::size_t at = written_.load(std::memory_order_relaxed);
    while (at - read_.load(std::memory_order_acquire) == kCapacity) std::this_thread::yield();
    messages_[at % kCapacity] = message;
    written_.store(at + 1, std::memory_order_release);
  }
  Message receive() {
    const std::size_t at = read_.load(std::memory_order_relaxed);
    while (written_.load(std::memory_order_acquire) == at) std::this_thread::yield();
    const Message message = messages_[at % kCapacity];
    read_.store(at + 1, std::memory_order_release);
    return message;
  }

 private:
  static constexpr std::size_t kCapacity = 512;
  Message messages_[kCapacity];
  std::atomic<std::size_t> written_{0}, read_{0};
};

void produce(Channel& channel, std::uint64_t seed, std::uint64_t count, std::size_t largest) {
  Random random(seed);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::size_t size = 1 + random.below(random.below(50) == 0 ? largest : 256);
    void* const block = Pool::allocate(size);
    ASSERT_NE(block, nullptr);
    fill(block, size, seed);
    channel.send({block, size});
  }
  channel.send({nullptr, 0});
}

// Only what does not fit is an error to report, so that the consumer itself never allocates.
bool consume(Channel& channel, std::uint64_t seed) {
  bool is_whole = true;
  for (Message message = channel.receive(); message.block != nullptr; message = channel.receive()) {
    is_whole &= holds(message.block, message.size, seed);
    Pool::deallocate(message.block);
  }
  return is_whole;
}

void run_pairs(unsigned pairs, std::uint64_t count, std::size_t largest) {
  std::vector<Channel> channels(pairs);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < pairs; ++i) {
    threads.emplace_back([&, i] { produce(channels[i], i, count, largest); });
    threads.emplace_back([&, i] { EXPECT_TRUE(consume(channels[i], i)); });
  }
  validate_library();  // also while they run
  for (std::thread& thread : threads) thread.join();
  validate_library();
}

TEST(ProducerConsumer, PairsKeepEveryBlockWhole) { run_pairs(4, amount(60000, 2000000), 64 * kKiB); }

TEST(ProducerConsumer, PairsOfLargeBlocksKeepThemWhole) { run_pairs(2, amount(4000, 100000), 2 * kMiB); }

TEST(ProducerConsumer, PairsHoldNoMoreMemoryTheLongerTheyRun) {
  run_pairs(2, amount(100000, 2000000), 4 * kKiB);
  const std::size_t after_one = held_bytes();
  for (int round = 0; round < 4; ++round) run_pairs(2, amount(100000, 2000000), 4 * kKiB);
  EXPECT_LE(held_bytes(), after_one + 16 * kMiB);
}

// The owner of the slabs sleeps at a barrier the whole time; the blocks come back through it nevertheless.
TEST(ProducerConsumer, BlocksOfAnIdleOwnerComeBackWhileItSleeps) {
  constexpr std::size_t kBlocks = 20000, kSize = 1000;
  std::vector<void*> blocks(kBlocks);
  std::barrier allocated(2), freed(2);
  std::thread owner([&] {
    for (void*& block : blocks) block = Pool::allocate(kSize);
    allocated.arrive_and_wait();
    freed.arrive_and_wait();
  });
  allocated.arrive_and_wait();
  const std::size_t held = held_bytes();
  std::thread([&] {
    for (void* block : blocks) Pool::deallocate(block);
  }).join();
  trim_pool();
  EXPECT_LE(held_bytes() + kBlocks * kSize * 8 / 10, held) << "at least 80 % came back";
  freed.arrive_and_wait();
  owner.join();
}

// A thread that frees without end and never allocates must not hoard what it frees.
TEST(ProducerConsumer, AThreadThatOnlyFreesKeepsLittle) {
  const std::size_t before = held_bytes();
  constexpr std::size_t kBlocks = 5000;
  std::vector<void*> blocks(kBlocks);
  std::barrier full(2), empty(2);
  const std::uint64_t rounds = amount(60, 2000);
  std::thread consumer([&] {
    for (std::uint64_t round = 0; round < rounds; ++round) {
      full.arrive_and_wait();
      for (void* block : blocks) Pool::deallocate(block);
      empty.arrive_and_wait();
    }
  });
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < kBlocks; ++i) blocks[i] = Pool::allocate(16 + (i + round * 37) % 500);
    full.arrive_and_wait();
    empty.arrive_and_wait();
  }
  EXPECT_LE(held_bytes(), before + 24 * kMiB) << "a round needs about 1.3 MiB";
  consumer.join();
}

// Two threads free blocks of the same slabs at once, word by word.
TEST(ProducerConsumer, ManyThreadsFreeNeighboursAtOnce) {
  constexpr unsigned kThreads = 4;
  for (const std::size_t size : {8u, 16u, 64u, 1000u, 20000u}) {
    const std::size_t count = kThreads * (size < 1000 ? 4000 : 200);
    for (std::uint64_t round = 0; round < amount(20, 500); ++round) {
      std::vector<void*> blocks(count);
      for (void*& block : blocks) block = Pool::allocate(size);
      in_threads(kThreads, [&](unsigned t) {
        for (std::size_t i = t; i < count; i += kThreads) Pool::deallocate(blocks[i]);
      });
    }
  }
}

}  // namespace
}  // namespace tarn::test
