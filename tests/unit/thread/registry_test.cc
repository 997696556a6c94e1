#include "thread/registry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "page/background.h"
#include "page/helper.h"
#include "support/sanitizer.h"
#include "tarn/memory_pool.h"
#include "thread/magazine.h"
#include "thread/thread_heap.h"

namespace tarn::internal {
namespace {

/// A thread's heap without the thread.
class Attached {
 public:
  Attached() : heap_(registry.attach()) {}
  ~Attached() { end(); }
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;

  void end() {
    if (heap_ != nullptr) registry.detach(*heap_);
    heap_ = nullptr;
  }
  ThreadHeap& heap() { return *heap_; }

 private:
  ThreadHeap* heap_;
};

TEST(Registry, TheHeapOfAThreadThatEndedGoesToTheNext) {
  Attached first;
  ThreadHeap* const heap = &first.heap();
  EXPECT_TRUE(heap->owner->has_thread.load());
  first.end();
  EXPECT_FALSE(heap->owner->has_thread.load());
  Attached second;
  EXPECT_EQ(&second.heap(), heap);
}

TEST(Registry, ThreadsThatLiveAtOnceHaveHeapsOfTheirOwn) {
  Attached first, second;
  EXPECT_NE(&first.heap(), &second.heap());
  EXPECT_NE(first.heap().owner, second.heap().owner);
  EXPECT_EQ(owners.live_threads(), 2u);
  first.end();
  EXPECT_EQ(owners.live_threads(), 1u);
  EXPECT_EQ(owners.peak_threads(), 2u);
}

/// What a thread leaves, of several classes and in several slabs.
class LeftHeap : public ::testing::Test {
 protected:
  static constexpr unsigned kFirst = 10, kLast = 40;

  // On a thread of its own: the main thread leaves nothing.
  void use_and_end() {
    for (unsigned index = kFirst; index < kLast; ++index) {
      const SizeClass size_class = class_of_index(index);
      ReturnedPages returned;
      os::LockGuard guard(heap.mutex());
      deallocate_locked(heap, allocate_locked(heap, size_class, returned), size_class, returned);
    }
    std::thread([this] { thread.end(); }).join();
  }
  unsigned cached() {
    os::LockGuard guard(heap.mutex());
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
  if (test::kSanitizer) GTEST_SKIP() << "a sanitizer's build has no helper";
  use_and_end();
  EXPECT_TRUE(registry.has_left());
  const unsigned left = cached();
  EXPECT_GT(left, 0u);
  Attached next;
  EXPECT_EQ(&next.heap(), &heap);
  EXPECT_FALSE(registry.has_left());
  EXPECT_EQ(cached(), left);
}

TEST_F(LeftHeap, IsReturnedAtTheSecondLookWhenNoThreadComes) {
  if (test::kSanitizer) GTEST_SKIP() << "a sanitizer's build has no helper";
  use_and_end();
  helper.step_aside();
  registry.trim_idle();
  registry.trim_idle();
  EXPECT_EQ(cached(), 0u);
  EXPECT_EQ(heap.owner->slab_bytes, 0u);
  helper.return_now();
}

TEST_F(LeftHeap, IsReturnedByATrim) {
  use_and_end();
  trim();
  EXPECT_EQ(cached(), 0u);
  EXPECT_EQ(heap.owner->slab_bytes, 0u);
}

// What ends is given back to the page cache, which then looks for a helper: with no lock held.
TEST_F(LeftHeap, OfManySlabsIsReturnedByATrimWhileTheHelperIsAside) {
  {
    std::vector<void*> blocks(4000);
    ReturnedPages returned;
    os::LockGuard guard(heap.mutex());
    for (void*& block : blocks) block = allocate_locked(heap, class_of_index(kFirst), returned);
    for (void* block : blocks) deallocate_locked(heap, block, class_of_index(kFirst), returned);
  }
  use_and_end();
  helper.step_aside();
  for (int i = 0; i < 100; ++i) trim();
  EXPECT_EQ(cached(), 0u);
  EXPECT_EQ(heap.owner->slab_bytes, 0u);
  helper.return_now();
}

TEST_F(LeftHeap, HasNoMagazinesWhenTheyWereLarge) {
  constexpr SizeClass kClass = class_of_index(60);
  {
    std::vector<void*> blocks(4000);
    ReturnedPages returned;
    os::LockGuard guard(heap.mutex());
    for (void*& block : blocks) block = allocate_locked(heap, kClass, returned);
    for (void* block : blocks) deallocate_locked(heap, block, kClass, returned);
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

TEST_F(LeftHeap, IsReturnedAtOnceWhereNoHelperMayRun) {
  background.configure(false, 2000);
  use_and_end();
  background.configure(true, 2000);
  EXPECT_EQ(cached(), 0u);
}

TEST(Registry, AThreadThatLeavesLittleReturnsItAtOnce) {
  constexpr SizeClass kClass = class_of_index(10);  // 160 bytes
  Attached thread;
  ThreadHeap& heap = thread.heap();
  {
    ReturnedPages returned;
    os::LockGuard guard(heap.mutex());
    deallocate_locked(heap, allocate_locked(heap, kClass, returned), kClass, returned);
    EXPECT_GT(count_of(heap, kClass), 0u);
    validate_locked(heap);
  }
  thread.end();
  os::LockGuard guard(heap.mutex());
  EXPECT_EQ(count_of(heap, kClass), 0u);
  EXPECT_EQ(heap.magazine_bytes, 0u);
  EXPECT_EQ(heap.owner->taken_bytes, 0u);
  validate_locked(heap);
  validate_locked(*heap.owner);
}

TEST(Registry, AVisitOfOwnersSeesTheSharedOneWithoutAHeap) {
  Attached first;
  std::vector<SlabOwner*> with_heap, without;
  registry.for_each_owner(
      [&](SlabOwner& owner, ThreadHeap* heap) { (heap != nullptr ? with_heap : without).push_back(&owner); });
  EXPECT_EQ(std::count(with_heap.begin(), with_heap.end(), first.heap().owner), 1);
  EXPECT_EQ(without, std::vector<SlabOwner*>{&owners.shared()});
}

TEST(Registry, AVisitSeesEveryHeapOnce) {
  Attached first, second;
  std::vector<ThreadHeap*> seen;
  registry.for_each_heap([&](ThreadHeap& heap) { seen.push_back(&heap); });
  for (ThreadHeap* heap : {&first.heap(), &second.heap()})
    EXPECT_EQ(std::count(seen.begin(), seen.end(), heap), 1);
}

}  // namespace
}  // namespace tarn::internal
