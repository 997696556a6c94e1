#include "os/locks/lock_rank.h"

#include "os/locks/held_locks.h"
#include "os/memory/memory.h"
#include "os/process/process.h"
#include "support/child.h"
#include "support/prelude.h"

namespace tarn::internal::os {
namespace {

bool is_free(Mutex& mutex) {
  bool was_free = false;
  std::thread([&] {
    was_free = mutex.try_lock();
    if (was_free) mutex.unlock();
  }).join();
  return was_free;
}

constexpr std::size_t kGlobalRanks[] = {
    static_cast<std::size_t>(LockRank::kSetUp),         static_cast<std::size_t>(LockRank::kMemoryLimit),
    static_cast<std::size_t>(LockRank::kThreadKey),     static_cast<std::size_t>(LockRank::kPoolRegistry),
    static_cast<std::size_t>(LockRank::kCallersMemory), static_cast<std::size_t>(LockRank::kPrivateClass),
    static_cast<std::size_t>(LockRank::kSystemBlocks),  static_cast<std::size_t>(LockRank::kGiveBack),
    static_cast<std::size_t>(LockRank::kThreads),       static_cast<std::size_t>(LockRank::kPageGrowth),
    static_cast<std::size_t>(LockRank::kPageCache),     static_cast<std::size_t>(LockRank::kLiveMap),
    static_cast<std::size_t>(LockRank::kSpans),         static_cast<std::size_t>(LockRank::kMetadata)};

void become_multi_threaded() {
  std::thread([] {}).join();
}

TEST(ForkSet, TakesTheMutexOfEveryRankAndLetsItGo) {
  become_multi_threaded();
  fork_set.lock_all();
  for (const std::size_t rank : kGlobalRanks) EXPECT_FALSE(is_free(mutex_table.of[rank])) << rank;
  fork_set.unlock_all_in_parent();
  for (const std::size_t rank : kGlobalRanks) EXPECT_TRUE(is_free(mutex_table.of[rank])) << rank;
}

TEST(ForkSet, LetsTheForkingThreadTakeWhatItHoldsWithoutGivingItAway) {
  become_multi_threaded();
  Mutex& mutex = global_mutex<LockRank::kMetadata>();
  fork_set.lock_all();
  {
    LockGuard guard(mutex);
    EXPECT_FALSE(is_free(mutex));
  }
  EXPECT_FALSE(is_free(mutex)) << "the fork still holds it";
  fork_set.unlock_all_in_parent();
  EXPECT_TRUE(is_free(mutex));
}

TEST(ForkSet, KeepsItsLocksForAForkInAHandlerOfAFork) {
  become_multi_threaded();
  Mutex& mutex = global_mutex<LockRank::kThreads>();
  fork_set.lock_all();
  fork_set.lock_all();
  fork_set.unlock_all_in_parent();
  EXPECT_FALSE(is_free(mutex));
  fork_set.unlock_all_in_parent();
  EXPECT_TRUE(is_free(mutex));
}

TEST(ForkSet, WakesThoseWhoWaitedForTheFork) {
  become_multi_threaded();
  Mutex& mutex = global_mutex<LockRank::kSpans>();
  fork_set.lock_all();
  std::atomic<bool> is_waiting{false}, has_it{false};
  std::thread waiter([&] {
    is_waiting = true;
    LockGuard guard(mutex);
    has_it = true;
  });
  while (!is_waiting) std::this_thread::yield();
  EXPECT_FALSE(has_it);
  fork_set.unlock_all_in_parent();
  waiter.join();
  EXPECT_TRUE(has_it);
}

bool is_asleep(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string line;
  std::getline(file, line);
  return line.find(") S ") != std::string::npos;
}

// Else a busy thread, which takes the mutex again before the fork has woken, would make the fork wait for
// many of its calls.
TEST(ForkSet, GetsAMutexFromItsHolderBeforeTheHolderCanTakeItAgain) {
  become_multi_threaded();
  Mutex& mutex = global_mutex<LockRank::kSpans>();
  mutex.lock();
  std::atomic<pid_t> forking{0};
  std::atomic<bool> has_all{false}, may_end{false};
  std::thread fork([&] {
    forking = gettid();
    fork_set.lock_all();
    has_all = true;
    while (!may_end) std::this_thread::yield();
    fork_set.unlock_all_in_parent();
  });
  // Behind this mutex: the test holds no other, and all ranks before it are taken.
  while (forking == 0 || is_free(global_mutex<LockRank::kPageCache>()) || !is_asleep(forking))
    std::this_thread::yield();
  mutex.unlock();
  EXPECT_FALSE(mutex.try_lock());
  while (!has_all) std::this_thread::yield();
  may_end = true;
  fork.join();
  EXPECT_TRUE(is_free(mutex));
}

// The fork asks all of a rank before it waits for the first.
TEST(ForkSet, WaitsForTheHoldersOfARankTogether) {
  become_multi_threaded();
  static MemberMutex<LockRank::kPool> first, second;
  fork_set.set_walk(LockRank::kPool, [](ForkSet::Visit visit) { visit(first), visit(second); });
  first.lock();
  ASSERT_TRUE(second.try_lock()) << "of the same rank, which is only ever tried";
  std::atomic<pid_t> forking{0};
  std::thread fork([&] {
    forking = gettid();
    fork_set.lock_all();
    fork_set.unlock_all_in_parent();
  });
  while (forking == 0 || is_free(global_mutex<LockRank::kPrivateClass>()) || !is_asleep(forking))
    std::this_thread::yield();
  second.unlock();
  EXPECT_FALSE(second.try_lock()) << "it is the fork's while the fork still waits for the first";
  first.unlock();
  fork.join();
  EXPECT_TRUE(is_free(first));
  EXPECT_TRUE(is_free(second));
}

TEST(ForkSet, MakesASecondThreadThatForksWait) {
  become_multi_threaded();
  fork_set.lock_all();
  std::atomic<int> step{0};
  std::thread second([&] {
    step = 1;
    fork_set.lock_all();
    step = 2;
    fork_set.unlock_all_in_parent();
  });
  while (step == 0) std::this_thread::yield();
  EXPECT_EQ(step, 1);
  fork_set.unlock_all_in_parent();
  second.join();
  EXPECT_EQ(step, 2);
}

TEST(ForkSet, FindsEveryMutexFreeInTheChild) {
  become_multi_threaded();
  const test::ChildResult result = test::run_in_child([] {
    for (const std::size_t rank : kGlobalRanks)
      if (!mutex_table.of[rank].try_lock()) return static_cast<int>(rank) + 1;
    return 0;
  });
  EXPECT_TRUE(result.is_success()) << result.describe();
}

TEST(WholeRankGuard, TakesEachMutexOfItsRankAndLetsItGo) {
  static MemberMutex<LockRank::kTest> first, second;
  fork_set.set_walk(LockRank::kTest, [](ForkSet::Visit visit) { visit(first), visit(second); });
  {
    const WholeRankGuard guard(LockRank::kTest);
    EXPECT_FALSE(is_free(first));
    EXPECT_FALSE(is_free(second));
  }
  EXPECT_TRUE(is_free(first));
  EXPECT_TRUE(is_free(second));
}

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
  EXPECT_TRUE(result.error.starts_with("tarn: " + line + "\n")) << result.error;
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
