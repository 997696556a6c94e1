#include "thread/slow_call.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "os/process/processors.h"
#include "tarn/memory_pool.h"
#include "thread/pools/pool_owner.h"
#include "thread/registry.h"
#include "unit/thread/heap_calls.h"

namespace tarn::internal {
namespace {

constexpr SizeClass kClass = class_of_index(10);  // 160 bytes

/// Two owners for all threads, for which the test's thread stands.
class SlowCallTest : public ::testing::Test {
 protected:
  SlowCallTest() { registry.set_most_owners(2); }
  ~SlowCallTest() override { registry.validate(); }

  static SlabOwner* owner_that_serves(ThreadHeap& heap) {
    const SlowCall call(heap);
    return heap.owner;
  }
};

TEST_F(SlowCallTest, IsServedByItsHomeWhileThreadsNeedNotShare) {
  Attached threads[3];
  for (Attached& thread : threads) EXPECT_EQ(owner_that_serves(thread.heap()), thread.heap().home);
}

TEST_F(SlowCallTest, IsServedByTheOwnerOfItsProcessorWhereThreadsShare) {
  Attached threads[4];
  for (Attached& thread : threads) {
    const SlabOwner* served_by = nullptr;
    unsigned processor = 0;
    do {
      processor = os::this_processor();
      served_by = owner_that_serves(thread.heap());
    } while (processor != os::this_processor());
    EXPECT_EQ(served_by, registry.owner_in_use(processor));
    EXPECT_EQ(thread.heap().owner, thread.heap().home) << "between slow calls";
  }
}

TEST_F(SlowCallTest, IsServedByItsHomeWhereTheOtherOwnerHasNoThread) {
  Attached threads[8];
  for (unsigned i = 0; i < 8; i += 2) threads[i].end();
  for (unsigned i = 1; i < 8; i += 2) EXPECT_EQ(owner_that_serves(threads[i].heap()), threads[i].heap().home);
}

TEST_F(SlowCallTest, IsServedByThePoolInItsClassesThoughThreadsShareOwners) {
  Attached threads[6];
  const ClassGeometry geometry = pool_geometry(200, 8);
  SlabOwner& pool = *acquire_pool_owner({.geometries = &geometry});
  const SizeClass size_class = pool.first_class;
  ASSERT_GE(prewarm_class(pool, size_class, 2000), 2000u);
  const std::uint64_t made = pool.counters.slabs_made;
  for (unsigned i = 0; i < 2; ++i) {
    ThreadHeap& heap = threads[i].heap();
    const std::uint64_t made_at_home = heap.home->counters.slabs_made;
    std::vector<void*> blocks(1000);
    for (void*& block : blocks) block = take_block(heap, size_class);
    EXPECT_EQ(pool.counters.slabs_made, made);
    EXPECT_EQ(heap.home->counters.slabs_made, made_at_home);
    for (void* block : blocks) give_back(heap, block, size_class);
    ReturnedPages returned;
    EXPECT_EQ(take_census(pool, returned).live_count, 0u);
  }
  ReturnedPages returned;
  settle(pool, returned);
  release_pool_owner(pool);
}

TEST_F(SlowCallTest, HoldsTheHeapButNotItsOwner) {
  Attached thread;
  ThreadHeap& heap = thread.heap();
  std::atomic<bool> has_looked{false};
  std::thread other;
  {
    const SlowCall before(heap);  // of the only thread: takes nothing
  }
  std::thread([] {}).join();  // from here on the process has had two
  {
    const SlowCall call(heap);
    EXPECT_TRUE(heap.owner->mutex.try_lock());
    heap.owner->mutex.unlock();
    other = std::thread([&] { registry.for_each_heap([&](ThreadHeap& /*heap*/) { has_looked = true; }); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_FALSE(has_looked);
  }
  other.join();
  EXPECT_TRUE(has_looked);
}

TEST_F(SlowCallTest, BlocksReturnToTheOwnerThatServedTheirCall) {
  Attached threads[4];
  ThreadHeap& heap = threads[2].heap();
  SlabOwner &home = *heap.home, &other = *threads[1].heap().home;
  std::vector<void*> blocks(3000);
  {
    ReturnedPages returned;
    const SlowCall call(heap);
    heap.owner = &other;  // as on the other's processor
    for (void*& block : blocks) block = allocate(heap, kClass, returned);
  }
  EXPECT_EQ(home.taken_bytes, 0u);
  EXPECT_GE(other.taken_bytes, 3000 * std::size_t{160});
  for (void* block : blocks) give_back(heap, block, kClass);
  threads[2].end();
  trim();
  EXPECT_EQ(other.taken_bytes, 0u);
  EXPECT_EQ(home.taken_bytes, 0u);
}

}  // namespace
}  // namespace tarn::internal
