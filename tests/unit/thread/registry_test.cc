#include "thread/registry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

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

TEST(Registry, AThreadThatEndsLeavesNothingInItsMagazines) {
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
