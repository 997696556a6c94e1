#include "thread/registry.h"

#include <gtest/gtest.h>

#include <vector>

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

constexpr SizeClass kClass = 10;  // 160 bytes

std::vector<void*> take(ThreadHeap& heap, unsigned count) {
  std::vector<void*> blocks(count);
  EndedSlabs ended;
  os::LockGuard guard(heap.mutex);
  EXPECT_EQ(take_blocks_locked(heap, kClass, blocks.data(), count, ended), count);
  return blocks;
}

void give_back(ThreadHeap& heap, const std::vector<void*>& blocks) {
  EndedSlabs ended;
  os::LockGuard guard(heap.mutex);
  return_blocks(&heap, blocks.data(), static_cast<unsigned>(blocks.size()), ended);
}

Span* slab_of(void* block) {
  std::uint32_t index = 0;
  return slab_of_block(block, &index);
}

TEST(Registry, TheHeapOfAThreadThatEndedGoesToTheNext) {
  Attached first;
  ThreadHeap* const heap = &first.heap();
  EXPECT_TRUE(heap->has_thread.load());
  first.end();
  EXPECT_FALSE(heap->has_thread.load());
  Attached second;
  EXPECT_EQ(&second.heap(), heap);
}

TEST(Registry, ThreadsThatLiveAtOnceHaveHeapsOfTheirOwn) {
  Attached first, second;
  EXPECT_NE(&first.heap(), &second.heap());
  EXPECT_NE(&first.heap(), &registry.shared_heap());
  EXPECT_EQ(registry.live_threads(), 2u);
  first.end();
  EXPECT_EQ(registry.live_threads(), 1u);
  EXPECT_EQ(registry.peak_threads(), 2u);
}

TEST(Registry, ASlabOfAnEndedThreadIsAdoptedWhole) {
  Attached owner, heir;
  const std::vector<void*> blocks = take(owner.heap(), 20);
  Span* const slab = slab_of(blocks[0]);
  EXPECT_EQ(slab->owner.load(), &owner.heap());
  owner.end();
  Span* adopted = nullptr;
  {
    os::LockGuard guard(heir.heap().mutex);
    adopted = registry.adopt_slab(heir.heap(), kClass);
  }
  EXPECT_EQ(adopted, slab);
  EXPECT_EQ(slab->owner.load(), &heir.heap());
}

TEST(Registry, ASlabOfALivingThreadIsNotAdopted) {
  Attached owner, other;
  take(owner.heap(), 20);
  os::LockGuard guard(other.heap().mutex);
  EXPECT_EQ(registry.adopt_slab(other.heap(), kClass), nullptr);
}

TEST(Registry, BlocksFreedByAnotherHeapComeBackToTheirOwner) {
  Attached owner, other;
  const std::vector<void*> blocks = take(owner.heap(), 20);
  Span* const slab = slab_of(blocks[0]);
  const std::uint32_t free_before = slab->free_count;
  give_back(other.heap(), blocks);
  EXPECT_EQ(slab->free_count, free_before) << "until the owner collects";
  EndedSlabs ended;
  os::LockGuard guard(owner.heap().mutex);
  EXPECT_TRUE(collect_pending_locked(owner.heap(), kClass, ended));
  EXPECT_EQ(slab->free_count, free_before + 20);
}

TEST(Registry, BlocksFreedAfterTheirOwnerEndedAreCollectedAtOnce) {
  Attached owner, other;
  const std::vector<void*> blocks = take(owner.heap(), 20), kept = take(owner.heap(), 1);
  Span* const slab = slab_of(blocks[0]);
  owner.end();
  const std::uint32_t free_before = slab->free_count;
  give_back(other.heap(), blocks);
  EXPECT_EQ(slab->free_count, free_before + 20);
}

TEST(Registry, AVisitSeesEveryHeapOnce) {
  Attached first, second;
  std::vector<ThreadHeap*> seen;
  registry.for_each_heap([&](ThreadHeap& heap) { seen.push_back(&heap); });
  for (ThreadHeap* heap : {&first.heap(), &second.heap(), &registry.shared_heap()})
    EXPECT_EQ(std::count(seen.begin(), seen.end(), heap), 1);
}

}  // namespace
}  // namespace tarn::internal
