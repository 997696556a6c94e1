#include "os/locks/owner_lock.h"

#include <gtest/gtest.h>

#include <thread>

#include "os/locks/lock_rank.h"
#include "os/locks/mutex.h"
#include "os/process/helper_thread.h"
#include "support/child.h"
#include "support/seed.h"

namespace tarn::internal::os {
namespace {

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
