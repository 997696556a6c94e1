#include "os/locks/mutex.h"

#include "os/locks/lock_rank.h"
#include "os/locks/owner_lock.h"
#include "os/process/process.h"
#include "support/child.h"
#include "support/prelude.h"
#include "support/seed.h"
#include "support/threads.h"

namespace tarn::internal::os {
namespace {

TEST(Mutex, LetsOneThreadInAtATime) {
  MemberMutex<LockRank::kTest> mutex;
  std::uint64_t count = 0;  // plain on purpose
  const std::uint64_t rounds = test::amount(100000, 3000000);
  test::in_threads(8, [&] {
    for (std::uint64_t i = 0; i < rounds; ++i) {
      LockGuard guard(mutex);
      ++count;
    }
  });
  EXPECT_EQ(count, 8 * rounds);
}

// The holder sleeps with waiters behind it, so that they go to sleep in the kernel and must be woken one by
// one.
TEST(Mutex, WakesEveryWaiterThatSleeps) {
  MemberMutex<LockRank::kTest> mutex;
  int count = 0;
  test::in_threads(6, [&] {
    LockGuard guard(mutex);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    ++count;
  });
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

static_assert(FutexWord<std::atomic<std::uint32_t>> && FutexWord<detail::Atomic<std::uint32_t>>);
static_assert(!FutexWord<std::atomic<std::uint64_t>> && !FutexWord<std::atomic<std::uint8_t>>);

TEST(WaitOn, ReturnsWhenTheTimeIsOver) {
  std::atomic<std::uint32_t> word{0};
  const auto start = std::chrono::steady_clock::now();
  wait_on(&word, 0, 30);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(25));
}

TEST(WaitOn, ReturnsAtOnceWhenTheValueIsAnother) {
  std::atomic<std::uint32_t> word{1};
  const auto start = std::chrono::steady_clock::now();
  wait_on(&word, 0, 20000);
  EXPECT_LE(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(WaitOn, IsEndedByWakeAll) {
  std::atomic<std::uint32_t> word{0};
  const auto start = std::chrono::steady_clock::now();
  std::thread waiter([&] {
    while (word == 0) wait_on(&word, 0, 20000);
  });
  word = 1;
  wake_all(&word);
  waiter.join();
  EXPECT_LE(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

struct Counted {
  detail::OwnerMark mark;
  std::atomic<bool> is_wanted{false};
  MemberMutex<LockRank::kTest> visitors;
  std::uint64_t count = 0;  // of who is inside

  void add_as_owner() {
    mark.enter(OwnerLock::fences);
    const bool is_inside = !is_wanted.load(std::memory_order_seq_cst);
    if (is_inside) ++count;
    mark.leave();
    if (is_inside) return;
    const LockGuard guard(visitors);
    ++count;
  }
  void add_as_visitor() {
    const LockGuard guard(visitors);
    is_wanted.store(true, std::memory_order_seq_cst);
    OwnerLock::fence_all_threads();
    ASSERT_TRUE(OwnerLock::wait_for(mark));
    ++count;
    is_wanted.store(false, std::memory_order_release);
  }
};

/// \param meanwhile is called when half of the visits are over.
template <typename Meanwhile>
void expect_no_step_is_lost(Meanwhile meanwhile) {
  const std::uint64_t steps = test::amount(1'000'000, 50'000'000), visits = steps / 100;
  Counted counted;
  std::thread owner([&] {
    for (std::uint64_t i = 0; i < steps; ++i) counted.add_as_owner();
  });
  std::thread other([&] {
    for (std::uint64_t i = 0; i < visits; ++i) counted.add_as_visitor();
  });
  for (std::uint64_t i = 0; i < visits; ++i) {
    counted.add_as_visitor();
    if (i == visits / 2) meanwhile();
  }
  owner.join();
  other.join();
  EXPECT_EQ(counted.count, steps + 2 * visits);
}

TEST(OwnerLock, KeepsOwnerAndVisitorsApart) {
  // Each way in a process of its own: what is prepared or forbidden stays so.
  EXPECT_TRUE(test::run_in_child([] {
                expect_no_step_is_lost([] {});
                return ::testing::Test::HasFailure() ? 1 : 0;
              }).is_success());
  if (seccomp_is_active()) GTEST_SKIP() << "under a filter owners have fences";
  EXPECT_TRUE(test::run_in_child([] {
                OwnerLock::prepare();
                expect_no_step_is_lost([] {});
                return ::testing::Test::HasFailure() ? 1 : 0;
              }).is_success());
  EXPECT_TRUE(test::run_in_child([] {
                OwnerLock::prepare();
                expect_no_step_is_lost([] { OwnerLock::forbid_calls(); });
                return ::testing::Test::HasFailure() ? 1 : 0;
              }).is_success());
  EXPECT_TRUE(test::run_in_child([] {
                expect_no_step_is_lost([] { OwnerLock::prepare(); });
                return ::testing::Test::HasFailure() ? 1 : 0;
              }).is_success());
}

TEST(OwnerLock, AnOwnerThatAForkHasLeftBehindIsOutside) {
  detail::OwnerMark mark;
  mark.enter(OwnerLock::fences);
  EXPECT_FALSE(OwnerLock::wait_for(mark, 1));
  OwnerLock::forget_other_threads();
  EXPECT_TRUE(OwnerLock::wait_for(mark));
}

}  // namespace
}  // namespace tarn::internal::os
