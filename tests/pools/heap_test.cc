// Heap: counted to the byte whoever frees, limited, over the caller's memory, ended as a whole.
#include "tarn/heap.h"

#include <mutex>

#include "pool/heaps/heap_state.h"
#include "support/child.h"
#include "support/content.h"
#include "support/prelude.h"
#include "support/sanitizer.h"
#include "support/seed.h"
#include "support/sizes.h"
#include "support/threads.h"
#include "tarn/memory_pool.h"

namespace tarn::test {
namespace {

/// Memory of the caller's, outside of the library.
class Buffer {
 public:
  explicit Buffer(std::size_t bytes) : bytes_(bytes) {
    memory_ =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  ~Buffer() { munmap(memory_, bytes_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  void* get() const { return memory_; }
  std::size_t bytes() const { return bytes_; }
  bool holds(const void* pointer) const {
    return pointer >= memory_ && pointer < static_cast<char*>(memory_) + bytes_;
  }

 private:
  void* memory_;
  std::size_t bytes_;
};

void validate(const Heap& heap) { internal::validate(*detail::HeapAccess::state(heap)); }

/// The same tests over the library's pages and over a buffer.
class HeapOver : public ::testing::TestWithParam<bool> {
 protected:
  HeapOptions options(HeapOptions options = {}) const {
    if (GetParam()) options.buffer = buffer_.get(), options.buffer_bytes = buffer_.bytes();
    return options;
  }
  /// Of the peak: over the library's pages, the thread has cached blocks once it has used the heap much.
  std::size_t most_error() const { return GetParam() ? 0 : 8 * kMiB; }
  Buffer buffer_{256 * kMiB};
};
INSTANTIATE_TEST_SUITE_P(Memory, HeapOver, ::testing::Values(false, true),
                         [](const auto& over) { return over.param ? "OfTheCaller" : "OfTheLibrary"; });

TEST_P(HeapOver, CountsEveryByteOfRandomPrograms) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    Heap heap(options({.name = "counted"}));
    Random random(seed);
    struct Live {
      void* block;
      std::size_t size;
    };
    std::vector<Live> live;
    std::size_t live_bytes = 0, peak_bytes = 0;
    const std::uint64_t operations = amount(6000, 300000);
    for (std::uint64_t i = 0; i < operations; ++i) {
      const std::uint64_t choice = random.below(100);
      if (choice < 50 && live_bytes < 20 * kMiB) {
        const std::size_t size = random.below(std::size_t{1} << random.between(1, 19));
        const std::size_t alignment = std::size_t{1} << (random.below(10) == 0 ? random.below(17) : 4);
        void* const block = heap.allocate(size, alignment);
        ASSERT_NE(block, nullptr) << size << " aligned to " << alignment;
        ASSERT_EQ(reinterpret_cast<std::uintptr_t>(block) %
                      (size <= 8 ? std::min<std::size_t>(alignment, 8) : alignment),
                  0u);
        fill(block, size, size);
        live.push_back({block, size});
        live_bytes += heap.usable_size(block);
      } else if (!live.empty()) {
        Live& picked = live[random.below(live.size())];
        ASSERT_TRUE(holds(picked.block, picked.size, picked.size));
        live_bytes -= heap.usable_size(picked.block);
        if (choice < 70) {
          const std::size_t size = random.below(std::size_t{1} << random.between(1, 19));
          const std::size_t both = heap.usable_size(picked.block);
          void* const moved = heap.reallocate(picked.block, size);
          ASSERT_NE(moved, nullptr);
          ASSERT_TRUE(holds(moved, std::min(size, picked.size), picked.size, picked.size));
          fill(moved, size, size);
          // While it moves, both are live.
          if (moved != picked.block)
            peak_bytes = std::max(peak_bytes, live_bytes + both + heap.usable_size(moved));
          picked = {moved, size};
          live_bytes += heap.usable_size(moved);
        } else {
          random.below(2) == 0 ? heap.deallocate(picked.block) : tarn::deallocate(picked.block);
          picked = live.back();
          live.pop_back();
        }
      }
      peak_bytes = std::max(peak_bytes, live_bytes);
      const HeapUse use = heap.use();
      ASSERT_EQ(use.live_bytes, live_bytes);
      ASSERT_EQ(use.live_count, live.size());
      ASSERT_GE(use.peak_live_bytes, peak_bytes);
      ASSERT_LE(use.peak_live_bytes, peak_bytes + most_error());
      ASSERT_GE(use.mapped_bytes, live_bytes);
      if (i % 64 == 0 || i < 1000) validate(heap);
    }
    for (const Live& each : live) heap.deallocate(each.block);
    validate(heap);
    EXPECT_EQ(heap.use().live_bytes, 0u);
    heap.release_unused();
    EXPECT_EQ(heap.use().mapped_bytes, 0u);
  }
}

TEST_P(HeapOver, CountsExactlyWhenThreadsFreeEachOthersBlocks) {
  constexpr std::size_t kThreads = 4, kSlots = 64;
  Heap first(options()), second;
  std::atomic<void*> slots[kSlots] = {};
  std::atomic<std::size_t> allocations{0}, frees{0};
  in_threads(kThreads, [&](std::size_t t) {
    Random random(t);
    for (std::uint64_t i = 0, rounds = amount(20000, 500000); i < rounds; ++i) {
      Heap& heap = random.below(2) == 0 ? first : second;
      const std::size_t size = 1 + random.below(random.below(50) == 0 ? 100000 : 500);
      void* const block = heap.allocate(size);
      std::memset(block, static_cast<int>(size), size < 64 ? size : 64);
      ++allocations;
      if (void* const other = slots[random.below(kSlots)].exchange(block)) {
        tarn::deallocate(other);
        ++frees;
      }
    }
  });
  EXPECT_EQ(first.use().live_count + second.use().live_count, allocations - frees);
  std::size_t live_bytes = 0;
  for (std::atomic<void*>& slot : slots)
    if (slot != nullptr) live_bytes += tarn::usable_size(slot);
  EXPECT_EQ(first.use().live_bytes + second.use().live_bytes, live_bytes);
  for (std::atomic<void*>& slot : slots) tarn::deallocate(slot);
  for (Heap* heap : {&first, &second}) {
    validate(*heap);
    EXPECT_EQ(heap->use().live_bytes, 0u);
    EXPECT_EQ(heap->use().live_count, 0u);
    heap->release_unused();
    EXPECT_EQ(heap->use().mapped_bytes, 0u);
  }
}

TEST_P(HeapOver, ScopesServeTheGeneralPoolsCallsOfTheirThread) {
  Heap heap(options({.name = "scoped"}));
  void* const outside = tarn::allocate(100);
  {
    HeapScope scope(heap);
    EXPECT_EQ(current_heap(), &heap);
    for (const std::size_t size : landmark_sizes(5 * kMiB)) {
      void* const block = tarn::allocate(size);
      EXPECT_TRUE(heap.owns(block)) << size;
      void* const aligned = tarn::allocate(size, 256);
      EXPECT_TRUE(heap.owns(aligned)) << size;
      void* const zeroed = tarn::allocate_zeroed(1, size);
      EXPECT_TRUE(heap.owns(zeroed) && is_zero(zeroed, size)) << size;
      void* batch[3];
      EXPECT_EQ(tarn::allocate_batch(size, 3, batch), 3u);
      EXPECT_TRUE(heap.owns(batch[2]));
      tarn::deallocate_batch(batch, 3);
      for (void* each : {block, aligned, zeroed}) tarn::deallocate(each);
    }
    std::thread([&] {
      EXPECT_EQ(current_heap(), nullptr) << "a scope is its thread's";
      void* const block = tarn::allocate(100);
      EXPECT_FALSE(heap.owns(block));
      tarn::deallocate(block);
    }).join();
    tarn::deallocate(outside);
  }
  EXPECT_EQ(current_heap(), nullptr);
  EXPECT_EQ(heap.use().live_count, 0u);
  void* const after = tarn::allocate(100);
  EXPECT_FALSE(heap.owns(after));
  tarn::deallocate(after);
}

TEST_P(HeapOver, ScopesNestAndTheInnermostCounts) {
  Heap outer(options()), inner;
  std::vector<void*> blocks;
  {
    HeapScope first(outer);
    blocks.push_back(tarn::allocate(50));
    {
      HeapScope second(inner);
      blocks.push_back(tarn::allocate(50));
      {
        HeapScope third(outer);
        blocks.push_back(tarn::allocate(50));
      }
      EXPECT_EQ(current_heap(), &inner);
      blocks.push_back(tarn::allocate(50));
      tarn::deallocate(blocks[0]);
    }
    blocks[0] = tarn::allocate(50);
  }
  EXPECT_EQ(outer.use().live_count, 2u);
  EXPECT_EQ(inner.use().live_count, 2u);
  for (const std::size_t i : {0u, 2u}) EXPECT_TRUE(outer.owns(blocks[i]));
  for (const std::size_t i : {1u, 3u}) EXPECT_TRUE(inner.owns(blocks[i]));
  for (void* block : blocks) tarn::deallocate(block);
  EXPECT_EQ(outer.use().live_bytes + inner.use().live_bytes, 0u);
}

TEST_P(HeapOver, ReallocationKeepsABlockInItsHeapAndMovesAGeneralOneIntoTheScope) {
  Heap heap(options());
  void* block = heap.allocate(100);
  fill(block, 100, 1);
  block = tarn::reallocate(block, 100000);
  EXPECT_TRUE(heap.owns(block)) << "outside of any scope it stays its heap's";
  EXPECT_TRUE(holds(block, 100, 100, 1));
  block = tarn::reallocate(block, 3 * kMiB);
  EXPECT_TRUE(heap.owns(block));
  block = tarn::reallocate(block, 40);
  EXPECT_TRUE(heap.owns(block));
  EXPECT_TRUE(holds(block, 40, 100, 1));
  EXPECT_EQ(heap.use().live_count, 1u);
  for (const std::size_t size : {std::size_t{100}, 100 * kKiB, 2 * kMiB}) {
    void* general = tarn::allocate(size);
    fill(general, size, size);
    HeapScope scope(heap);
    general = tarn::reallocate(general, size * 3);
    EXPECT_TRUE(general != nullptr && holds(general, size, size, size));
    tarn::deallocate(general);
  }
  heap.deallocate(block);
  EXPECT_EQ(heap.use().live_bytes, 0u);
}

TEST_P(HeapOver, AHardLimitRefusesCleanlyAndHoldsToTheByte) {
  Heap heap(options({.hard_limit = kMiB}));
  std::vector<void*> blocks;
  for (;;) {
    errno = 0;
    void* const block = heap.allocate(1000);
    if (block == nullptr) break;
    blocks.push_back(block);
    ASSERT_LE(heap.use().live_bytes, kMiB);
  }
  EXPECT_EQ(errno, ENOMEM);
  const HeapUse full = heap.use();
  EXPECT_GT(full.live_bytes + heap.usable_size(blocks[0]), kMiB);
  for (const std::size_t size : {std::size_t{5000}, 300 * kKiB, 10 * kMiB, std::size_t{SIZE_MAX}})
    EXPECT_EQ(heap.allocate(size), nullptr);
  EXPECT_EQ(heap.reallocate(blocks[0], 100000), nullptr);
  EXPECT_EQ(heap.allocate_zeroed(1000, 1000), nullptr);
  EXPECT_EQ(heap.use().live_bytes, full.live_bytes) << "a refusal changes nothing";
  EXPECT_EQ(heap.use().mapped_bytes, full.mapped_bytes);
  EXPECT_EQ(heap.use().peak_live_bytes, full.peak_live_bytes);
  {
    HeapScope scope(heap);
    EXPECT_EQ(tarn::allocate(1000), nullptr) << "nor does the general pool help out";
  }
  heap.deallocate(blocks.back());
  blocks.back() = heap.allocate(1000);
  EXPECT_NE(blocks.back(), nullptr);
  EXPECT_NE(heap.reallocate(blocks.back(), 900), nullptr) << "what fits may be changed";
  heap.set_limits(SIZE_MAX, 2 * kMiB);
  EXPECT_NE(heap.allocate(1000), nullptr);
  heap.set_limits(SIZE_MAX, 0);
  EXPECT_EQ(heap.allocate(1), nullptr);
}

struct Crossings {
  int calls = 0;
  int depth = 0, deepest = 0;
  std::vector<void*> to_free;
  std::size_t to_allocate = 0;
  void* allocated = nullptr;

