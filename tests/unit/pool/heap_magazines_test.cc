#include "pool/heap_magazines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <thread>
#include <vector>

#include "support/heap_with_magazines.h"
#include "support/sizes.h"
#include "tarn/memory_pool.h"

namespace tarn::internal {
namespace {

using test::HeapWithMagazines;
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
/// More calls than a heap that may have magazines needs to get them.
void use_a_little(Heap& heap) {
  for (int i = 0; i < 2000; ++i) heap.deallocate(heap.allocate(100));
}
/// What is charged beyond live bytes.
std::size_t credits_of(const HeapWithMagazines& heap) { return heap.magazines()->credits(); }

class MagazinesOfHeaps : public ::testing::Test {
 protected:
  void SetUp() override {
    if (HeapWithMagazines().magazines() == nullptr) GTEST_SKIP() << "free blocks are poisoned";
  }
};

TEST_F(MagazinesOfHeaps, CountExactlyWhateverTheyHold) {
  HeapWithMagazines heap;
  for (const std::size_t size : {16u, 100u, 1000u, 4000u, 5000u, 100000u}) {
    std::vector<void*> blocks = take(heap, 200, size);
    EXPECT_EQ(std::set<void*>(blocks.begin(), blocks.end()).size(), 200u);
    EXPECT_EQ(heap.use().live_count, 200u);
    EXPECT_EQ(heap.use().live_bytes, 200 * heap.usable_size(blocks[0]));
    EXPECT_LE(credits_of(heap), HeapMagazines::kMostCredit);
    validate(heap.state());
    free_all(heap, blocks);
    EXPECT_EQ(heap.use().live_count, 0u);
    EXPECT_EQ(heap.use().live_bytes, 0u);
    EXPECT_LE(credits_of(heap), HeapMagazines::kMostCredit);
    validate(heap.state());
  }
}

TEST_F(MagazinesOfHeaps, GiveAllBackWhenTheHeapReleasesWhatItDoesNotUse) {
  HeapWithMagazines heap;
  std::vector<void*> blocks = take(heap, 3000, 256);
  free_all(heap, blocks);
  EXPECT_GT(heap.magazines()->cached().count, 0u);
  EXPECT_GT(heap.release_unused(), 0u);
  EXPECT_EQ(heap.magazines()->cached().count, 0u);
  EXPECT_EQ(heap.use().mapped_bytes, 0u);
  validate(heap.state());
  EXPECT_NE(heap.allocate(256), nullptr);
}

TEST_F(MagazinesOfHeaps, TheDepotHasABound) {
  HeapWithMagazines heap;
  std::vector<void*> blocks = take(heap, 20000, 256);
  free_all(heap, blocks);
  EXPECT_LE(heap.magazines()->cached().bytes, 512 * kKiB);
  validate(heap.state());
}

TEST_F(MagazinesOfHeaps, AfterAPeakWhatIsLiveMovesTogether) {
  HeapWithMagazines heap;
  constexpr std::size_t kPeak = 40'000, kLeft = kPeak / 8, kBytes = 200;
  std::vector<void*> blocks = take(heap, kPeak, kBytes);
  std::vector<void*> left;
  for (std::size_t i = 0; i < kPeak; ++i) i % 8 == 0 ? left.push_back(blocks[i]) : heap.deallocate(blocks[i]);
  EXPECT_GT(heap.use().mapped_bytes, 6 * kLeft * kBytes);
  for (int round = 0; round < 8; ++round) {
    for (std::size_t first = 0; first < kLeft; first += 1000) {
      for (std::size_t i = first; i < first + 1000; ++i) heap.deallocate(left[i]);
      for (std::size_t i = first; i < first + 1000; ++i) left[i] = heap.allocate(kBytes);
    }
  }
  EXPECT_LT(heap.use().mapped_bytes, 3 * kLeft * kBytes);
  validate(heap.state());
}

TEST_F(MagazinesOfHeaps, ServeTinyAndAlignedBlocksTooWhichHaveNoStacks) {
  HeapWithMagazines heap;
  std::vector<void*> blocks;
  for (int i = 0; i < 500; ++i) {
    blocks.push_back(heap.allocate(static_cast<std::size_t>(i % 9)));
    blocks.push_back(heap.allocate(1000, std::size_t{1} << i % 13));
    blocks.push_back(heap.allocate(5, 16));
  }
  EXPECT_EQ(std::set<void*>(blocks.begin(), blocks.end()).size(), blocks.size());
  EXPECT_EQ(heap.use().live_count, blocks.size());
  validate(heap.state());
  std::thread([&] { free_all(heap, blocks); }).join();
  EXPECT_EQ(heap.use().live_bytes, 0u);
  validate(heap.state());
}

TEST_F(MagazinesOfHeaps, KeepBlocksOfUpTo32KiBAtHand) {
  HeapWithMagazines heap;
  for (const std::size_t size : {20'000u, 32u * 1024}) {
    heap.deallocate(heap.allocate(size));
    EXPECT_GE(heap.magazines()->cached().bytes, size);
  }
  heap.release_unused();
  heap.deallocate(heap.allocate(33 * 1024));
  EXPECT_EQ(heap.magazines()->cached().bytes, 0u);
}

// Stacks that nobody takes any more must not keep out those that are taken again and again.
TEST_F(MagazinesOfHeaps, AClassThatIsUsedTakesTheDepotFromOneThatIsNot) {
  HeapWithMagazines heap;
  std::vector<void*> blocks = take(heap, 8000, 64);
  free_all(heap, blocks);
  const std::size_t before = heap.magazines()->cached().count;
  ASSERT_GT(before, 3000u);
  for (int round = 0; round < 50; ++round) {
    blocks = take(heap, 250, 1024);
    free_all(heap, blocks);
  }
  EXPECT_LT(heap.magazines()->cached().count, before / 4);
  EXPECT_GT(heap.magazines()->cached().bytes, 200 * kKiB);
  validate(heap.state());
}

TEST_F(MagazinesOfHeaps, ThePotHoldsTheCreditOfSeveralThreads) {
  HeapWithMagazines heap;
  std::vector<void*> blocks = take(heap, 1000, 1024);
  std::thread([&] { free_all(heap, blocks); }).join();
  EXPECT_GT(credits_of(heap), HeapMagazines::kPotCredits * HeapMagazines::kMostCredit);
  EXPECT_LE(credits_of(heap), (HeapMagazines::kPotCredits + 2) * HeapMagazines::kMostCredit);
  EXPECT_EQ(heap.use().live_bytes, 0u);
  validate(heap.state());
}

TEST_F(MagazinesOfHeaps, CreditComesFromWhoFreesToWhoAllocates) {
  HeapWithMagazines heap;
  std::vector<void*> blocks = take(heap, 4000, 100);
  std::thread([&] { free_all(heap, blocks); }).join();
  const std::size_t charged = heap.state().account.charged();
  EXPECT_GE(credits_of(heap), HeapMagazines::kMostCredit);  // that thread's and the pot's
  blocks = take(heap, 500, 100);
  EXPECT_EQ(heap.state().account.charged(), charged);
  validate(heap.state());
}

// Waits that are rare must not add up over the life of a heap.
TEST_F(MagazinesOfHeaps, ASmallHeapForgetsItsWaits) {
  Heap heap;
  detail::HeapState& state = *detail::HeapAccess::state(heap);
  for (int i = 0; i < 100; ++i) {
    state.shared_use.note_wait();
    for (int call = 0; call < 100; ++call) heap.deallocate(heap.allocate(100));
  }
  EXPECT_EQ(state.magazines.load(), nullptr);
}

TEST_F(MagazinesOfHeaps, AHeapThatIsHalfEmptyIsNotScarce) {
  HeapWithMagazines heap({.hard_limit = kMiB});
  for (int i = 0; i < 16; ++i) std::thread([&] { heap.deallocate(heap.allocate(100)); }).join();
  std::vector<void*> blocks;
  while (void* const block = heap.allocate(32'000)) blocks.push_back(block);
  free_all(heap, blocks);
  blocks = take(heap, 100, 100);
  EXPECT_GT(credits_of(heap), 0u);
  free_all(heap, blocks);
}

// Else both would write the bytes of one cache line at each call.
TEST_F(MagazinesOfHeaps, ThreadsGetBlocksFromApart) {
  HeapWithMagazines heap;
  char* const of_this = static_cast<char*>(heap.allocate(64));
  char* of_other = nullptr;
  std::thread([&] {
    for (int i = 0; i < 1000; ++i) heap.deallocate(heap.allocate(200));  // earns the thread its magazines
    of_other = static_cast<char*>(heap.allocate(64));
  }).join();
  EXPECT_EQ(page_map.find(of_this), page_map.find(of_other));
  EXPECT_GE(of_other - of_this, 64 * 64);
  heap.deallocate(of_this);
  heap.deallocate(of_other);
  validate(heap.state());
}

TEST_F(MagazinesOfHeaps, ASmallHeapGetsThemWhenItsThreadsWaitForEachOther) {
  SharedUse use;
  for (int i = 0; i < 10'000; ++i) {
    if (i % 200 == 0) use.note_wait();
    use.note_call();
  }
  EXPECT_FALSE(use.has_waited_much());
  for (int i = 0; i < 2'000; ++i) {
    if (i % 20 == 0) use.note_wait();
    use.note_call();
  }
  EXPECT_TRUE(use.has_waited_much());
}

TEST_F(MagazinesOfHeaps, WhatOneThreadFreesServesAnother) {
  HeapWithMagazines heap;
  for (int round = 0; round < 20; ++round) {
    std::vector<void*> blocks = take(heap, 500, 128);
    std::thread([&] { free_all(heap, blocks); }).join();
    validate(heap.state());
  }
  EXPECT_LE(heap.use().mapped_bytes, 4 * kPageBytes);
}

TEST_F(MagazinesOfHeaps, TheHardLimitRefusesOnlyWhenLiveBytesFillIt) {
  for (const std::size_t limit : {10'000u, 1'000'000u}) {
    HeapWithMagazines heap({.hard_limit = limit});
    const std::size_t fitting = limit / 112;
    for (int round = 0; round < 5; ++round) {
      std::vector<void*> blocks = take(heap, fitting, 100);
      for (void* block : blocks) ASSERT_NE(block, nullptr);
      EXPECT_EQ(heap.allocate(100), nullptr);
      EXPECT_EQ(heap.use().live_bytes, fitting * 112);
      std::thread([&] { free_all(heap, blocks); }).join();  // leaves that thread credit
      validate(heap.state());
    }
    EXPECT_LE(heap.use().peak_live_bytes, limit);
  }
}

TEST_F(MagazinesOfHeaps, ACreditIsAtMostAPartOfTheLowestLimit) {
  HeapWithMagazines heap({.hard_limit = 160'000});
  std::vector<void*> blocks = take(heap, 500, 100);
  free_all(heap, blocks);
  EXPECT_LE(credits_of(heap), 10'000u);
  heap.set_limits(16'000, SIZE_MAX);
  blocks = take(heap, 50, 100);
  free_all(heap, blocks);
  EXPECT_LE(credits_of(heap), 1'000u);
  heap.set_limits(SIZE_MAX, SIZE_MAX);
  blocks = take(heap, 2000, 100);
  free_all(heap, blocks);
  EXPECT_GT(credits_of(heap), 10'000u);
}

TEST_F(MagazinesOfHeaps, TheSoftLimitIsCrossedWhenLiveBytesCrossIt) {
  struct Crossing {
    std::size_t calls = 0, least = SIZE_MAX;
    static void note(Heap& heap, void* context) {
      auto& self = *static_cast<Crossing*>(context);
      ++self.calls;
      self.least = std::min(self.least, heap.use().live_bytes);
    }
  } crossing;
  constexpr std::size_t kSoft = 1'000'000;
  HeapWithMagazines heap({.soft_limit = kSoft, .on_soft_limit = Crossing::note, .context = &crossing});
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

TEST_F(MagazinesOfHeaps, EndWithTheirHeapAndItsClear) {
  HeapWithMagazines heap;
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

TEST_F(MagazinesOfHeaps, ASmallHeapHasNone) {
  Heap heap;
  std::thread other([] {});  // so that the process has had another thread
  for (int i = 0; i < 10'000; ++i) heap.deallocate(heap.allocate(100));
  other.join();
  EXPECT_EQ(detail::HeapAccess::state(heap)->magazines.load(), nullptr);
}

// As if calls had been fast for long: how fast they are here, no test can know.
void make_hot(Heap& heap) {
  CallRate& rate = detail::HeapAccess::state(heap)->call_rate;
  rate.look(0);
  rate.look(1);
  use_a_little(heap);
}

TEST_F(MagazinesOfHeaps, ASmallHeapGetsThemWhenItIsCalledFastForLong) {
  Heap heap;
  detail::HeapState& state = *detail::HeapAccess::state(heap);
  std::vector<void*> mixed = take(heap, 10, 100);
  make_hot(heap);
  ASSERT_NE(state.magazines.load(), nullptr);
  EXPECT_GT(state.magazines.load()->cached().count, 0u);
  validate(state);
  free_all(heap, mixed);
  EXPECT_EQ(heap.use().live_bytes, 0u);
  validate(state);
}

TEST_F(MagazinesOfHeaps, OfASmallHeapRestOnceItGivesBackWhatItDoesNotUse) {
  Heap heap;
  detail::HeapState& state = *detail::HeapAccess::state(heap);
  make_hot(heap);
  std::vector<void*> blocks = take(heap, 10, 100);
  HeapMagazines& magazines = *state.magazines.load();
  EXPECT_FALSE(magazines.is_resting());
  heap.release_unused();
  EXPECT_TRUE(magazines.is_resting());
  use_a_little(heap);
  EXPECT_EQ(magazines.cached().count, 0u);
  EXPECT_EQ(heap.use().live_bytes, state.account.charged()) << "no credit";
  validate(state);
  free_all(heap, blocks);
  blocks = take(heap, 10, 100);
  heap.release_unused();
  EXPECT_EQ(heap.use().mapped_bytes, kPageBytes) << "what is replaced meanwhile lies in a mixed page";
  make_hot(heap);
  EXPECT_FALSE(magazines.is_resting());
  EXPECT_GT(magazines.cached().count, 0u);
  free_all(heap, blocks);
  validate(state);
}

TEST_F(MagazinesOfHeaps, OfALargeHeapDoNotRest) {
  HeapWithMagazines heap;
  std::vector<void*> blocks = take(heap, 1000, 100);
  heap.release_unused();
  EXPECT_FALSE(heap.magazines()->is_resting());
  free_all(heap, blocks);
  validate(heap.state());
}

TEST_F(MagazinesOfHeaps, AHeapInAHeapHasNoneHoweverFastItIsCalled) {
  Heap server("server");
  Heap room({.parent = &server});
  make_hot(room);
  EXPECT_EQ(detail::HeapAccess::state(room)->magazines.load(), nullptr);
}

TEST_F(MagazinesOfHeaps, BlocksFromBeforeThemAreFreedAsAllOthers) {
  Heap heap;
  std::vector<void*> blocks = take(heap, 1000, 64);
  std::vector<void*> mixed = take(heap, 10, 320);
  detail::HeapState& state = *detail::HeapAccess::state(heap);
  make_magazines(state);
  validate(state);
  free_all(heap, mixed);
  free_all(heap, blocks);
  EXPECT_EQ(heap.use().live_count, 0u);
  validate(state);
}

using MagazinesOfHeapsDeathTest = MagazinesOfHeaps;

TEST_F(MagazinesOfHeapsDeathTest, ABlockFreedTwiceIsFoundWhileTheyRestToo) {
  HeapWithMagazines heap({.name = "room"});
  std::vector<void*> blocks = take(heap, 10, 100);
  heap.release_unused();
  heap.deallocate(blocks[3]);
  EXPECT_DEATH(heap.deallocate(blocks[3]), "double free in 'room'");
  void* const mixed = heap.allocate(100);
  heap.deallocate(mixed);
  EXPECT_DEATH(heap.deallocate(mixed), "double free in 'room'");
}

TEST_F(MagazinesOfHeapsDeathTest, ABlockFreedTwiceStopsTheProcessAtOnce) {
  HeapWithMagazines heap({.name = "room"});
  std::vector<void*> blocks = take(heap, 10, 100);
  EXPECT_DEATH(
      {
        heap.deallocate(blocks[3]);
        heap.deallocate(blocks[4]);
        heap.deallocate(blocks[5]);
        heap.deallocate(blocks[3]);
      },
      "double free in 'room'");
  EXPECT_DEATH(
      {
        heap.deallocate(blocks[3]);
        std::thread([&] { heap.deallocate(blocks[3]); }).join();
      },
      "double free in 'room'");
}

TEST_F(MagazinesOfHeapsDeathTest, AFreedBlockHasNoSizeAndIsNotReallocated) {
  HeapWithMagazines heap({.name = "room"});
  std::vector<void*> blocks = take(heap, 10, 64);
  heap.deallocate(blocks[3]);
  EXPECT_DEATH(static_cast<void>(heap.usable_size(blocks[3])), "double free in 'room'");
  EXPECT_DEATH(static_cast<void>(heap.reallocate(blocks[3], 60)), "double free in 'room'");
}

TEST_F(MagazinesOfHeaps, ACreditStaysWithinItsBoundAlsoOfLargeBlocks) {
  HeapWithMagazines heap({.hard_limit = 80 * kKiB});
  for (int i = 0; i < 200; ++i) {
    std::vector<void*> blocks = take(heap, 10, i % 2 == 0 ? 4096 : 3000);
    validate(heap.state());
    free_all(heap, blocks);
    validate(heap.state());
  }
}

TEST_F(MagazinesOfHeapsDeathTest, ABlockThatIsLiveAndInAMagazineBreaksTheInvariant) {
  HeapWithMagazines heap;
  std::vector<void*> blocks = take(heap, 10, 100);
  heap.deallocate(blocks[0]);
  EXPECT_DEATH(
      {
        ReturnedPages returned;
        heap.state().slabs.take_back(blocks[0], returned);
        validate(heap.state());
      },
      "");
}

}  // namespace
}  // namespace tarn::internal
