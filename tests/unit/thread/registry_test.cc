#include "thread/registry.h"

#include "central/cached/depot.h"
#include "os/process/processors.h"
#include "page/give_back/background.h"
#include "page/spans/page_map.h"
#include "support/prelude.h"
#include "support/wait.h"
#include "tarn/memory_pool.h"
#include "thread/magazine.h"
#include "thread/pools/pool_owner.h"
#include "thread/slow_call.h"
#include "thread/thread_heap.h"
#include "unit/thread/heap_calls.h"

namespace tarn::internal {
namespace {

TEST(Registry, TheHeapOfAThreadThatEndedGoesToTheNext) {
  Attached first;
  ThreadHeap* const heap = &first.heap();
  EXPECT_EQ(heap->owner->threads.load(), 1u);
  first.end();
  EXPECT_EQ(heap->owner->threads.load(), 0u);
  Attached second;
  EXPECT_EQ(&second.heap(), heap);
}

TEST(Registry, ThreadsThatLiveAtOnceHaveHeapsOfTheirOwn) {
  Attached first, second;
  EXPECT_NE(&first.heap(), &second.heap());
  EXPECT_NE(first.heap().owner, second.heap().owner);
  EXPECT_EQ(registry.live_threads(), 2u);
  first.end();
  EXPECT_EQ(registry.live_threads(), 1u);
  EXPECT_EQ(registry.peak_threads(), 2u);
}

/// Two owners for all threads.
class SharedOwners : public ::testing::Test {
 protected:
  static constexpr SizeClass kClass = class_of_index(10);

  SharedOwners() { registry.set_most_owners(2); }
  ~SharedOwners() override { registry.validate(); }

