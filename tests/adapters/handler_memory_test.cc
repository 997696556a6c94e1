#include "tarn/handler_memory.h"

#include "support/content.h"
#include "support/prelude.h"
#include "support/seed.h"
#include "support/threads.h"
#include "tarn/asio_allocator.h"
#include "tarn/heap.h"
#include "tarn/memory_resource.h"

namespace tarn::test {
namespace {

struct Live {
  void* block;
  std::size_t bytes;
};

Live allocate(HandlerMemory& memory, std::size_t bytes) {
  void* const block = memory.allocate(bytes);
  if (block != nullptr) fill(block, bytes, bytes);
  return {block, bytes};
}
void deallocate(HandlerMemory& memory, const Live& live) {
  ASSERT_TRUE(holds(live.block, live.bytes, live.bytes));
  memory.deallocate(live.block, live.bytes);
}

TEST(HandlerMemory, GivesTheBlockOfTheLastOperationToTheNext) {
  HandlerMemory memory;
  EXPECT_EQ(memory.kept_count() + memory.live_count(), 0u);
  const Live first = allocate(memory, 200);
  EXPECT_EQ(memory.live_count(), 1u);
  deallocate(memory, first);
  EXPECT_EQ(memory.kept_count(), 1u);
  const Live second = allocate(memory, 190);
  EXPECT_EQ(second.block, first.block);
  EXPECT_EQ(memory.kept_count(), 0u);
  deallocate(memory, second);
}

TEST(HandlerMemory, KeepsTheBlocksThatItsOperationsNeedAtOnce) {
  HandlerMemory memory;
  for (int round = 0; round < 10; ++round) {
    const Live read = allocate(memory, 300), write = allocate(memory, 100), timer = allocate(memory, 40);
    EXPECT_EQ(memory.kept_count(), 0u);
    deallocate(memory, write), deallocate(memory, timer), deallocate(memory, read);
    EXPECT_EQ(memory.kept_count(), 3u);
  }
  const std::size_t bytes = memory.kept_bytes();
  EXPECT_GE(bytes, 440u);
  const Live small = allocate(memory, 40), middle = allocate(memory, 100);
  EXPECT_GE(memory.kept_bytes(), 300u) << "the smallest that is large enough is taken";
  deallocate(memory, small), deallocate(memory, middle);
  EXPECT_EQ(memory.kept_bytes(), bytes);
}

TEST(HandlerMemory, ALargerBlockTakesThePlaceOfTheSmallest) {
  HandlerMemory memory;
  for (const std::size_t bytes : {10u, 100u, 1000u, 10000u, 100000u, 1000000u}) {
    deallocate(memory, allocate(memory, bytes));
    EXPECT_EQ(memory.kept_count(), 1u) << "no more than were live at once";
    EXPECT_GE(memory.kept_bytes(), bytes);
  }
  const std::size_t bytes = memory.kept_bytes();
  deallocate(memory, allocate(memory, 10));
  EXPECT_EQ(memory.kept_bytes(), bytes);
}

// Whatever the order of operations, at some point all blocks are there that it needs.
TEST(HandlerMemory, LearnsUntilNothingIsTakenAnyMore) {
  const std::size_t sizes[] = {24, 56, 120, 250, 600, 1500};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    HandlerMemory memory;
    Random random(seed);
    std::vector<Live> live;
    for (int i = 0; i < 5000; ++i) {
      if (live.size() < 8 && (live.empty() || random.below(2) == 0)) {
        live.push_back(allocate(memory, sizes[random.below(std::size(sizes))]));
      } else {
        std::swap(live[random.below(live.size())], live.back());
        deallocate(memory, live.back());
        live.pop_back();
      }
      ASSERT_LE(memory.kept_count() + memory.live_count(), 8u);
    }
    for (const Live& one : live) deallocate(memory, one);
    EXPECT_EQ(memory.kept_count(), 8u);
    std::vector<Live> largest;
    for (int i = 0; i < 8; ++i) largest.push_back(allocate(memory, 1500));
    for (const Live& one : largest) deallocate(memory, one);
    const std::size_t learnt = memory.kept_bytes();
    for (int i = 0; i < 1000; ++i)
      deallocate(memory, allocate(memory, sizes[random.below(std::size(sizes))]));
    EXPECT_EQ(memory.kept_bytes(), learnt);
  }
}

TEST(HandlerMemory, BlocksOfOneSizeAreAllGivenAgain) {
  HandlerMemory memory;
  std::vector<Live> live;
  for (int i = 0; i < 50; ++i) live.push_back(allocate(memory, 100 + static_cast<std::size_t>(i % 3) * 200));
  std::vector<void*> before;
  for (const Live& one : live) before.push_back(one.block), deallocate(memory, one);
  EXPECT_EQ(memory.kept_count(), 50u);
  std::vector<void*> after;
  for (Live& one : live) after.push_back((one = allocate(memory, one.bytes)).block);
  std::sort(before.begin(), before.end());
  std::sort(after.begin(), after.end());
  EXPECT_EQ(before, after);
  for (const Live& one : live) deallocate(memory, one);
}

TEST(HandlerMemory, ReleasesAndForgetsWhatItKeeps) {
  HandlerMemory memory;
  std::vector<Live> live;
  for (int i = 0; i < 30; ++i) live.push_back(allocate(memory, 50 + static_cast<std::size_t>(i) * 30));
  for (; live.size() > 1; live.pop_back()) deallocate(memory, live.back());
  const std::size_t kept = memory.kept_bytes();
  EXPECT_EQ(memory.release_unused(), kept);
  EXPECT_EQ(memory.kept_count(), 0u);
  EXPECT_EQ(memory.release_unused(), 0u);
  const Live other = allocate(memory, 10);
  deallocate(memory, live.back()), deallocate(memory, other);
  EXPECT_EQ(memory.kept_count(), 2u);
}

TEST(HandlerMemory, AlignsAsTold) {
  HandlerMemory memory;
  for (int round = 0; round < 3; ++round)
    for (std::size_t alignment = 1; alignment <= 4096; alignment *= 2) {
      void* const block = memory.allocate(3, alignment);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % alignment, 0u);
      memory.deallocate(block, 3, alignment);
    }
  EXPECT_EQ(memory.live_count(), 0u);
  memory.deallocate(nullptr, 10);
  EXPECT_EQ(memory.live_count(), 0u);
}

