#include "os/locks/held_locks.h"

#include <gtest/gtest.h>

#include <csignal>
#include <thread>

#include "os/memory/memory.h"
#include "os/process/process.h"
#include "support/child.h"

namespace tarn::internal::os {
namespace {

#if defined(TARN_CHECKS_LOCKS)
constexpr bool kIsChecked = true;
#else
constexpr bool kIsChecked = false;
#endif

class HeldLocks : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!kIsChecked) GTEST_SKIP() << "locks are checked in debug and sanitizer builds";
  }
};

void expect_stop(void (*body)(), const std::string& line) {
  const test::ChildResult result = test::run_in_child([body] { return body(), 0; });
  EXPECT_EQ(result.signal, SIGABRT) << result.describe();
  EXPECT_EQ(result.error, "tarn: " + line + "\n");
}
void expect_success(void (*body)()) {
  const test::ChildResult result = test::run_in_child([body] { return body(), 0; });
  EXPECT_TRUE(result.is_success()) << result.describe();
}

TEST_F(HeldLocks, AHigherRankMayBeTaken) {
  expect_success([] {
    LockGuard cache(global_mutex<LockRank::kPageCache>());
    LockGuard metadata(global_mutex<LockRank::kMetadata>());
  });
}

TEST_F(HeldLocks, ALowerRankMayNot) {
  expect_stop(
      [] {
        LockGuard metadata(global_mutex<LockRank::kMetadata>());
        LockGuard cache(global_mutex<LockRank::kPageCache>());
      },
      "lock kPageCache is wanted while kMetadata is held");
}

TEST_F(HeldLocks, NorAnotherOfTheSameRank) {
  expect_stop(
      [] {
        MemberMutex<LockRank::kTest> one, other;
        LockGuard first(one), second(other);
      },
      "lock kTest is wanted while kTest is held");
}

TEST_F(HeldLocks, BothMayBeTriedAndCountThen) {
  expect_stop(
      [] {
        MemberMutex<LockRank::kTest> test;
        LockGuard guard(test);
        if (!global_mutex<LockRank::kSpans>().try_lock()) return;
        global_mutex<LockRank::kSpans>().unlock();
        if (!global_mutex<LockRank::kPageCache>().try_lock()) return;
        test.unlock();
        LockGuard lower(global_mutex<LockRank::kPageGrowth>());
      },
      "lock kPageGrowth is wanted while kPageCache is held");
}

TEST_F(HeldLocks, TheOrderOfLettingGoIsFree) {
  expect_success([] {
    Mutex &cache = global_mutex<LockRank::kPageCache>(), &metadata = global_mutex<LockRank::kMetadata>();
    cache.lock();
    metadata.lock();
    cache.unlock();
    metadata.unlock();
    cache.lock();
    cache.unlock();
  });
}

TEST_F(HeldLocks, EachThreadHasItsOwn) {
  expect_success([] {
    LockGuard metadata(global_mutex<LockRank::kMetadata>());
    std::thread([] { LockGuard test(global_mutex<LockRank::kThreadKey>()); }).join();
  });
}

TEST_F(HeldLocks, MemoryIsNotGivenBackUnderALock) {
  expect_stop(
      [] {
        void* const memory = map(page_bytes());
        LockGuard spans(global_mutex<LockRank::kSpans>());
        purge(memory, page_bytes());
      },
      "kSpans is held while memory is given back");
}

TEST_F(HeldLocks, MemoryIsGivenBackUnderTheLockForIt) {
  expect_success([] {
    void* const memory = map(page_bytes());
    LockGuard give_back(global_mutex<LockRank::kGiveBack>());
    purge(memory, page_bytes());
    release(memory, page_bytes());
  });
}

TEST_F(HeldLocks, TheLocksOfAForkAreNotOnesThatAThreadHolds) {
  expect_success([] {
    std::thread([] {}).join();
    fork_set.lock_all();
    {
      LockGuard metadata(global_mutex<LockRank::kMetadata>());  // as a handler of the program's may
      LockGuard cache(global_mutex<LockRank::kPageCache>());
      check_no_lock_is_held("in a handler");
    }
    fork_set.unlock_all_in_parent();
    LockGuard first(global_mutex<LockRank::kSetUp>());
  });
}

}  // namespace
}  // namespace tarn::internal::os
