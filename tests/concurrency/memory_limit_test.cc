// The limits of memory with many threads, and in the child of a fork.
#include "support/child.h"
#include "support/invariants.h"
#include "support/prelude.h"
#include "support/seed.h"
#include "support/threads.h"
#include "tarn/fixed_pool.h"
#include "tarn/limits.h"
#include "tarn/memory_pool.h"
#include "tarn/stats.h"

namespace tarn::test {
namespace {

constexpr std::size_t kMiB = 1 << 20;
constexpr unsigned kThreads = 8;
// Records of 8 threads with their magazines; pages never exceed the limit.
constexpr std::size_t kRecords = 8 * kMiB;

class LimitOfThreads : public testing::Test {
 protected:
  LimitOfThreads() { tarn::trim(0); }
  ~LimitOfThreads() override {
    tarn::set_memory_limits({});
    tarn::set_limit_callback(nullptr);
  }
};

std::size_t pages_and_records(std::size_t* records) {
  const tarn::Statistics now = tarn::stats();
  *records = now.held_bytes - now.mapped_bytes - now.free_dirty_bytes;
  return now.held_bytes;
}

TEST_F(LimitOfThreads, IsNotExceededByThreadsThatRaceToIt) {
  std::size_t records_before = 0;
  const std::size_t hard = pages_and_records(&records_before) + 40 * kMiB;
  tarn::set_memory_limits({.soft = hard - 10 * kMiB, .hard = hard});
  std::atomic<unsigned> running_callbacks{0}, at_once{0}, calls{0};
  struct Context {
    std::atomic<unsigned>&running, &at_once, &calls;
  } context{running_callbacks, at_once, calls};
  tarn::set_limit_callback(
      [](const tarn_limit_event*, void* pointer) {
        Context& told = *static_cast<Context*>(pointer);
        if (++told.running > 1) ++told.at_once;
        ++told.calls;
        tarn::deallocate(tarn::allocate(5000));
        tarn::trim(0);
        --told.running;
      },
      &context);
  std::atomic<std::size_t> peak{0}, refused{0};
  std::barrier together(kThreads);
  in_threads(kThreads, [&](unsigned t) {
    Random random(t + 1);
    std::vector<void*> blocks;
    for (std::size_t i = 0; i < amount(1500, 20'000); ++i) {
      constexpr std::size_t kLargest[] = {200, 4000, 60'000, 300'000, 3 * kMiB};
      const std::size_t largest = kLargest[random.between(0, 4)];
      void* const block = tarn::allocate(random.between(1, largest));
      if (block != nullptr) {
        *static_cast<char*>(block) = 1;
        blocks.push_back(block);
      } else {
        ++refused;
        for (std::size_t left = blocks.size() / 2; blocks.size() > left; blocks.pop_back())
          tarn::deallocate(blocks.back());
      }
      const std::size_t held = tarn::held_bytes();
      for (std::size_t most = peak; held > most && !peak.compare_exchange_weak(most, held);) {
      }
    }
    together.arrive_and_wait();  // threads that run one after another reach the limit too
    for (void* block : blocks) tarn::deallocate(block);
  });
  std::size_t records = 0;
  pages_and_records(&records);
  EXPECT_GT(refused, 0u);
  EXPECT_GT(calls, 0u);
  EXPECT_EQ(at_once, 0u);
  EXPECT_LE(peak, hard + records - records_before);
  EXPECT_LE(records - records_before, kRecords);
  EXPECT_GE(peak, hard - 4 * kMiB);  // it was reached
  validate_library();
  void* const block = tarn::allocate(30 * kMiB);  // all of it is free again
  EXPECT_NE(block, nullptr);
  tarn::deallocate(block);
}

TEST_F(LimitOfThreads, AFunctionThatStartsAThreadMeetsNoCallInTheMiddleOfItsWork) {
  constexpr std::size_t kBatch = 100'000;
  SharedFixedPool pool({.block_bytes = 64, .blocks_per_chunk = 512});
  struct Other {
    SharedFixedPool& pool;
    std::thread thread;
    std::vector<void*> blocks;
  } other{pool, {}, {}};
  const auto take_some = [](Other& taker) {
    for (int round = 0; round < 500; ++round) {
      void* batch[32];
      const std::size_t taken = taker.pool.allocate_batch(32, batch);
      taker.blocks.insert(taker.blocks.end(), batch, batch + taken);
    }
  };
  struct Context {
    Other& other;
    decltype(take_some)& take;
  } context{other, take_some};
  tarn::set_limit_callback(
      [](const tarn_limit_event*, void* pointer) {
        Context& told = *static_cast<Context*>(pointer);
        if (!told.other.thread.joinable())
          told.other.thread = std::thread([&told] { told.take(told.other); });
      },
      &context);
  tarn::set_memory_limits({.soft = tarn::held_bytes() + 1000, .hard = 0});
  std::vector<void*> blocks(kBatch);
  ASSERT_EQ(pool.allocate_batch(kBatch, blocks.data()), kBatch);
  ASSERT_TRUE(other.thread.joinable());
  other.thread.join();
  blocks.insert(blocks.end(), other.blocks.begin(), other.blocks.end());
  const std::size_t all = blocks.size();
  EXPECT_EQ(std::set<void*>(blocks.begin(), blocks.end()).size(), all);
  EXPECT_EQ(pool.live_count(), all);
  pool.deallocate_batch(blocks.data(), all);
}

TEST_F(LimitOfThreads, GivesAThreadWhatAnEndedOneHasLeft) {
  tarn::set_memory_limits({.soft = 0, .hard = tarn::held_bytes() + 24 * kMiB});
  for (int round = 0; round < 3; ++round) {
    std::thread([] {
      std::vector<void*> blocks;
      while (void* const block = tarn::allocate(3000)) blocks.push_back(block);
      for (void* block : blocks) tarn::deallocate(block);
    }).join();
    void* const block = tarn::allocate(18 * kMiB);
    EXPECT_NE(block, nullptr) << round;
    tarn::deallocate(block);
  }
}

// Sanitizers follow no fork of a process with threads.
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
TEST_F(LimitOfThreads, AForksChildHasTheLimitsAndTheFigures) {
  tarn::set_memory_limits({.soft = tarn::held_bytes() + 10 * kMiB, .hard = tarn::held_bytes() + 20 * kMiB});
  // While the child is made, another thread is in the function.
  static std::atomic<bool> is_inside{false}, may_leave{false};
  static std::atomic<int> told{0};
  tarn::set_limit_callback([](const tarn_limit_event*, void*) {
    if (++told != 1) return;
    is_inside = true;
    while (!may_leave) std::this_thread::yield();
  });
  std::thread other([] {
    void* const block = tarn::allocate(12 * kMiB);
    tarn::deallocate(block);
  });
  while (!is_inside) std::this_thread::yield();
  const tarn::MemoryLimits limits = tarn::memory_limits();
  const ChildResult result = run_in_child([&] {
    if (tarn::memory_limits().soft != limits.soft || tarn::memory_limits().hard != limits.hard) return 1;
    if (tarn::allocate(9 * kMiB) != nullptr) return 2;  // the other thread's 12 MiB are held here too
    const int before = told;
    tarn::set_memory_limits({.soft = tarn::held_bytes() + kMiB, .hard = 0});
    void* const block = tarn::allocate(6 * kMiB);
    if (block == nullptr) return 3;
    if (told == before) return 4;  // nobody is told for ever by a thread that is gone
    tarn::deallocate(block);
    validate_library();
    return 0;
  });
  EXPECT_TRUE(result.is_success()) << result.describe();
  may_leave = true;
  other.join();
  validate_library();
}
#endif

}  // namespace
}  // namespace tarn::test
