#include "pool/heaps/heap_classes.h"

#include "support/heap_with_classes.h"
#include "support/prelude.h"
#include "support/sizes.h"
#include "support/threads.h"
#include "tarn/memory_pool.h"

namespace tarn::internal {
namespace {

using test::HeapWithClasses;
using test::kKiB;
using test::kMiB;

std::vector<void*> take(Heap& heap, std::size_t count, std::size_t size) {
  std::vector<void*> blocks;
  for (std::size_t i = 0; i < count; ++i) blocks.push_back(heap.allocate(size));
  return blocks;
}
void free_all(Heap& heap, std::vector<void*>& blocks) {
  for (void* block : blocks) heap.deallocate(block);
  blocks.clear();
}
/// More calls than a heap that may have classes needs to get them.
void use_a_little(Heap& heap) {
  for (int i = 0; i < 2000; ++i) heap.deallocate(heap.allocate(100));
}
detail::HeapState& state_of(Heap& heap) { return *detail::HeapAccess::state(heap); }

class ClassesOfHeaps : public ::testing::Test {
 protected:
  void SetUp() override {
    if (HeapWithClasses().owner() == nullptr) GTEST_SKIP() << "free blocks are poisoned";
  }
};

TEST_F(ClassesOfHeaps, CountExactlyWhateverIsCached) {
  for (const std::size_t limit : {SIZE_MAX, 100 * kMiB}) {
    HeapWithClasses heap({.hard_limit = limit});
    for (const std::size_t size : {1u, 8u, 16u, 100u, 1000u, 4000u, 5000u, 100000u, 300000u}) {
      std::vector<void*> blocks = take(heap, 200, size);
      EXPECT_EQ(std::set<void*>(blocks.begin(), blocks.end()).size(), 200u);
      EXPECT_EQ(heap.use().live_count, 200u);
      EXPECT_EQ(heap.use().live_bytes, 200 * heap.usable_size(blocks[0]));
      validate(heap.state());
      free_all(heap, blocks);
      EXPECT_EQ(heap.use().live_count, 0u);
      EXPECT_EQ(heap.use().live_bytes, 0u);
      validate(heap.state());
    }
  }
}

TEST_F(ClassesOfHeaps, GiveBackWhatTheHeapDoesNotUse) {
  HeapWithClasses heap;
  std::vector<void*> blocks = take(heap, 3000, 256);
  free_all(heap, blocks);
  EXPECT_GT(heap.cached_bytes(), 0u);
  EXPECT_GT(heap.release_unused(), 0u);
  EXPECT_EQ(heap.cached_bytes(), 0u);
  EXPECT_EQ(heap.use().mapped_bytes, 0u);
  validate(heap.state());
  EXPECT_NE(heap.allocate(256), nullptr);
}

TEST_F(ClassesOfHeaps, ServeTinyBlocksAndLeaveAlignedOnesToTheHeap) {
  HeapWithClasses heap;
  std::vector<void*> blocks;
  for (int i = 0; i < 500; ++i) {
    blocks.push_back(heap.allocate(static_cast<std::size_t>(i % 9)));
    const std::size_t alignment = std::size_t{1} << i % 13;
    blocks.push_back(heap.allocate(1000, alignment));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(blocks.back()) % alignment, 0u);
    blocks.push_back(heap.allocate(5, 16));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(blocks.back()) % 16, 0u);
  }
  EXPECT_EQ(std::set<void*>(blocks.begin(), blocks.end()).size(), blocks.size());
  EXPECT_EQ(heap.use().live_count, blocks.size());
  validate(heap.state());
  std::thread([&] { free_all(heap, blocks); }).join();
  EXPECT_EQ(heap.use().live_bytes, 0u);
  validate(heap.state());
}

TEST_F(ClassesOfHeaps, BlocksFreedByAnyCallComeBackToTheHeap) {
  for (const std::size_t limit : {SIZE_MAX, 100 * kMiB}) {
    HeapWithClasses heap({.hard_limit = limit});
    std::vector<void*> blocks = take(heap, 3000, 200);
    for (void* block : blocks) tarn::deallocate(block);
    EXPECT_EQ(heap.use().live_count, 0u);
    void* block = heap.allocate(100);
    block = tarn::reallocate(block, 5000);
    EXPECT_TRUE(heap.owns(block));
    EXPECT_EQ(heap.use().live_bytes, heap.usable_size(block));
    tarn::deallocate(block);
    validate(heap.state());
  }
}

