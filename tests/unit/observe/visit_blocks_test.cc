// Visits that are refused memory, and that hold no lock. tests/pools/visit_blocks_test.cc: what is visited.
#include <gtest/gtest.h>

#include <cerrno>

#include "fault/fault_injection.h"
#include "os/locks/held_locks.h"
#include "os/locks/lock_rank.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"
#include "tarn/observe.h"

namespace tarn::internal {
namespace {

TEST(VisitBlocks, WithoutMemoryForTheWalkVisitNothingAndSaySo) {
  void* const block = tarn::allocate(100);
  Heap heap;
  void* const block_of_heap = heap.allocate(100);
  std::size_t visits = 0;
  const auto count = [&](const LiveBlock&) { ++visits; };
  {
    const test::FaultInjection faults(test::FaultInjection::kind(test::Call::kMap), 0,
                                      test::FaultInjection::Extent::kAllFromThere);
    errno = 0;
    EXPECT_FALSE(visit_blocks(count));
    EXPECT_EQ(errno, ENOMEM);
    EXPECT_FALSE(visit_blocks(heap, count));
  }
  EXPECT_EQ(visits, 0u);
  EXPECT_TRUE(visit_blocks(count));
  EXPECT_EQ(visits, 2u);
  heap.deallocate(block_of_heap);
  tarn::deallocate(block);
}

TEST(VisitBlocks, HoldNoLockDuringAVisit) {
  void* const block = tarn::allocate(100);
  Heap heap;
  void* const block_of_heap = heap.allocate(100);
  std::size_t free_locks = 0;
  EXPECT_TRUE(visit_blocks([&](const LiveBlock&) {
    os::check_no_lock_is_held("during a visit");
    for (os::Mutex* const mutex :
         {&os::global_mutex<os::LockRank::kPoolRegistry>(), &os::global_mutex<os::LockRank::kGiveBack>(),
          &os::global_mutex<os::LockRank::kThreads>()}) {
      if (!mutex->try_lock()) continue;
      mutex->unlock();
      ++free_locks;
    }
  }));
  EXPECT_EQ(free_locks, 2u * 3u);
  heap.deallocate(block_of_heap);
  tarn::deallocate(block);
}

}  // namespace
}  // namespace tarn::internal