  static void note(Heap& heap, void* context) {
    auto& self = *static_cast<Crossings*>(context);
    ++self.calls;
    self.deepest = std::max(self.deepest, ++self.depth);
    for (void* block : self.to_free) heap.deallocate(block);
    self.to_free.clear();
    if (self.to_allocate != 0) self.allocated = heap.allocate(self.to_allocate);
    --self.depth;
  }
};

TEST_P(HeapOver, ASoftLimitCallsOncePerCrossing) {
  Crossings crossings;
  Heap heap(options({.soft_limit = 100 * kKiB, .on_soft_limit = Crossings::note, .context = &crossings}));
  std::vector<void*> blocks;
  for (int round = 1; round <= 3; ++round) {
    while (heap.use().live_bytes <= 100 * kKiB) blocks.push_back(heap.allocate(1000));
    EXPECT_EQ(crossings.calls, round);
    for (int i = 0; i < 50; ++i) blocks.push_back(heap.allocate(1000));
    EXPECT_EQ(crossings.calls, round) << "above it is no crossing";
    while (blocks.size() > 10) heap.deallocate(blocks.back()), blocks.pop_back();
  }
  heap.set_limits(SIZE_MAX, SIZE_MAX);
  for (int i = 0; i < 200; ++i) EXPECT_NE(heap.allocate(1000), nullptr);
  EXPECT_EQ(crossings.calls, 3);
}

TEST_P(HeapOver, TheCallbackMayFreeAndAllocateAndIsNotCalledInsideItself) {
  Crossings crossings;
  Heap heap(options({.soft_limit = 64 * kKiB, .on_soft_limit = Crossings::note, .context = &crossings}));
  std::vector<void*> blocks;
  for (int i = 0; i < 50; ++i) blocks.push_back(heap.allocate(1000));
  crossings.to_free = blocks;
  crossings.to_allocate = 200 * kKiB;
  while (crossings.calls == 0) EXPECT_NE(heap.allocate(1000), nullptr);
  EXPECT_EQ(crossings.calls, 1);
  EXPECT_EQ(crossings.deepest, 1);
  EXPECT_NE(crossings.allocated, nullptr);
  EXPECT_GE(heap.use().live_bytes, 200 * kKiB);
}

TEST_P(HeapOver, TheHardLimitHoldsInsideTheCallback) {
  Crossings crossings;
  Heap heap(options({.soft_limit = 64 * kKiB,
                     .hard_limit = 128 * kKiB,
                     .on_soft_limit = Crossings::note,
                     .context = &crossings}));
  crossings.to_allocate = 100 * kKiB;
  while (crossings.calls == 0) ASSERT_NE(heap.allocate(1000), nullptr);
  EXPECT_EQ(crossings.allocated, nullptr);
  EXPECT_LE(heap.use().live_bytes, 128 * kKiB);
  EXPECT_NE(heap.allocate(1000), nullptr);
}

TEST_P(HeapOver, AHeapWithinCountsForTheOneAround) {
  Heap server(options({.name = "server", .hard_limit = kMiB}));
  {
    Heap room({.name = "room", .hard_limit = 600 * kKiB, .parent = &server});
    Heap script({.name = "script", .parent = &room});
    ASSERT_TRUE(script.is_valid());
    void* const own = server.allocate(100 * kKiB);
    void* const in_room = room.allocate(200 * kKiB);
    void* const in_script = script.allocate(300 * kKiB);
    ASSERT_TRUE(own != nullptr && in_room != nullptr && in_script != nullptr);
    const std::size_t bytes =
        server.usable_size(own) + room.usable_size(in_room) + script.usable_size(in_script);
    EXPECT_EQ(server.use().live_bytes, bytes);
    EXPECT_EQ(server.use().inner_bytes, bytes - server.usable_size(own));
    EXPECT_EQ(server.use().live_count, 1u);
    EXPECT_EQ(room.use().inner_bytes, script.usable_size(in_script));
    EXPECT_EQ(script.allocate(200 * kKiB), nullptr) << "the room's limit";
    EXPECT_EQ(script.use().live_count, 1u);
    room.deallocate(in_room);
    void* const more = script.allocate(200 * kKiB);
    EXPECT_NE(more, nullptr);
    EXPECT_EQ(server.allocate(500 * kKiB), nullptr) << "what lies within counts";
    script.deallocate(more);
    EXPECT_NE(server.allocate(500 * kKiB), nullptr);
    EXPECT_EQ(script.allocate(200 * kKiB), nullptr) << "the server's limit";
    for (Heap* heap : {&server, &room, &script}) validate(*heap);
    room.clear();
    EXPECT_EQ(room.use().live_bytes, script.use().live_bytes) << "a heap within keeps its blocks";
  }
  EXPECT_EQ(server.use().inner_bytes, 0u);
  EXPECT_EQ(server.use().live_count, 2u);
  validate(server);
}

TEST_P(HeapOver, ASoftLimitIsCrossedFromWithin) {
  Crossings crossings;
  Heap server(options({.soft_limit = 100 * kKiB, .on_soft_limit = Crossings::note, .context = &crossings}));
  Heap room({.parent = &server});
  static_cast<void>(server.allocate(60 * kKiB));
  EXPECT_EQ(crossings.calls, 0);
  static_cast<void>(room.allocate(60 * kKiB));
  EXPECT_EQ(crossings.calls, 1);
}

TEST(HeapWithin, AParentThatCouldNotBeMadeMakesNone) {
  char small[100];
  Heap none({.buffer = small, .buffer_bytes = sizeof small});
  Heap heap({.parent = &none});
  EXPECT_FALSE(heap.is_valid());
}

TEST(HeapWithin, ThreadsInTheirRoomsStayBelowTheLimitOfTheServer) {
  constexpr std::size_t kLimit = 256 * kKiB, kThreads = 4;
  Heap server({.name = "server", .hard_limit = kLimit});
  std::atomic<std::size_t> refused{0};
  std::barrier all_hold_blocks(kThreads);
  in_threads(kThreads, [&](std::size_t t) {
    Random random(t);
    Heap room({.name = "room", .parent = &server});
    std::vector<void*> blocks;
    for (std::uint64_t i = amount(20000, 400000); i-- > 0;) {
      Heap& heap = random.below(4) == 0 ? server : room;
      if (random.below(100) < 60) {
        void* const block = heap.allocate(random.below(2000));
        block != nullptr ? blocks.push_back(block) : void(++refused);
      } else if (!blocks.empty()) {
        std::swap(blocks[random.below(blocks.size())], blocks.back());
        tarn::deallocate(blocks.back());
        blocks.pop_back();
      }
      if (i % 256 == 0) {
        EXPECT_LE(server.use().live_bytes, kLimit);
      }
    }
    all_hold_blocks.arrive_and_wait();
    for (void* block : blocks) tarn::deallocate(block);
    validate(room);
  });
  EXPECT_GT(refused, 0u);
  EXPECT_LE(server.use().peak_live_bytes, kLimit);
  EXPECT_EQ(server.use().live_bytes, 0u);
  EXPECT_EQ(server.use().inner_bytes, 0u);
  EXPECT_EQ(server.use().live_count, 0u);
  validate(server);
}

TEST(HeapMappedLimit, BoundsThePagesAndNotTheLiveBytes) {
  constexpr std::size_t kLimit = kMiB;
  for (const std::size_t size : {100u, 2000u, 20000u, 200000u}) {
    Heap heap({.mapped_limit = kLimit});
    std::vector<void*> blocks;
    while (void* const block = heap.allocate(size)) {
      blocks.push_back(block);
      ASSERT_LE(heap.use().mapped_bytes, kLimit);
    }
    EXPECT_GE(heap.use().live_bytes, kLimit * 3 / 4) << size;
    validate(heap);
    // What is empty makes room for other sizes.
    for (void* block : blocks) heap.deallocate(block);
    void* const other = heap.allocate(900 * kKiB);
    EXPECT_NE(other, nullptr) << size;
    EXPECT_LE(heap.use().mapped_bytes, kLimit);
    EXPECT_LE(heap.prewarm(kMiB), kLimit - 900 * kKiB);
    validate(heap);
  }
}

// Its children may go on meanwhile.
TEST(HeapWithin, AClearOfTheOneAroundLeavesItsCountsRight) {
  Heap server({.hard_limit = 64 * kMiB});
  std::atomic<bool> is_done{false};
  Threads threads(2, [&] {
    Heap room({.parent = &server});
    while (!is_done) room.deallocate(room.allocate(100 * kKiB));
  });
  for (std::uint64_t i = amount(3000, 100000); i-- > 0;) {
    void* const block = server.allocate(1000);
    ASSERT_NE(block, nullptr);
    const HeapUse use = server.use();
    ASSERT_EQ(use.live_bytes - use.inner_bytes, server.usable_size(block));
    server.clear();
  }
  is_done = true;
  threads.join();
  EXPECT_EQ(server.use().live_bytes, 0u);
  EXPECT_EQ(server.use().inner_bytes, 0u);
  validate(server);
}

TEST(HeapWithin, ALimitSetLaterHoldsForCachedBlocks) {
  Heap server;
  Heap room({.parent = &server});
  std::vector<void*> blocks;
  for (int i = 0; i < 5000; ++i) blocks.push_back(room.allocate(200));
  for (int i = 0; i < 4000; ++i) room.deallocate(blocks[static_cast<std::size_t>(i)]);
  const std::size_t limit = server.use().live_bytes;
  server.set_limits(SIZE_MAX, limit);
  EXPECT_EQ(room.allocate(200), nullptr);
  EXPECT_EQ(server.use().live_bytes, limit);
}

TEST(HeapMappedLimit, ARefusedBlockIsNoPeak) {
  Heap server;
  Heap heap({.mapped_limit = kMiB, .parent = &server});
  EXPECT_EQ(heap.allocate(100 * kMiB), nullptr);
  EXPECT_EQ(heap.use().peak_live_bytes, 0u);
  EXPECT_EQ(server.use().peak_live_bytes, 0u);
}

// As it does before threads use it much.
TEST(HeapMappedLimit, ABusyHeapServesManySizes) {
  if (detail::kPoisonsFreeBlocks) GTEST_SKIP() << "each size has slabs where free blocks are poisoned";
  Heap heap({.mapped_limit = 6 * 64 * kKiB});
  for (int i = 0; i < 5000; ++i) heap.deallocate(heap.allocate(100));
  for (int i = 0; i < 70; ++i) ASSERT_NE(heap.allocate(1200), nullptr);
  for (int i = 0; i < 5000; ++i) heap.deallocate(heap.allocate(100));
  for (std::size_t size = 16; size <= 1024; size += 16) EXPECT_NE(heap.allocate(size), nullptr) << size;
  validate(heap);
}

TEST(HeapMappedLimit, HoldsForHeapsWithin) {
  Heap server({.mapped_limit = kMiB});
  Heap room({.parent = &server});
  EXPECT_NE(server.allocate(600 * kKiB), nullptr);
  EXPECT_EQ(room.allocate(600 * kKiB), nullptr);
  EXPECT_NE(room.allocate(300 * kKiB), nullptr);
  EXPECT_LE(server.use().mapped_bytes, kMiB);
}

TEST(HeapSmall, AThousandRoomsOfAHundredBlocksTakeLittleMoreThanTheirBlocks) {
  std::vector<std::unique_ptr<Heap>> rooms;
  std::size_t mapped = 0;
  for (std::size_t i = 0; i < 100; ++i) {
    rooms.push_back(std::make_unique<Heap>("room"));
    // 16, 21 ... 511 in some order: of no class more than may share a page, even where classes are coarse.
    for (std::size_t block = 0; block < 100; ++block)
      ASSERT_NE(rooms.back()->allocate(16 + (37 * block + i) % 100 * 5), nullptr);
    mapped += rooms.back()->use().mapped_bytes;
    validate(*rooms.back());
  }
  if (!detail::kPoisonsFreeBlocks && rooms[0]->use().mapped_bytes != 0) {
    EXPECT_LE(mapped, 100 * 64 * kKiB) << "a page each, of which only what is used is resident";
  }
}

TEST_P(HeapOver, ClearEndsAllBlocksAndTheHeapGoesOn) {
  Heap heap(options());
  for (int round = 0; round < 5; ++round) {
    for (const std::size_t size : boundary_sizes(kMiB)) {
      void* const block = heap.allocate(size);
      ASSERT_NE(block, nullptr);
      fill(block, size, size);
    }
    EXPECT_GT(heap.use().live_bytes, kMiB);
    validate(heap);
    heap.clear();
    validate(heap);
    EXPECT_EQ(heap.use().live_bytes, 0u);
    EXPECT_EQ(heap.use().live_count, 0u);
    if (kAddressSanitizer) heap.release_unused();  // what has ended waits for a while there
    EXPECT_EQ(heap.use().mapped_bytes, 0u);
  }
  EXPECT_GT(heap.use().peak_live_bytes, kMiB);
}

TEST_P(HeapOver, DestroyEndsLiveBlocksAndEveryLaterAllocationIsRefused) {
  Heap heap(options());
  void* const block = heap.allocate(1000);
  fill(block, 1000, 0);
  heap.destroy();
  EXPECT_FALSE(heap.is_valid());
  errno = 0;
  EXPECT_EQ(heap.allocate(10), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_EQ(heap.reallocate(nullptr, 10), nullptr);
  EXPECT_FALSE(heap.owns(block));
  EXPECT_EQ(heap.use().live_bytes, 0u);
  EXPECT_EQ(heap.release_unused(), 0u);
  EXPECT_EQ(heap.prewarm(kMiB), 0u);
  heap.deallocate(nullptr);
  heap.clear();
  heap.set_limits(1, 2);
  heap.destroy();
}

TEST_P(HeapOver, ZeroedBlocksAreZeroAndProductsThatOverflowAreRefused) {
  Heap heap(options());
  for (int round = 0; round < 3; ++round)
    for (const std::size_t size : landmark_sizes(5 * kMiB)) {
      void* const block = heap.allocate_zeroed(1, size);
      ASSERT_TRUE(block != nullptr && is_zero(block, size)) << size;
      std::memset(block, 0xff, size);
      heap.deallocate(block);
    }
  EXPECT_EQ(heap.allocate_zeroed(SIZE_MAX, 2), nullptr);
}

TEST(HeapOverABuffer, WritesNothingButBlocksIntoIt) {
  Buffer buffer(kMiB);
  std::memset(buffer.get(), 0x5a, buffer.bytes());
  {
    Heap heap({.buffer = buffer.get(), .buffer_bytes = buffer.bytes()});
    std::vector<void*> blocks;
    for (std::size_t size = 1; size < 5000; size += 100) blocks.push_back(heap.allocate(size));
    for (void* block : blocks) EXPECT_TRUE(buffer.holds(block));
    for (void* block : blocks) heap.deallocate(block);
  }
  if (kAddressSanitizer) return;
  for (std::size_t i = 0; i < buffer.bytes(); ++i) ASSERT_EQ(static_cast<char*>(buffer.get())[i], 0x5a) << i;
}

TEST(HeapOverABuffer, UsesAllOfItAndThenRefuses) {
  for (const std::size_t size : {std::size_t{16}, std::size_t{100}, std::size_t{1000}, 4 * kKiB, 16 * kKiB,
                                 32 * kKiB, 40 * kKiB, 64 * kKiB}) {
    Buffer buffer(kMiB);
    Heap heap({.buffer = buffer.get(), .buffer_bytes = buffer.bytes()});
    std::size_t used = 0;
    errno = 0;
    while (void* const block = heap.allocate(size)) {
      EXPECT_TRUE(buffer.holds(block));
      fill(block, size, 1);
      used += heap.usable_size(block);
      ASSERT_LE(used, buffer.bytes());
    }
    EXPECT_EQ(errno, ENOMEM);
    EXPECT_GE(used, buffer.bytes() * 8 / 10) << size;
    heap.clear();
    EXPECT_NE(heap.allocate(size), nullptr);
  }
}

TEST(HeapOverABuffer, TheSmallestBufferServesBlocksUpToASizeableFraction) {
  Buffer buffer(64 * kKiB);
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{1000}, 4 * kKiB, 8 * kKiB, 16 * kKiB, 32 * kKiB}) {
    Heap heap({.buffer = buffer.get(), .buffer_bytes = buffer.bytes()});
    EXPECT_NE(heap.allocate(size), nullptr) << size;
  }
}

TEST(HeapOverABuffer, MayBeginAnywhereAndHaveAnyLength) {
  Buffer buffer(kMiB);
  char* const start = static_cast<char*>(buffer.get());
  for (const std::size_t offset : {0u, 1u, 16u, 4095u, 4096u, 5000u})
    for (const std::size_t bytes : {64 * kKiB, 64 * kKiB + 1, 100000 * std::size_t{1}, 500 * kKiB - 1}) {
      Heap heap({.buffer = start + offset, .buffer_bytes = bytes});
      ASSERT_TRUE(heap.is_valid());
      while (void* const block = heap.allocate(100)) {
        ASSERT_GE(block, start + offset);
        ASSERT_LE(static_cast<char*>(block) + 100, start + offset + bytes);
      }
    }
}

TEST(HeapOverABuffer, ThatIsTooSmallRefusesEverything) {
  alignas(4096) static char memory[8192];
  for (const std::size_t bytes : {0u, 1u, 100u, 4095u}) {
    Heap heap({.buffer = memory, .buffer_bytes = bytes});
    EXPECT_FALSE(heap.is_valid());
    EXPECT_EQ(heap.allocate(1), nullptr);
    EXPECT_FALSE(heap.owns(memory));
  }
  Heap unaligned({.buffer = memory + 1, .buffer_bytes = 8190});
  EXPECT_FALSE(unaligned.is_valid()) << "no whole page lies in it";
}

TEST(HeapOverABuffer, MayBeAFileInMemoryThatAnotherMappingSees) {
  const int file = memfd_create("heap", MFD_CLOEXEC);
  ASSERT_GE(file, 0);
  constexpr std::size_t kBytes = kMiB;
  ASSERT_EQ(ftruncate(file, kBytes), 0);
  void* const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  const char* const view = static_cast<char*>(mmap(nullptr, kBytes, PROT_READ, MAP_SHARED, file, 0));
  {
    Heap heap({.name = "shared", .buffer = memory, .buffer_bytes = kBytes});
    char* const text = static_cast<char*>(heap.allocate(100));
    std::strcpy(text, "seen by all");
    EXPECT_STREQ(view + (text - static_cast<char*>(memory)), "seen by all");
    tarn::deallocate(text);
    EXPECT_EQ(heap.use().live_count, 0u);
  }
  munmap(memory, kBytes);
  munmap(const_cast<char*>(view), kBytes);
  close(file);
}

// The general pool's own blocks may be buffers too, as they are wherever it takes malloc's place.
TEST(HeapOverABuffer, MayBeALargeBlockOfTheGeneralPool) {
  void* const memory = tarn::allocate(2 * kMiB);
  {
    Heap heap({.buffer = memory, .buffer_bytes = 2 * kMiB});
    std::vector<void*> blocks;
    for (int i = 0; i < 100; ++i) blocks.push_back(heap.allocate(1000));
    EXPECT_EQ(tarn::usable_size(blocks[3]), heap.usable_size(blocks[3]));
    blocks[3] = tarn::reallocate(blocks[3], 20000);
    EXPECT_TRUE(heap.owns(blocks[3]));
    for (void* block : blocks) tarn::deallocate(block);
    EXPECT_EQ(heap.use().live_count, 0u);
  }
  tarn::deallocate(memory);
}

TEST(Heap, PrewarmedPagesAreUsedBeforeOthersAreTaken) {
  Heap heap;
  EXPECT_EQ(heap.prewarm(10 * 65536 - 1), 10 * 65536u);
  EXPECT_EQ(heap.use().mapped_bytes, 10 * 65536u);
  EXPECT_EQ(heap.use().live_bytes, 0u);
  // A page is left over, whatever table of the tests serves.
  for (int i = 0; i < 400; ++i) ASSERT_NE(heap.allocate(1000), nullptr);
  EXPECT_EQ(heap.use().mapped_bytes, 10 * 65536u);
  heap.clear();
  EXPECT_GT(heap.release_unused(), 0u);
  EXPECT_EQ(heap.use().mapped_bytes, 0u);
}

TEST(Heap, HundredsLiveAtOnceAndKnowTheirBlocks) {
  std::vector<std::unique_ptr<Heap>> heaps;
  std::vector<void*> blocks;
  for (std::size_t i = 0; i < 300; ++i) {
    heaps.push_back(std::make_unique<Heap>("one of many"));
    blocks.push_back(heaps[i]->allocate(100));
    fill(blocks[i], 100, i);
  }
  for (std::size_t i = 0; i < 300; ++i) {
    EXPECT_TRUE(heaps[i]->owns(blocks[i]));
    EXPECT_FALSE(heaps[(i + 1) % 300]->owns(blocks[i]));
    EXPECT_TRUE(holds(blocks[i], 100, i));
    i % 2 == 0 ? tarn::deallocate(blocks[i]) : heaps[i]->deallocate(blocks[i]);
    EXPECT_EQ(heaps[i]->use().live_count, 0u);
  }
}

TEST(Heap, AThreadMayEndInsideItsScope) {
  Heap heap;
  std::vector<void*> blocks;
  alignas(HeapScope) static char memory[20][sizeof(HeapScope)];
  for (int i = 0; i < 20; ++i)
    std::thread([&] {
      void* const general = tarn::allocate(300);
      if (i % 2 == 0) {
        thread_local HeapScope scope(heap);  // ends with the thread's other objects
        static_cast<void>(scope);
      } else {
        new (memory[i]) HeapScope(heap);  // never ends
      }
      blocks.push_back(tarn::allocate(100));
      tarn::deallocate(general);
    }).join();
  EXPECT_EQ(heap.use().live_count, 20u);
  for (void* block : blocks) tarn::deallocate(block);
  // Threads that inherit what those have left begin outside of any scope.
  for (int i = 0; i < 20; ++i)
    std::thread([&] {
      EXPECT_EQ(current_heap(), nullptr);
      for (const std::size_t size : landmark_sizes(kMiB)) {
        void* const block = tarn::allocate(size);
        EXPECT_FALSE(heap.owns(block));
        fill(block, size, size);
        tarn::deallocate(block);
      }
    }).join();
  EXPECT_EQ(heap.use().live_count, 0u);
}

TEST(Heap, ScopesOfSeveralThreadsAndHeapsKeepTheirBlocksApart) {
  constexpr std::size_t kThreads = 4;
  Heap heaps[kThreads];
  std::vector<void*> left[kThreads];
  in_threads(kThreads, [&](std::size_t t) {
    Random random(t);
    for (std::uint64_t i = 0, rounds = amount(300, 10000); i < rounds; ++i) {
      HeapScope outer(heaps[t]);
      std::vector<void*> blocks;
      blocks.reserve(100);
      for (int k = 0; k < 30; ++k) blocks.push_back(tarn::allocate(1 + random.below(2000)));
      {
        HeapScope inner(heaps[(t + 1) % kThreads]);
        for (void* block : blocks) tarn::deallocate(block);
        left[t].push_back(tarn::allocate(32));
      }
    }
  });
  for (std::size_t t = 0; t < kThreads; ++t) {
    EXPECT_EQ(heaps[(t + 1) % kThreads].use().live_count, left[t].size());
    for (void* block : left[t]) tarn::deallocate(block);
  }
  for (Heap& heap : heaps) {
    EXPECT_EQ(heap.use().live_bytes, 0u);
    validate(heap);
  }
}

TEST(Heap, ImpossibleRequestsAreRefusedWithTheirErrors) {
  Heap heap;
  for (const std::size_t size : {std::size_t{SIZE_MAX}, std::size_t{1} << 47, std::size_t{PTRDIFF_MAX}}) {
    errno = 0;
    EXPECT_EQ(heap.allocate(size), nullptr);
    EXPECT_EQ(errno, ENOMEM);
  }
  for (const std::size_t alignment : {std::size_t{0}, std::size_t{3}, std::size_t{100}}) {
    errno = 0;
    EXPECT_EQ(heap.allocate(10, alignment), nullptr);
    EXPECT_EQ(errno, EINVAL);
  }
  EXPECT_EQ(heap.use().mapped_bytes, 0u);
}

}  // namespace
}  // namespace tarn::test
