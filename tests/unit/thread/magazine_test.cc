#include "thread/magazine.h"

#include "central/cached/depot.h"
#include "central/slabs/class_slabs.h"
#include "central/slabs/return_blocks.h"
#include "central/take_blocks.h"
#include "central/trim.h"
#include "page/give_back/page_cache.h"
#include "support/child.h"
#include "support/prelude.h"
#include "tarn/memory_pool.h"
#include "thread/registry.h"
#include "thread/thread_heap.h"
#include "unit/thread/heap_calls.h"

namespace tarn::internal {
namespace {

constexpr SizeClass kClass = class_of_index(10);  // 160 bytes

class MagazineTest : public ::testing::Test {
 protected:
  MagazineTest() : heap(*registry.attach()) { guard.emplace(heap); }
  ~MagazineTest() override {
    validate_locked(heap);
    guard.reset();
    registry.detach(heap);
  }

  void take(void** blocks, std::size_t count) {
    for (std::size_t taken = 0; taken < count;) {
      const auto wanted = static_cast<unsigned>(count - taken);
      const unsigned part = take_blocks_locked(*heap.owner, kClass, blocks + taken, wanted, returned);
      ASSERT_NE(part, 0u);
      taken += part;
    }
  }
  void fill(unsigned count) {
    heap.magazines.made(kClass).serves = true;  // as by a refill; else the look for idle classes shrinks it
    take(heap.magazines.made(kClass).blocks + 1, count);
    set_record(heap, kClass, count);
  }

  void* on_top() { return *detail::slot_at(heap.cache, heap.record(kClass).top); }

  void prepare_all_magazines(int times) {
    for (const SizeClass size_class : all_classes()) {
      if (is_private_class(size_class)) break;
      heap.magazines.made(size_class).misses = 200;
      for (int i = 0; i < times; ++i) prepare_magazine(heap, size_class);
    }
  }