TEST_F(ClassesOfHeaps, WhatOneThreadFreesServesAnother) {
  HeapWithClasses heap;
  for (int round = 0; round < 20; ++round) {
    std::vector<void*> blocks = take(heap, 500, 128);
    std::thread([&] { free_all(heap, blocks); }).join();
    validate(heap.state());
  }
  EXPECT_LE(heap.use().mapped_bytes, 8 * kPageBytes);
}

TEST_F(ClassesOfHeaps, TheHardLimitRefusesOnlyWhenLiveBytesFillIt) {
  for (const std::size_t limit : {10'000u, 1'000'000u}) {
    HeapWithClasses heap({.hard_limit = limit});
    const std::size_t fitting = limit / 112;
    for (int round = 0; round < 5; ++round) {
      std::vector<void*> blocks = take(heap, fitting, 100);
      for (void* block : blocks) ASSERT_NE(block, nullptr);
      EXPECT_EQ(heap.allocate(100), nullptr);
      EXPECT_EQ(heap.use().live_bytes, fitting * 112);
      std::thread([&] { free_all(heap, blocks); }).join();  // leaves that thread cached blocks
      validate(heap.state());
    }
    EXPECT_LE(heap.use().peak_live_bytes, limit);
  }
}

// Blocks that other threads have cached, of any size, are free memory for every size.
TEST_F(ClassesOfHeaps, WhatOtherThreadsHaveCachedIsCollectedBeforeARefusal) {
  constexpr std::size_t kLimit = 256 * kKiB;
  HeapWithClasses heap({.hard_limit = kLimit});
  std::atomic<int> ready{0};
  std::atomic<bool> is_over{false};
  test::Threads threads(8, [&](std::size_t i) {
    for (int round = 0; round < 20; ++round) {
      std::vector<void*> blocks = take(heap, 20, 64 << i % 4);
      free_all(heap, blocks);
    }
    ++ready;
    while (!is_over) std::this_thread::yield();
  });
  while (ready != 8) std::this_thread::yield();
  std::vector<void*> blocks;
  while (void* const block = heap.allocate(4000)) blocks.push_back(block);
  EXPECT_EQ(blocks.size(), kLimit / heap.usable_size(blocks[0]));
  is_over = true;
  threads.join();
  free_all(heap, blocks);
  validate(heap.state());
}

TEST_F(ClassesOfHeaps, AHeapThatIsHalfEmptyIsNotScarce) {
  HeapWithClasses heap({.hard_limit = kMiB});
  std::vector<void*> blocks;
  while (void* const block = heap.allocate(32'000)) blocks.push_back(block);
  EXPECT_TRUE(heap.state().is_scarce);
  free_all(heap, blocks);
  EXPECT_FALSE(heap.state().is_scarce);
  blocks = take(heap, 100, 100);
  free_all(heap, blocks);
  EXPECT_GT(heap.cached_bytes(), 0u);
}

TEST_F(ClassesOfHeaps, TheSoftLimitIsCrossedWhenLiveBytesCrossIt) {
  struct Crossing {
    std::size_t calls = 0, least = SIZE_MAX;
    static void note(Heap& heap, void* context) {
      auto& self = *static_cast<Crossing*>(context);
      ++self.calls;
      self.least = std::min(self.least, heap.use().live_bytes);
    }
  } crossing;
  constexpr std::size_t kSoft = 1'000'000;
  HeapWithClasses heap({.soft_limit = kSoft, .on_soft_limit = Crossing::note, .context = &crossing});
  std::vector<void*> blocks;
  for (std::size_t round = 1; round <= 5; ++round) {
    std::vector<void*> below = take(heap, (kSoft - 150'000) / 112, 100);
    std::thread([&] {
      std::vector<void*> of_other = take(heap, 100, 100);
      free_all(heap, of_other);
    }).join();
    EXPECT_EQ(crossing.calls, round - 1);
    while (crossing.calls < round && heap.use().live_bytes < 2 * kSoft) blocks.push_back(heap.allocate(100));
    EXPECT_EQ(crossing.calls, round);
    EXPECT_GT(crossing.least, kSoft);
    EXPECT_LE(heap.use().live_bytes, kSoft + 112);
    free_all(heap, below);
    free_all(heap, blocks);
    validate(heap.state());
  }
}

// Its hits were plain before: each thread has shown that its last one is over once it has called again.
TEST_F(ClassesOfHeaps, ALimitThatComesLateHolds) {
  HeapWithClasses heap;
  std::atomic<int> step{0};
  std::thread other([&] {
    std::vector<void*> blocks = take(heap, 2000, 100);
    free_all(heap, blocks);
    step = 1;
    while (step != 2) std::this_thread::yield();
    heap.deallocate(heap.allocate(100));
    step = 3;
    while (step != 4) std::this_thread::yield();
  });
  while (step != 1) std::this_thread::yield();
  std::vector<void*> before = take(heap, 100, 100);
  constexpr std::size_t kLimit = 400'000;
  heap.set_limits(SIZE_MAX, kLimit);
  step = 2;
  while (step != 3) std::this_thread::yield();
  std::vector<void*> blocks;
  while (void* const block = heap.allocate(100)) blocks.push_back(block);
  EXPECT_EQ(blocks.size() + before.size(), kLimit / 112);
  EXPECT_LE(heap.use().peak_live_bytes, kLimit);
  step = 4;
  other.join();
  free_all(heap, blocks);
  free_all(heap, before);
  EXPECT_EQ(heap.use().live_bytes, 0u);
  validate(heap.state());
}

TEST_F(ClassesOfHeaps, EndWithTheirHeapAndItsClear) {
  for (const std::size_t limit : {SIZE_MAX, 100 * kMiB}) {
    HeapWithClasses heap({.hard_limit = limit});
    for (int round = 0; round < 3; ++round) {
      std::vector<void*> blocks = take(heap, 1000, 300);
      for (std::size_t i = 0; i < 500; ++i) heap.deallocate(blocks[i]);
      heap.clear();
      EXPECT_EQ(heap.use().live_bytes, 0u);
      EXPECT_EQ(heap.use().live_count, 0u);
      EXPECT_EQ(heap.use().mapped_bytes, 0u);
      validate(heap.state());
    }
  }
}

TEST_F(ClassesOfHeaps, ManyHeapsOneAfterTheOtherUseTheSameOwners) {
  SlabOwner* const first = HeapWithClasses().owner();
  for (int i = 0; i < 1000; ++i) {
    HeapWithClasses heap;
    std::vector<void*> blocks = take(heap, 10, 100);
    heap.deallocate(blocks[3]);
    ASSERT_EQ(heap.owner(), first);
  }
}

// More than there are records for: those beyond work as a heap that qualifies for none.
TEST_F(ClassesOfHeaps, AHeapThatGetsNoOwnerWorksWithout) {
  std::vector<std::unique_ptr<HeapWithClasses>> heaps;
  do heaps.push_back(std::make_unique<HeapWithClasses>());
  while (heaps.back()->owner() != nullptr && heaps.size() < 5000);
  ASSERT_EQ(heaps.back()->owner(), nullptr);
  use_a_little(*heaps.back());
  std::vector<void*> blocks = take(*heaps.back(), 2000, 100);
  EXPECT_EQ(heaps.back()->use().live_count, 2000u);
  free_all(*heaps.back(), blocks);
  validate(heaps.back()->state());
}

TEST_F(ClassesOfHeaps, ASmallHeapHasNone) {
  Heap heap;
  std::thread other([] {});  // so that the process has had another thread
  for (int i = 0; i < 10'000; ++i) heap.deallocate(heap.allocate(100));
  other.join();
  EXPECT_EQ(state_of(heap).owner.load(), nullptr);
}

// As if calls had been fast for long: how fast they are here, no test can know.
void make_hot(Heap& heap) {
  CallRate& rate = state_of(heap).call_rate;
  for (std::uint64_t now_ms : {0u, 1u}) {
    while (!rate.note_call()) {
    }
    rate.look(now_ms);
  }
  use_a_little(heap);
}

TEST_F(ClassesOfHeaps, ASmallHeapGetsThemWhenItIsCalledFastForLong) {
  Heap heap;
  std::vector<void*> mixed = take(heap, 10, 100);
  make_hot(heap);
  ASSERT_NE(state_of(heap).owner.load(), nullptr);
  validate(state_of(heap));
  free_all(heap, mixed);
  EXPECT_EQ(heap.use().live_bytes, 0u);
  validate(state_of(heap));
}

// A slab of 64 KiB for each size would be twice what these blocks take.
TEST_F(ClassesOfHeaps, AHeapOfManySizesThatIsCalledSlowlyGetsNone) {
  Heap heap;
  std::vector<void*> blocks;
  for (std::size_t size = 16; size <= 4096; size += 16) blocks.push_back(heap.allocate(size));
  EXPECT_EQ(state_of(heap).owner.load(), nullptr);
  EXPECT_LT(heap.use().mapped_bytes, heap.use().live_bytes * 5 / 4);
  free_all(heap, blocks);
  EXPECT_EQ(heap.use().live_count, 0u);
  validate(state_of(heap));
}

TEST_F(ClassesOfHeaps, AHeapInAHeapCachesNothing) {
  HeapWithClasses server({.name = "server"});
  std::vector<void*> blocks = take(server, 1000, 100);
  free_all(server, blocks);
  EXPECT_GT(server.cached_bytes(), 0u);
  {
    Heap room({.parent = &server});
    make_hot(room);
    EXPECT_EQ(state_of(room).owner.load(), nullptr);
    EXPECT_EQ(server.cached_bytes(), 0u);
    blocks = take(server, 1000, 100);
    free_all(server, blocks);
    EXPECT_EQ(server.cached_bytes(), 0u);
    void* const block = room.allocate(100);
    EXPECT_EQ(server.use().live_bytes, room.usable_size(block));
  }
  validate(server.state());
}

TEST_F(ClassesOfHeaps, APrewarmedHeapMakesNoSlabMore) {
  Heap heap;
  EXPECT_EQ(heap.prewarm(4 * kPageBytes), 4 * kPageBytes);
  std::vector<void*> blocks = take(heap, 100, 100);
  for (void* const block : take(heap, 50, 1000)) blocks.push_back(block);
  EXPECT_EQ(state_of(heap).owner.load()->counters.slabs_made, 2u);
  EXPECT_EQ(state_of(heap).owner.load()->spare_bytes, 2 * kPageBytes);
  free_all(heap, blocks);
}

using ClassesOfHeapsDeathTest = ClassesOfHeaps;

TEST_F(ClassesOfHeapsDeathTest, TheNewestBlockFreedTwiceStopsTheProcessAtOnce) {
  for (const std::size_t limit : {SIZE_MAX, 100 * kMiB}) {
    HeapWithClasses heap({.name = "room", .hard_limit = limit});
    std::vector<void*> blocks = take(heap, 10, 100);
    heap.deallocate(blocks[3]);
    EXPECT_DEATH(heap.deallocate(blocks[3]), "double free in 'room'");
  }
}

TEST_F(ClassesOfHeapsDeathTest, AnyBlockFreedTwiceStopsTheProcessAtTheFlush) {
  for (const std::size_t limit : {SIZE_MAX, 100 * kMiB}) {
    HeapWithClasses heap({.name = "room", .hard_limit = limit});
    std::vector<void*> blocks = take(heap, 10, 100);
    EXPECT_DEATH(
        {
          heap.deallocate(blocks[3]);
          heap.deallocate(blocks[4]);
          heap.deallocate(blocks[3]);
          heap.release_unused();
        },
        "double free in 'room'");
  }
}

TEST_F(ClassesOfHeapsDeathTest, APointerIntoABlockStopsTheProcess) {
  for (const std::size_t limit : {SIZE_MAX, 100 * kMiB}) {
    HeapWithClasses heap({.name = "room", .hard_limit = limit});
    auto* const block = static_cast<char*>(heap.allocate(100));
    EXPECT_DEATH(static_cast<void>(heap.usable_size(block + 16)), "into a block in 'room'");
    EXPECT_DEATH(
        {
          heap.deallocate(block + 16);
          heap.release_unused();
        },
        "into a block in 'room'");
  }
}

}  // namespace
}  // namespace tarn::internal
