// The pools that any thread may use, used by several, while others look at them, trim them, and make and end
// more.
#include "pool/blocks/block_pool_state.h"
#include "support/child.h"
#include "support/content.h"
#include "support/heap_with_classes.h"
#include "support/prelude.h"
#include "support/sanitizer.h"
#include "support/seed.h"
#include "support/sizes.h"
#include "support/threads.h"
#include "tarn/arena.h"
#include "tarn/fixed_pool.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"
#include "tarn/object_pool.h"
#include "tarn/pool_use.h"

namespace tarn::test {
namespace {

constexpr unsigned kThreads = 4;
constexpr std::size_t kSlots = 128;

/// Runs `work(thread, random)` in several threads until each has done its rounds, and `watch()` in one more
/// meanwhile.
template <typename Work, typename Watch>
void run_watched(std::uint64_t rounds, Work work, Watch watch) {
  std::atomic<unsigned> working{kThreads};
  Threads threads(kThreads, [&](unsigned t) {
    Random random(t);
    for (std::uint64_t i = 0; i < rounds; ++i) work(t, random);
    --working;
  });
  do watch();
  while (working != 0);
  threads.join();
}

void look_at_all_pools() {
  std::size_t bytes = 0;
  for_each_pool(
      [](const PoolUse& use, void* context) { *static_cast<std::size_t*>(context) += use.live_bytes; },
      &bytes);
}

// Each thread has at most its part of the cap: whatever magazine a free block lies in, nobody is refused.
TEST(PoolThreads, AreNotRefusedWhileABlockIsFree) {
  constexpr std::size_t kPart = 40;
  for (const std::size_t spare : {0u, 1u, 100u}) {
    SharedFixedPool pool(
        {.block_bytes = 64, .blocks_per_chunk = 70, .largest_count = kThreads * kPart + spare});
    detail::BlockPoolState& state = detail::BlockPoolAccess::state(pool);
    std::vector<void*> held[kThreads];
    std::atomic<std::uint64_t> refusals{0};
    run_watched(
        amount(30000, 1000000),
        [&](unsigned t, Random& random) {
          std::vector<void*>& own = held[t];
          if (own.size() == kPart || (!own.empty() && random.below(100) < 45)) {
            std::swap(own[random.below(own.size())], own.back());
            ASSERT_TRUE(holds(own.back(), 64, t));
            pool.deallocate(own.back());
            return own.pop_back();
          }
          void* blocks[20];
          const std::size_t most = std::min<std::size_t>(kPart - own.size(), 20);
          const std::size_t wanted = random.below(10) == 0 ? 1 + random.below(most) : 1;
          const std::size_t taken = wanted == 1 ? ((blocks[0] = pool.allocate()) != nullptr ? 1 : 0)
                                                : pool.allocate_batch(wanted, blocks);
          refusals += wanted - taken;
          for (std::size_t i = 0; i < taken; ++i) {
            fill(blocks[i], 64, t);
            own.push_back(blocks[i]);
          }
        },
        [&] {
          look_at_all_pools();
          if (spare == 100) pool.release_unused();
        });
    EXPECT_EQ(refusals, 0u) << spare;
    internal::validate(state);
    for (const std::vector<void*>& own : held)
      for (void* block : own) pool.deallocate(block);
    EXPECT_EQ(pool.live_count(), 0u);
    if (!state.is_over_malloc()) {
      EXPECT_EQ(pool.reserve(SIZE_MAX), kThreads * kPart + spare) << "no block was lost";
    }
    internal::validate(state);
  }
}

// One of two threads that free a block at the same moment stops the process.
TEST(PoolThreads, FindABlockThatTwoFreeAtOnce) {
  if (kSanitizer) GTEST_SKIP() << "a sanitizer follows no threads of a child";
  SharedFixedPool any(64);
  if (detail::BlockPoolAccess::state(any).is_over_malloc()) GTEST_SKIP() << "malloc finds it";
  for (std::uint64_t round = amount(60, 3000); round-- > 0;) {
    const ChildResult result = run_in_child([round] {
      SharedFixedPool pool({.name = "packets", .block_bytes = 64});
      void* const block = pool.allocate();
      std::atomic<int> waiting{2};
      const auto free_it = [&] {
        for (int i = 0; i < 100; ++i) pool.deallocate(pool.allocate());  // has a magazine
        for (--waiting; waiting != 0;) continue;
        pool.deallocate(block);
      };
      std::thread other(free_it);
      free_it();
      other.join();
      return 0;
    });
    ASSERT_EQ(result.signal, SIGABRT) << result.describe();
    ASSERT_NE(result.error.find("double free in 'packets'"), std::string::npos) << result.error;
  }
}

// What one thread makes and another frees, in a pool that is full most of the time.
TEST(PoolThreads, HandBlocksOfAFixedPoolOn) {
  constexpr std::size_t kMost = 500;
  SharedFixedPool pool({.block_bytes = 100, .blocks_per_chunk = 90, .largest_count = kMost});
  std::atomic<void*> slots[kSlots] = {};
  run_watched(
      amount(50000, 2000000),
      [&](unsigned t, Random& random) {
        std::atomic<void*>& slot = slots[random.below(kSlots)];
        if (t % 2 == 0) {
          void* const block = pool.allocate();
          if (block == nullptr) return std::this_thread::yield();
          fill(block, 100, 3);
          if (void* const last = slot.exchange(block)) {
            ASSERT_TRUE(holds(last, 100, 3));
            pool.deallocate(last);
          }
        } else if (void* const block = slot.exchange(nullptr)) {
          ASSERT_TRUE(holds(block, 100, 3));
          pool.deallocate(block);
        }
      },
      [&] { look_at_all_pools(); });
  for (std::atomic<void*>& slot : slots) pool.deallocate(slot);
  EXPECT_EQ(pool.live_count(), 0u);
  internal::validate(detail::BlockPoolAccess::state(pool));
}

TEST(PoolThreads, ShareAFixedPoolThatOthersTrimAndLookAt) {
  SharedFixedPool pool({.block_bytes = 64, .blocks_per_chunk = 100});
  std::atomic<void*> slots[kSlots] = {};
  std::atomic<std::size_t> live{0};
  run_watched(
      amount(20000, 400000),
      [&](unsigned t, Random& random) {
        const std::uint64_t choice = random.below(100);
        if (choice < 70) {
          void* const block = pool.allocate();
          fill(block, 64, 5);
          if (void* const other = slots[random.below(kSlots)].exchange(block)) {
            ASSERT_TRUE(holds(other, 64, 5));
            choice < 10 ? tarn::deallocate(other) : pool.deallocate(other);
          } else {
            ++live;
          }
        } else if (choice < 90) {
          const std::size_t count = 1 + random.below(80);
          void* const run = pool.allocate_run(count);
          fill(run, count * 64, t);
          ASSERT_TRUE(holds(run, count * 64, t));
          pool.deallocate_run(run, count);
        } else {
          void* blocks[20];
          ASSERT_EQ(pool.allocate_batch(20, blocks), 20u);
          for (void* block : blocks) fill(block, 64, t);
          for (void* block : blocks) ASSERT_TRUE(holds(block, 64, t));
          pool.deallocate_batch(blocks, 20);
        }
      },
      [&] {
        look_at_all_pools();
        pool.release_unused();
        pool.reserve(200);
        tarn::trim();
      });
  EXPECT_EQ(pool.live_count(), live);
  for (std::atomic<void*>& slot : slots) pool.deallocate(slot.load());
  EXPECT_EQ(pool.live_count(), 0u);
}

TEST(PoolThreads, HaveFixedPoolsOfTheirOwnThatOthersLookAt) {
  run_watched(
      amount(40, 600),
      [&](unsigned, Random& random) {
        FixedPool pool({.block_bytes = 16, .blocks_per_chunk = 64});
        std::vector<void*> blocks;
        for (int i = 0; i < 6000; ++i) {
          if (random.below(3) != 0 || blocks.empty()) {
            blocks.push_back(pool.allocate());
          } else {
            pool.deallocate(blocks.back());
            blocks.pop_back();
          }
        }
        ASSERT_EQ(pool.live_count(), blocks.size());
      },
      [&] {
        look_at_all_pools();
        tarn::trim();
      });
}

struct Object {
  explicit Object(std::uint64_t value) : first(value), last(value) { ++alive; }
  ~Object() { --alive; }
  static inline std::atomic<std::size_t> alive{0};
  std::uint64_t first, middle[7], last;
};

TEST(PoolThreads, EndEachOthersObjectsWhileOthersCountAndTrim) {
  ObjectPool<Object> pool({.name = "shared objects"});
  Object::alive = 0;
  std::atomic<Object*> slots[kSlots] = {};
  run_watched(
      amount(60000, 1000000),
      [&](unsigned, Random& random) {
        Object* const object = pool.create(random.next());
        if (Object* const other = slots[random.below(kSlots)].exchange(object)) {
          ASSERT_EQ(other->first, other->last);
          random.below(50) == 0 ? other->~Object(), tarn::deallocate(other) : pool.destroy(other);
        }
      },
      [&] {
        EXPECT_LE(pool.live_count(), std::size_t{1} << 20);
        look_at_all_pools();
        tarn::trim();
      });
  EXPECT_EQ(pool.live_count(), Object::alive);
  for (std::atomic<Object*>& slot : slots) pool.destroy(slot);
  EXPECT_EQ(pool.live_count(), 0u);
}

TEST(PoolThreads, ComeAndGoWithObjectsOfAPoolThatStays) {
  ObjectPool<Object> pool;
  Object::alive = 0;
  std::atomic<Object*> slots[kSlots] = {};
  run_watched(
      amount(60, 2000),
      [&](unsigned, Random& random) {
        std::thread([&] {
          for (int i = 0; i < 300; ++i)
            pool.destroy(slots[random.below(kSlots)].exchange(pool.create(random.next())));
        }).join();
      },
      [&] { look_at_all_pools(); });
  for (std::atomic<Object*>& slot : slots) pool.destroy(slot);
  EXPECT_EQ(pool.live_count(), 0u);
  EXPECT_EQ(Object::alive, 0u);
}

// More than there are classes for, so that classes are fought for and fixed pools stand in.
TEST(PoolThreads, MakeAndEndPoolsAllTheTime) {
  Object::alive = 0;
  run_watched(
      amount(60, 2000),
      [&](unsigned, Random& random) {
        std::vector<std::unique_ptr<ObjectPool<Object>>> pools;
        std::vector<Object*> objects;
        for (std::uint64_t i = random.below(40); i-- > 0;)
          pools.push_back(std::make_unique<ObjectPool<Object>>(ObjectPoolOptions{
              .at_end = random.below(2) == 0 ? AtPoolEnd::kDestroy : AtPoolEnd::kHandOver}));
        SharedFixedPool shared(100);
        Heap heap;
        Arena arena({.heap = random.below(2) == 0 ? &heap : nullptr});
        for (const auto& pool : pools) {
          objects.push_back(pool->create(random.next()));
          pool->destroy(pool->create(random.next()));
          ASSERT_EQ(pool->live_count(), 1u);
          static_cast<void>(shared.allocate());
          static_cast<void>(heap.allocate(1 + random.below(5000)));
          static_cast<void>(arena.allocate(1 + random.below(5000)));
        }
        for (std::size_t i = 0; i < pools.size(); ++i) pools[i]->destroy(objects[i]);
      },
      [&] {
        look_at_all_pools();
        tarn::trim();
      });
  EXPECT_EQ(Object::alive, 0u);
}

TEST(PoolThreads, ShareAHeapWithLimitsThatOthersTrimAndLookAt) {
  std::atomic<int> crossings{0};
  Heap heap({.name = "limited",
             .soft_limit = 200 * kKiB,
             .hard_limit = 300 * kKiB,
             .on_soft_limit =
                 [](Heap& crossed, void* context) {
                   ++*static_cast<std::atomic<int>*>(context);
                   crossed.release_unused();
                 },
             .context = &crossings});
  std::atomic<void*> slots[kSlots] = {};
  run_watched(
      amount(20000, 400000),
      [&](unsigned, Random& random) {
        HeapScope scope(heap);
        const std::size_t size = 1 + random.below(8000);
        void* const block = tarn::allocate(size);
        if (block != nullptr) fill(block, size < 100 ? size : 100, 1);
        tarn::deallocate(slots[random.below(kSlots)].exchange(block));
      },
      [&] {
        const HeapUse use = heap.use();
        EXPECT_LE(use.live_bytes, 300 * kKiB);
        heap.set_limits(200 * kKiB, 300 * kKiB);
        heap.release_unused();
        look_at_all_pools();
        tarn::trim();
      });
  EXPECT_LE(heap.use().peak_live_bytes, 300 * kKiB);
  for (std::atomic<void*>& slot : slots) tarn::deallocate(slot.load());
  EXPECT_EQ(heap.use().live_bytes, 0u);
  EXPECT_EQ(heap.use().live_count, 0u);
}

TEST(PoolThreads, ShareASmallHeapThatGivesBackWhatItDoesNotUse) {
  HeapWithClasses heap({.name = "small", .hard_limit = 100 * kKiB});
  std::atomic<void*> slots[kSlots] = {};
  run_watched(
      amount(20000, 400000),
      [&](unsigned, Random& random) {
        const std::size_t size = 1 + random.below(400);
        void* const block = heap.allocate(size);
        if (block != nullptr) fill(block, size, 1);
        heap.deallocate(slots[random.below(kSlots)].exchange(block));
      },
      [&] {
        heap.release_unused();
        EXPECT_LE(heap.use().peak_live_bytes, 100 * kKiB);
      });
  internal::validate(heap.state());
  for (std::atomic<void*>& slot : slots) heap.deallocate(slot.load());
  EXPECT_EQ(heap.use().live_bytes, 0u);
  internal::validate(heap.state());
}

// Its hits are plain at first, and become marked while other threads are in the midst of one.
TEST(PoolThreads, ShareAHeapThatGetsALimit) {
  for (int round = 0; round < 20; ++round) {
    HeapWithClasses heap({.name = "limited"});
    std::atomic<void*> slots[kSlots] = {};
    std::atomic<int> looks{0};
    run_watched(
        amount(1000, 20000),
        [&](unsigned, Random& random) {
          const std::size_t size = 1 + random.below(3000);
          void* const block = heap.allocate(size);
          if (block != nullptr) fill(block, size, 1);
          heap.deallocate(slots[random.below(kSlots)].exchange(block));
        },
        [&] {
          if (++looks == 2) heap.set_limits(SIZE_MAX, 200 * kKiB);
          if (looks == 4) heap.set_limits(SIZE_MAX, SIZE_MAX);
          if (looks == 6) heap.set_limits(100 * kKiB, 150 * kKiB);
        });
    internal::validate(heap.state());
    for (std::atomic<void*>& slot : slots) heap.deallocate(slot.load());
    EXPECT_EQ(heap.use().live_bytes, 0u);
    internal::validate(heap.state());
  }
}

}  // namespace
}  // namespace tarn::test