  ThreadHeap& heap;
  ReturnedPages returned;
  std::optional<HeapGuard> guard;
};

TEST_F(MagazineTest, TheFirstFillsTwoCacheLines) {
  ASSERT_TRUE(prepare_magazine(heap, kClass));
  EXPECT_EQ(heap.magazines.made(kClass).capacity, 15u);
  EXPECT_EQ(count_of(heap, kClass), 0u);
  EXPECT_EQ(heap.magazine_bytes, 15 * std::size_t{class_geometry[kClass].block_bytes});
}

TEST_F(MagazineTest, OneThatGrowsKeepsItsBlocks) {
  prepare_magazine(heap, kClass);
  fill(7);
  void* const top = on_top();
  ASSERT_TRUE(prepare_magazine(heap, kClass));
  EXPECT_EQ(heap.magazines.made(kClass).capacity, 31u);
  EXPECT_EQ(count_of(heap, kClass), 7u);
  EXPECT_EQ(on_top(), top);
}

TEST_F(MagazineTest, OneThatNobodyMissedShrinksWhenItIsEmpty) {
  prepare_magazine(heap, kClass);
  fill(10);
  EXPECT_EQ(shrink_idle_magazine(heap, kClass, 4, returned), 4u);
  EXPECT_EQ(heap.magazines.made(kClass).capacity, 15u);
  EXPECT_EQ(shrink_idle_magazine(heap, kClass, 64, returned), 6u);
  EXPECT_EQ(heap.magazines.made(kClass).capacity, 7u);
}

TEST_F(MagazineTest, OneThatWasNotRefilledKeepsAFewBlocks) {
  for (int i = 0; i < 3; ++i) prepare_magazine(heap, kClass);
  fill(50);
  EXPECT_EQ(shrink_unrefilled_magazine(heap, kClass, 30, returned), 30u);
  EXPECT_EQ(heap.magazines.made(kClass).capacity, 31u);
  EXPECT_EQ(shrink_unrefilled_magazine(heap, kClass, 30, returned), 5u);
  EXPECT_EQ(heap.magazines.made(kClass).capacity, 17u);
  EXPECT_EQ(shrink_unrefilled_magazine(heap, kClass, 30, returned), 0u);
}

TEST_F(MagazineTest, OneThatIsDroppedLeavesTheEmptyRecord) {
  prepare_magazine(heap, kClass);
  fill(10);
  drop_magazine_locked(heap, kClass, returned);
  EXPECT_EQ(heap.record(kClass).top, kEmptyRecord.top);
  EXPECT_EQ(heap.magazine_bytes, 0u);
  EXPECT_EQ(heap.owner->taken_bytes, 0u);
}

TEST_F(MagazineTest, AThreadKeepsAtMostItsLimit) {
  prepare_all_magazines(1);
  const std::size_t first_ones = heap.magazine_bytes;
  EXPECT_LE(first_ones, std::size_t{5} << 20);
  prepare_all_magazines(12);
  EXPECT_LE(heap.magazine_bytes, thread_limits.magazine_bytes);
}

TEST_F(MagazineTest, BecomesSmallAfterAPeakAndGrowsAgain) {
  constexpr unsigned kMostAfterAPeak = 63, kTaken = 60'000;   // 9.6 MB
  page_cache.configure({0, SIZE_MAX, std::size_t{1} << 30});  // free memory is too much
  std::vector<void*> peak(kTaken);
  take(peak.data(), kTaken);
  for (int i = 0; i < 12; ++i) prepare_magazine(heap, kClass);
  const unsigned largest = heap.magazines.made(kClass).capacity;
  ASSERT_GT(largest, 2000u);
  fill(largest);
  // A few blocks stay in each slab, so that the slabs do.
  constexpr unsigned kLeft = kTaken / 100;
  for (unsigned i = 0; i < kLeft; ++i) std::swap(peak[i], peak[i * 100]);
  return_blocks(heap.owner, peak.data() + kLeft, kTaken - kLeft, returned);
  for (int flushes = 0; heap.magazines.made(kClass).capacity > kMostAfterAPeak && flushes < 1000; ++flushes) {
    return_newest_blocks(heap, kClass, 64, returned);
    prepare_magazine(heap, kClass);
    validate_locked(heap);
  }
  EXPECT_LE(heap.magazines.made(kClass).capacity, kMostAfterAPeak);
  take(peak.data() + kLeft, kTaken - kLeft);
  for (int i = 0; i < 12; ++i) prepare_magazine(heap, kClass);
  EXPECT_EQ(heap.magazines.made(kClass).capacity, largest);
  validate_locked(heap);
  return_blocks(heap.owner, peak.data(), kTaken, returned);
}

TEST_F(MagazineTest, OfLargeBlocksABusyClassKeepsMoreThanARareOne) {
  const SizeClass size_class = detail::class_of_bin[detail::bin_of(50000)];
  for (int i = 0; i < 12; ++i) prepare_magazine(heap, size_class);
  const unsigned of_rare = heap.magazines.made(size_class).capacity;
  heap.magazines.made(size_class).misses = 200;
  for (int i = 0; i < 12; ++i) prepare_magazine(heap, size_class);
  EXPECT_GT(heap.magazines.made(size_class).capacity, of_rare);
}

TEST_F(MagazineTest, ManyThreadsKeepLittleEach) {
  const std::uint32_t threads = heaps_in_use.exchange(256);
  prepare_all_magazines(12);
  heaps_in_use = threads;
  // What a magazine begins with, it has whatever the number of threads.
  EXPECT_LE(heap.magazine_bytes, std::size_t{3} << 20);
  drop_magazines_locked(heap, returned);
  prepare_all_magazines(12);
  EXPECT_GT(heap.magazine_bytes, std::size_t{4} << 20);
}

class ThreadHeapTest : public ::testing::Test {
 protected:
  ThreadHeapTest() : heap(*registry.attach()) {}
  ~ThreadHeapTest() override { registry.detach(heap); }

  void* allocate(SizeClass size_class = kClass) {
    void* const block = take_block(heap, size_class);
    validate();
    return block;
  }
  void deallocate(void* block, SizeClass size_class = kClass) {
    give_back(heap, block, size_class);
    validate();
  }
  void validate() {
    os::LockGuard guard(heap.mutex);
    validate_locked(heap);
  }
  std::vector<void*> allocate_many(int count) {
    std::vector<void*> blocks;
    for (int i = 0; i < count; ++i) blocks.push_back(allocate());
    return blocks;
  }
  unsigned cached() { return count_of(heap, kClass); }

