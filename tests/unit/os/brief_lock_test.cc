#include "os/brief_lock.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

namespace tarn::internal::os {
namespace {

TEST(BriefLock, OneThreadHoldsIt) {
  BriefLock lock;
  ASSERT_TRUE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock());
  std::thread([&] { EXPECT_FALSE(lock.try_lock()); }).join();
  lock.unlock();
  EXPECT_TRUE(lock.try_lock());
}

TEST(BriefLock, WhoWaitsGetsIt) {
  BriefLock lock;
  int sum = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int turn = 0; turn < 1000; ++turn) {
        lock.lock();
        ++sum;
        lock.unlock();
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sum, 4000);
}

// As its holder is a thread that the child does not have.
TEST(BriefLock, IsFreeInTheChildOfAFork) {
  BriefLock lock;
  ASSERT_TRUE(lock.try_lock());
  const pid_t child = fork();
  if (child == 0) {
    OwnerLock::forget_other_threads();
    const bool was_free = lock.try_lock();
    _exit(was_free && !lock.try_lock() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(lock.try_lock());
}

}  // namespace
}  // namespace tarn::internal::os
