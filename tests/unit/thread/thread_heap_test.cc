#include "thread/thread_heap.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

#include "central/class_slabs.h"
#include "thread/magazine.h"
#include "thread/registry.h"

namespace tarn::internal {
namespace {

constexpr SizeClass kClass = class_of_index(10);  // 160 bytes

class ThreadHeapTest : public ::testing::Test {
 protected:
  ThreadHeapTest() : heap(*registry.attach()) {}
  ~ThreadHeapTest() override { registry.detach(heap); }

  void* allocate(SizeClass size_class = kClass) {
    ReturnedPages returned;
    os::LockGuard guard(heap.mutex());
    void* const block = allocate_locked(heap, size_class, returned);
    validate_locked(heap);
    return block;
  }
  void deallocate(void* block, SizeClass size_class = kClass) {
    ReturnedPages returned;
    os::LockGuard guard(heap.mutex());
    deallocate_locked(heap, block, size_class, returned);
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
  const unsigned first = heap.magazines[kClass].capacity;
  allocate_many(200);
  EXPECT_GT(heap.magazines[kClass].capacity, first);
}

TEST_F(ThreadHeapTest, AFullMagazineIsFlushedAndNothingIsLost) {
  const std::vector<void*> blocks = allocate_many(3000);
  for (void* block : blocks) deallocate(block);
  EXPECT_GT(heap.counters.flushes, 0u);
  EXPECT_EQ(heap.owner->taken_bytes, cached() * std::size_t{class_geometry[kClass].stride});
  const std::vector<void*> again = allocate_many(3000);
  EXPECT_EQ(std::set<void*>(again.begin(), again.end()).size(), 3000u);
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

TEST_F(ThreadHeapTest, AClassOfLargeBlocksHasNoMagazineAtFirst) {
  const SizeClass size_class = detail::class_of_bin[detail::bin_of(200000)];
  void* const block = allocate(size_class);
  ASSERT_NE(block, nullptr);
  deallocate(block, size_class);
  EXPECT_LE(heap.magazines[size_class].capacity, 1u);
}

}  // namespace
}  // namespace tarn::internal