TEST(HandlerMemory, ReturnsNullWhenMemoryIsRefusedAndCountsNothing) {
  HandlerMemory memory;
  EXPECT_EQ(memory.allocate(SIZE_MAX / 2), nullptr);
  EXPECT_EQ(memory.live_count(), 0u);
  deallocate(memory, allocate(memory, 100));
  EXPECT_EQ(memory.kept_count(), 1u);
}

TEST(HandlerMemory, TakesNothingOfAScopesHeap) {
  HandlerMemory memory;
  {
    Heap heap;
    const HeapScope scope(heap);
    deallocate(memory, allocate(memory, 100));
    memory.deallocate(memory.allocate(100, 64), 100, 64);
    EXPECT_EQ(heap.use().peak_live_bytes, 0u);
    tarn::deallocate(tarn::allocate(100));
    EXPECT_GT(heap.use().peak_live_bytes, 0u) << "the scope is still there";
  }
  deallocate(memory, allocate(memory, 100));
}

TEST(HandlerMemory, ServesInTheScopeOfAHeapThatCouldNotBeMade) {
  Heap heap;
  heap.destroy();
  const HeapScope scope(heap);
  HandlerMemory memory;
  const Live live = allocate(memory, 100);
  ASSERT_NE(live.block, nullptr);
  deallocate(memory, live);
  EXPECT_EQ(tarn::allocate(100), nullptr) << "the scope is still there";
}

TEST(HandlerMemory, ServesEveryAdapter) {
  HandlerMemory memory;
  auto handler = with_allocator(memory, [](int value) { return value + 1; });
  auto source = handler.get_allocator();
  source.deallocate(source.allocate(10), 10);
  EXPECT_EQ(handler(1), 2);
  memory_resource resource(memory);
  resource.deallocate(resource.allocate(80), 80);
  EXPECT_EQ(memory.live_count(), 0u);
  EXPECT_EQ(memory.kept_count(), 1u);
}

// As where a strand's operations start in one thread and end in another.
TEST(HandlerMemory, ThreadsThatMeetLoseNothing) {
  constexpr unsigned kThreads = 4;
  HandlerMemory memory;
  in_threads(kThreads, [&](unsigned t) {
    Random random(t);
    std::vector<Live> live;
    for (std::uint64_t i = 0; i < amount(20000, 1000000); ++i) {
      if (live.size() < 4 && random.below(2) == 0) {
        live.push_back({memory.allocate(8 + t * 100), 8 + t * 100});
        fill(live.back().block, live.back().bytes, t);
      } else if (!live.empty()) {
        ASSERT_TRUE(holds(live.back().block, live.back().bytes, t));
        memory.deallocate(live.back().block, live.back().bytes);
        live.pop_back();
      }
    }
    for (const Live& one : live) memory.deallocate(one.block, one.bytes);
  });
  EXPECT_EQ(memory.live_count(), 0u);
  EXPECT_LE(memory.kept_count(), kThreads * 4);
}

}  // namespace
}  // namespace tarn::test
