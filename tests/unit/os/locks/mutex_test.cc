#include "os/locks/mutex.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

#include "os/locks/lock_rank.h"
#include "support/seed.h"

namespace tarn::internal::os {
namespace {

TEST(Mutex, LetsOneThreadInAtATime) {
  MemberMutex<LockRank::kTest> mutex;
  std::uint64_t count = 0;  // plain on purpose
  const std::uint64_t rounds = test::amount(100000, 3000000);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (std::uint64_t i = 0; i < rounds; ++i) {
        LockGuard guard(mutex);
        ++count;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 8 * rounds);
}

// The holder sleeps with waiters behind it, so that they go to sleep in the kernel and must be woken one by
// one.
TEST(Mutex, WakesEveryWaiterThatSleeps) {
  MemberMutex<LockRank::kTest> mutex;
  int count = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&] {
      LockGuard guard(mutex);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      ++count;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 6);
}

TEST(Mutex, TryLockFailsWhileItIsHeld) {
  MemberMutex<LockRank::kTest> mutex;
  EXPECT_TRUE(mutex.try_lock());
  std::thread([&] { EXPECT_FALSE(mutex.try_lock()); }).join();
  mutex.unlock();
  EXPECT_TRUE(mutex.try_lock());
  mutex.unlock();
}

TEST(WaitOn, ReturnsWhenTheTimeIsOver) {
  std::atomic<std::uint32_t> word{0};
  const auto start = std::chrono::steady_clock::now();
  wait_on(word, 0, 30);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(25));
}

TEST(WaitOn, ReturnsAtOnceWhenTheValueIsAnother) {
  std::atomic<std::uint32_t> word{1};
  const auto start = std::chrono::steady_clock::now();
  wait_on(word, 0, 20000);
  EXPECT_LE(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(WaitOn, IsEndedByWakeAll) {
  std::atomic<std::uint32_t> word{0};
  const auto start = std::chrono::steady_clock::now();
  std::thread waiter([&] {
    while (word == 0) wait_on(word, 0, 20000);
  });
  word = 1;
  wake_all(word);
  waiter.join();
  EXPECT_LE(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

}  // namespace
}  // namespace tarn::internal::os