  ThreadHeap& heap;
};

TEST_F(ThreadHeapTest, ARefillLeavesBlocksInTheMagazine) {
  void* const block = allocate();
  EXPECT_GT(cached(), 0u);
  EXPECT_EQ(heap.counters.refills, 1u);
  deallocate(block);
  EXPECT_EQ(heap.counters.flushes, 0u);
}

TEST_F(ThreadHeapTest, AMagazineGrowsWhenItIsMissedAgain) {
  allocate();
  const unsigned first = heap.magazines.made(kClass).capacity;
  allocate_many(200);
  EXPECT_GT(heap.magazines.made(kClass).capacity, first);
}

TEST_F(ThreadHeapTest, AFullMagazineIsFlushedAndNothingIsLost) {
  const std::vector<void*> blocks = allocate_many(20'000);
  for (void* block : blocks) deallocate(block);
  EXPECT_GT(heap.counters.flushes, 0u);
  EXPECT_EQ(heap.owner->taken_bytes,
            (cached() + parked_count(*heap.owner, kClass)) * std::size_t{class_geometry[kClass].stride});
  const std::vector<void*> again = allocate_many(20'000);
  EXPECT_EQ(std::set<void*>(again.begin(), again.end()).size(), 20'000u);
}

TEST_F(ThreadHeapTest, AHeapThatWouldGrowFirstGivesUpWhatItKeepsIdly) {
  const std::vector<void*> blocks = allocate_many(100);
  for (void* block : blocks) deallocate(block);
  const unsigned kept = cached();
  ASSERT_GT(kept, 0u);
  // Each new slab of another class looks at some classes in turn; the first look sees that this one was in
  // use.
  for (unsigned index = 20; index < 60; ++index) allocate(class_of_index(index));
  EXPECT_LT(cached(), kept);
}

TEST_F(ThreadHeapTest, AHeapThatGrowsAlsoTakesFromAClassThatIsOnlyFreedTo) {
  std::vector<void*> blocks = allocate_many(40'000);
  const SizeClass other = detail::class_of_bin[detail::bin_of(30'000)];
  const auto grow = [&](int count) {
    for (; count > 0; --count) allocate(other);
  };
  grow(40);  // the looks see that the class was refilled
  for (int i = 0; i < 20'000; ++i, blocks.pop_back()) deallocate(blocks.back());
  const unsigned kept = cached();
  ASSERT_GT(kept, 500u);
  grow(200);
  EXPECT_LT(cached(), kept / 2);
}

TEST_F(ThreadHeapTest, AClassThatIsOnlyFreedToKeepsFewBlocksWithTime) {
  std::vector<void*> blocks = allocate_many(20'000);
  const auto free_some = [&] {
    for (int i = 0; i < 5000; ++i, blocks.pop_back()) deallocate(blocks.back());
  };
  // Their magazines have no room at first.
  const auto miss_other_classes = [&](std::initializer_list<std::size_t> sizes) {
    for (const std::size_t size : sizes) {
      const SizeClass large = detail::class_of_bin[detail::bin_of(size)];
      for (int round = 0; round < 10; ++round) {
        void* const three[] = {allocate(large), allocate(large), allocate(large)};
        for (void* block : three) deallocate(block, large);
      }
    }
  };
  free_some();
  const unsigned kept = cached();
  ASSERT_GT(kept, 500u);
  looks_at_owners += 1;  // before this one it was refilled
  miss_other_classes({200'000});
  EXPECT_EQ(cached(), kept);
  free_some();
  EXPECT_GT(cached(), kept / 2);
  looks_at_owners += 1;
  miss_other_classes({150'000, 100'000, 60'000});
  EXPECT_LT(cached() * std::size_t{class_geometry[kClass].block_bytes}, kPageBytes);
}

TEST_F(ThreadHeapTest, ALookWithTimeComesToEachClassOnceAndEndsThoughNothingElseIsCalled) {
  std::vector<void*> blocks = allocate_many(40'000);
  const auto free_some = [&](int count) {
    for (; count > 0; --count, blocks.pop_back()) deallocate(blocks.back());
  };
  free_some(10'000);
  looks_at_owners += 1;  // it has seen a refill
  free_some(5'000);
  EXPECT_EQ(heap.classes_to_look_at, 0u);
  const std::uint64_t flushes = heap.counters.flushes;
  looks_at_owners += 1;
  free_some(15'000);
  EXPECT_EQ(heap.classes_to_look_at, 0u);
  EXPECT_GT(cached(), 64u);  // and then it flushes as ever
  EXPECT_LT(heap.counters.flushes - flushes, 15'000u / 32);
}

TEST_F(ThreadHeapTest, ASecondFreeInARowIsSeenThoughALookWouldReturnTheBlockBefore) {
  const test::ChildResult result = test::run_in_child([&] {
    std::vector<void*> blocks = allocate_many(40'000);
    const auto free_one = [&] { deallocate(blocks.back()), blocks.pop_back(); };
    for (int i = 0; i < 10'000; ++i) free_one();
    looks_at_owners += 1;  // it has seen a refill
    for (int i = 0; i < 5'000; ++i) free_one();
    while (cached() != heap.magazines.at(kClass).capacity) free_one();
    void* const newest = heap.magazines.at(kClass).blocks[cached()];
    heap.classes_to_look_at = index_of_class(kClass);  // a look returns what was only freed to
    give_back(heap, newest, kClass);
    return 0;
  });
  EXPECT_EQ(result.signal, SIGABRT) << result.describe();
}

TEST_F(ThreadHeapTest, AfterAPeakClassesWithoutAMissOfTheirOwnGiveUpBlocksToo) {
  std::vector<std::pair<void*, SizeClass>> blocks;
  for (int i = 0; i < 3'000; ++i)
    for (const std::size_t size : {512, 640, 768, 1024, 1280, 1536, 2048}) {
      const SizeClass size_class = detail::class_of_bin[detail::bin_of(size)];
      blocks.emplace_back(take_block(heap, size_class), size_class);
    }
  for (const auto& [block, size_class] : blocks) give_back(heap, block, size_class);
  validate();
  EXPECT_LT(heap.owner->taken_bytes, 16 * kPageBytes);
}

// Few live blocks of random sizes, as of a server's packets: each class is empty most of the time.
TEST_F(ThreadHeapTest, FewLiveBlocksOfManySizesMakeNoSlabsOnceAllClassesHaveOne) {
  struct Live {
    void* block;
    SizeClass size_class;
  };
  std::vector<Live> live(64, Live{nullptr, SizeClass::kNone});
  std::mt19937 random(1);
  const auto replace = [&](int times) {
    for (; times > 0; --times) {
      Live& one = live[random() % live.size()];
      if (one.block != nullptr) deallocate(one.block, one.size_class);
      one.size_class = detail::class_of_bin[detail::bin_of(16 + random() % 4000)];
      one.block = allocate(one.size_class);
    }
  };
  replace(20000);
  const std::uint64_t made = heap.owner->counters.slabs_made;
  replace(20000);
  EXPECT_LE(heap.owner->counters.slabs_made - made, 20u);
}

class RareClassTest : public ThreadHeapTest {
 protected:
  static constexpr Bin kBin{10};                             // 160 bytes
  static constexpr SizeClass kCoarser = class_of_index(16);  // 256 bytes

  /// As malloc does. \returns the number of the first call that the bin's own class served.
  int first_call_of_own_class(ThreadHeap& caller, int most) {
    for (int call = 1; call <= most; ++call)
      if (class_that_serves(&caller, kBin) == kClass) return call;
    return most + 1;
  }
};

TEST_F(RareClassTest, ACoarserClassServesABinUntilItQualifiesForSlabs) {
  EXPECT_EQ(class_that_serves(&heap, kBin), kCoarser);
  const int first = first_call_of_own_class(heap, 100);
  EXPECT_GT(first, 4);
  EXPECT_LE(first, 64);
  EXPECT_EQ(class_that_serves(&heap, kBin), kClass) << "and so it stays";
}

TEST_F(RareClassTest, AClassThatHasSlabsIsNotRareForAnyThreadOfTheOwner) {
  allocate();
  EXPECT_EQ(class_that_serves(&heap, kBin), kClass);
  ThreadHeap sharing{};
  sharing.home = sharing.owner = heap.home;
  EXPECT_EQ(class_that_serves(&sharing, kBin), kClass);
}

TEST_F(RareClassTest, AClassWithoutSlabsMustQualifyAgain) {
  deallocate(allocate());
  ASSERT_EQ(class_that_serves(&heap, kBin), kClass);
  {
    ReturnedPages returned;
    HeapGuard guard(heap);
    drop_magazine_locked(heap, kClass, returned);
    trim_class_locked(*heap.owner, kClass, TrimDepth::kAll, returned);
  }
  EXPECT_EQ(class_that_serves(&heap, kBin), kCoarser);
}

TEST_F(RareClassTest, TheCallsOfAllThreadsOfAnOwnerCount) {
  ThreadHeap sharing{};
  sharing.home = sharing.owner = heap.home;
  ASSERT_EQ(first_call_of_own_class(heap, 4), 5);
  EXPECT_LE(first_call_of_own_class(sharing, 100), 60);
  EXPECT_FALSE(is_rare(&heap, kBin));
}

TEST_F(RareClassTest, CallsWithoutAHeapQualifyForSlabsOfTheSharedOwner) {
  int calls = 1;
  while (class_that_serves(nullptr, kBin) == kCoarser && calls < 100) ++calls;
  EXPECT_LE(calls, 64);
  EXPECT_TRUE(is_rare(&heap, kBin)) << "another owner's count";
}

TEST_F(RareClassTest, AfterAPrewarmNoClassIsRare) {
  prewarm(1);
  EXPECT_EQ(class_that_serves(&heap, kBin), kClass);
}

TEST_F(ThreadHeapTest, AClassOfLargeBlocksHasNoMagazineAtFirst) {
  const SizeClass size_class = detail::class_of_bin[detail::bin_of(200000)];
  void* const block = allocate(size_class);
  ASSERT_NE(block, nullptr);
  deallocate(block, size_class);
  EXPECT_LE(heap.magazines.made(size_class).capacity, 1u);
}

}  // namespace
}  // namespace tarn::internal