  static void* take_block(ThreadHeap& heap) { return internal::take_block(heap, kClass); }
  static void give_back(ThreadHeap& heap, void* block) { internal::give_back(heap, block, kClass); }
};

TEST_F(SharedOwners, ServeThreadsInTurn) {
  Attached threads[6];
  for (unsigned i = 2; i < 6; ++i) EXPECT_EQ(threads[i].heap().owner, threads[i - 2].heap().owner);
  EXPECT_NE(threads[0].heap().owner, threads[1].heap().owner);
  EXPECT_EQ(threads[0].heap().owner->threads, 3u);
  registry.validate();
}

TEST_F(SharedOwners, GiveTheirSlabsToAllTheirThreads) {
  Attached threads[3];
  ThreadHeap &first = threads[0].heap(), &second = threads[2].heap();
  void* const block = take_block(first);
  void* const other = take_block(second);
  EXPECT_EQ(page_map.find(block), page_map.find(other));
  EXPECT_EQ(first.owner->of(kClass).totals.slabs, 1u);
  give_back(second, block);
  give_back(first, other);
  validate_locked(*first.owner);
}

TEST_F(SharedOwners, BecomeOrphansWithTheirLastThread) {
  Attached threads[3];
  ThreadHeap &first = threads[0].heap(), &second = threads[2].heap();
  SlabOwner& owner = *first.owner;
  void* const block = take_block(first);
  threads[0].end();
  EXPECT_FALSE(owner.is_orphan);
  give_back(second, take_block(second));
  threads[2].end();
  EXPECT_TRUE(owner.is_orphan);
  EXPECT_EQ(owner.threads, 0u);
  registry.validate();
  give_back(threads[1].heap(), block);
}

TEST_F(SharedOwners, AreVisitedOnceWithEachOfTheirHeaps) {
  Attached threads[5];
  std::vector<SlabOwner*> seen;
  std::vector<ThreadHeap*> heaps;
  registry.for_each([&](ThreadHeap& heap) { heaps.push_back(&heap); },
                    [&](SlabOwner& owner) { seen.push_back(&owner); });
  EXPECT_EQ(seen.size(), 3u) << "with the one for threads without a heap";
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::unique(seen.begin(), seen.end()), seen.end());
  for (Attached& thread : threads) EXPECT_EQ(std::count(heaps.begin(), heaps.end(), &thread.heap()), 1);
}

TEST_F(SharedOwners, MakeTheFirstMagazinesOfTheirThreadsSmall) {
  const auto made = [](ThreadHeap& heap) {
    HeapGuard guard(heap);
    for (unsigned index = 1; index < 100; ++index) prepare_magazine(heap, class_of_index(index));
    return heap.magazine_bytes;
  };
  Attached alone, other, first_more;
  const std::size_t usual = made(alone.heap());
  EXPECT_EQ(made(first_more.heap()), usual) << "as if one of the three slept";
  Attached more[61];
  EXPECT_LE(made(more[60].heap()), usual / 2) << "of 64 threads";
}

TEST_F(SharedOwners, BlocksOfAnotherOwnerReturnToItAndNotToOnesOwn) {
  Attached producer, consumer;
  ASSERT_NE(producer.heap().owner, consumer.heap().owner);
  for (int i = 0; i < 100'000; ++i) give_back(consumer.heap(), take_block(producer.heap()));
  const SlabOwner &taken_from = *producer.heap().owner, &other = *consumer.heap().owner;
  EXPECT_EQ(other.of(kClass).totals.slabs, 0u);
  EXPECT_EQ(parked_bytes(other), 0u);
  EXPECT_LE(taken_from.of(kClass).totals.slabs, 32u) << "of 250: blocks were taken again and again";
}

TEST_F(SharedOwners, WithoutAThreadStandInForNoProcessor) {
  Attached threads[6];
  for (unsigned i = 0; i < 6; i += 2) threads[i].end();
  EXPECT_EQ(registry.owner_in_use(0), nullptr);
  EXPECT_EQ(registry.owner_in_use(1), threads[1].heap().home);
  EXPECT_EQ(registry.owner_in_use(3), threads[1].heap().home) << "a processor more than there are owners";
}

/// What a thread leaves, of several classes and in several slabs.
class LeftHeap : public ::testing::Test {
 protected:
  static constexpr unsigned kFirst = 10, kLast = 40;

  void SetUp() override { background.configure(true, 2000); }

  void use_and_end() {
    for (unsigned index = kFirst; index < kLast; ++index) {
      const SizeClass size_class = class_of_index(index);
      give_back(heap, take_block(heap, size_class), size_class);
    }
    thread.end();
  }
  unsigned cached() {
    HeapGuard guard(heap);
    validate_locked(heap);
    validate_locked(*heap.owner);
    unsigned count = 0;
    for (unsigned index = kFirst; index < kLast; ++index) count += count_of(heap, class_of_index(index));
    return count;
  }

  Attached thread;
  ThreadHeap& heap = thread.heap();
};

TEST_F(LeftHeap, GoesToTheNextThreadWithItsMagazines) {
  use_and_end();
  EXPECT_TRUE(registry.has_left());
  const unsigned left = cached();
  EXPECT_GT(left, 0u);
  Attached next;
  EXPECT_EQ(&next.heap(), &heap);
  EXPECT_FALSE(registry.has_left());
  EXPECT_EQ(cached(), left);
}

TEST_F(LeftHeap, IsReturnedByALaterLookWhenNoThreadComes) {
  background.configure(true, 20);
  use_and_end();
  EXPECT_TRUE(test::comes_true([&] { return cached() == 0 && heap.owner->slab_bytes == 0; }));
}

TEST_F(LeftHeap, IsReturnedByATrim) {
  use_and_end();
  trim();
  EXPECT_EQ(cached(), 0u);
  EXPECT_EQ(heap.owner->slab_bytes, 0u);
}

// What ends is given back to the page cache, which may then give back to the system: with no lock held.
TEST_F(LeftHeap, OfManySlabsIsReturnedByATrim) {
  {
    std::vector<void*> blocks(4000);
    for (void*& block : blocks) block = take_block(heap, class_of_index(kFirst));
    for (void* block : blocks) give_back(heap, block, class_of_index(kFirst));
  }
  use_and_end();
  for (int i = 0; i < 100; ++i) trim();
  EXPECT_EQ(cached(), 0u);
  EXPECT_EQ(heap.owner->slab_bytes, 0u);
}

TEST_F(LeftHeap, HasNoMagazinesWhenTheyWereLarge) {
  constexpr SizeClass kClass = class_of_index(60);
  {
    std::vector<void*> blocks(4000);
    for (void*& block : blocks) block = take_block(heap, kClass);
    for (void* block : blocks) give_back(heap, block, kClass);
    ASSERT_GT(heap.magazine_bytes, std::size_t{512} << 10);
  }
  use_and_end();
  EXPECT_EQ(cached(), 0u);
  EXPECT_EQ(heap.magazine_bytes, 0u);
}

TEST_F(LeftHeap, IsReturnedAtOnceWhereNothingIsToBeKept) {
  background.configure(true, 0);
  use_and_end();
  background.configure(true, 2000);
  EXPECT_EQ(cached(), 0u);
  EXPECT_EQ(heap.owner->slab_bytes, 0u);
}

TEST_F(LeftHeap, IsReturnedByStepsOfCallsToo) {
  background.configure(false, 20);
  use_and_end();
  EXPECT_GT(cached(), 0u);
  EXPECT_TRUE(test::comes_true([&] { return background.step(), cached() == 0; }));
}

TEST_F(LeftHeap, IsReturnedAtOnceWhereManyAreLeft) {
  std::vector<std::unique_ptr<Attached>> others;
  for (int i = 0; i < 200; ++i) others.push_back(std::make_unique<Attached>());
  const auto use = [](ThreadHeap& other) {
    for (unsigned index = kFirst; index < kLast; ++index)
      give_back(other, take_block(other, class_of_index(index)), class_of_index(index));
  };
  for (const auto& other : others) use(other->heap());
  unsigned left = 0;
  for (const auto& other : others) {
    ThreadHeap& ended = other->heap();
    other->end();
    left += ended.is_left();
  }
  EXPECT_GT(left, 0u);
  EXPECT_LE(left, 2 * Registry::kMostShared);
}

TEST(Registry, AThreadThatLeavesLittleReturnsItAtOnce) {
  constexpr SizeClass kClass = class_of_index(10);  // 160 bytes
  Attached thread;
  ThreadHeap& heap = thread.heap();
  {
    give_back(heap, take_block(heap, kClass), kClass);
    HeapGuard guard(heap);
    EXPECT_GT(count_of(heap, kClass), 0u);
    validate_locked(heap);
  }
  thread.end();
  HeapGuard guard(heap);
  EXPECT_EQ(count_of(heap, kClass), 0u);
  EXPECT_EQ(heap.magazine_bytes, 0u);
  EXPECT_EQ(heap.owner->taken_bytes, 0u);
  validate_locked(heap);
  validate_locked(*heap.owner);
}

TEST(Registry, AVisitOfOwnersSeesTheSharedOneLast) {
  Attached first;
  std::vector<SlabOwner*> seen;
  registry.for_each([](const ThreadHeap&) {}, [&](SlabOwner& owner) { seen.push_back(&owner); });
  EXPECT_EQ(std::count(seen.begin(), seen.end(), first.heap().owner), 1);
  EXPECT_EQ(seen.back(), &owners.shared());
}

TEST(Registry, AVisitSeesEveryHeapOnce) {
  Attached first, second;
  std::vector<ThreadHeap*> seen;
  registry.for_each_heap([&](ThreadHeap& heap) { seen.push_back(&heap); });
  for (ThreadHeap* heap : {&first.heap(), &second.heap()})
    EXPECT_EQ(std::count(seen.begin(), seen.end(), heap), 1);
}

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
