// What pools promise beyond blocks, elsewhere: names, caps, ends, walks.
#include <thread>
#include <vector>

#include "support/prelude.h"
#include "tarn/arena.h"
#include "tarn/buffer_pool.h"
#include "tarn/fixed_pool.h"
#include "tarn/heap.h"
#include "tarn/object_pool.h"
#include "tarn/pool_use.h"

namespace tarn {
namespace {

std::vector<std::string> names_of_pools() {
  std::vector<std::string> names;
  for_each_pool(
      [](const PoolUse& use, void* context) {
        static_cast<std::vector<std::string>*>(context)->emplace_back(use.name);
      },
      &names);
  return names;
}

TEST(Elsewhere, PoolsAreListedByNameWhileTheyExist) {
  {
    const FixedPool pool(64, "elsewhere's");
    const auto names = names_of_pools();
    EXPECT_EQ(std::count(names.begin(), names.end(), "elsewhere's"), 1);
  }
  const auto names = names_of_pools();
  EXPECT_EQ(std::count(names.begin(), names.end(), "elsewhere's"), 0);
}

TEST(Elsewhere, ACapRefusesAndCallsTheHook) {
  int refusals = 0;
  SharedFixedPool pool({.block_bytes = 24,
                        .largest_count = 2,
                        .on_refusal = [](void* count) { ++*static_cast<int*>(count); },
                        .context = &refusals});
  EXPECT_EQ(pool.block_bytes(), 32u);
  EXPECT_EQ(pool.reserve(10), 2u);
  EXPECT_EQ(pool.capacity(), 2u);
  void* const first = pool.allocate();
  void* const second = pool.allocate();
  EXPECT_EQ(pool.allocate(), nullptr);
  EXPECT_EQ(refusals, 1);
  pool.deallocate(first);
  tarn::deallocate(second);
  EXPECT_EQ(pool.live_count(), 0u);
  FixedPool throwing({.block_bytes = 8, .largest_count = 0, .at_cap = AtCap::kThrow});
  EXPECT_THROW(static_cast<void>(throwing.allocate()), std::bad_alloc);
  EXPECT_THROW(FixedPool(0), std::bad_alloc);
}

TEST(Elsewhere, BlocksOfARunGoBackOneByOne) {
  FixedPool pool(48);
  auto* const run = static_cast<char*>(pool.allocate_run(5));
  std::memset(run, 1, 5 * pool.block_bytes());
  for (const int i : {2, 0, 4}) pool.deallocate(run + i * 48);
  EXPECT_EQ(pool.live_count(), 2u);
  std::vector<void*> seen;
  pool.for_each_live([&](void* block) { seen.push_back(block); });
  EXPECT_EQ(seen, (std::vector<void*>{run + 48, run + 144}));
  pool.deallocate(run + 48);
  EXPECT_TRUE(pool.owns(run + 144 + 47));
  EXPECT_FALSE(pool.owns(run + 96));
}

TEST(Elsewhere, AVisitMayFreeBlocksBeforeTheirTurn) {
  FixedPool pool(16);
  std::vector<void*> blocks(100);
  ASSERT_EQ(pool.allocate_batch(blocks.size(), blocks.data()), blocks.size());
  std::size_t visits = 0;
  pool.for_each_live([&](void*) {
    if (++visits == 1) pool.clear();
  });
  EXPECT_EQ(visits, 1u);
}

TEST(Elsewhere, ObjectsOutliveTheirPoolOrEndWithIt) {
  static int ended = 0;
  struct Counted {
    ~Counted() { ++ended; }
  };
  Counted* left = nullptr;
  {
    ObjectPool<Counted> pool({.name = "left", .at_end = AtPoolEnd::kHandOver});
    left = pool.create();
    ObjectPool<Counted, LiveObjects::kListed> destroyed({.at_end = AtPoolEnd::kDestroy});
    static_cast<void>(destroyed.create());
  }
  EXPECT_EQ(ended, 1);
  left->~Counted();
  tarn::deallocate(left);
}

TEST(Elsewhere, HeapsHaveLimitsAndParents) {
  int crossings = 0;
  Heap outer({.soft_limit = 100,
              .hard_limit = 1000,
              .on_soft_limit = [](Heap&, void* count) { ++*static_cast<int*>(count); },
              .context = &crossings});
  Heap inner({.name = "inner", .parent = &outer});
  void* const block = inner.allocate(600);
  EXPECT_EQ(outer.use().live_bytes, 600u);
  EXPECT_EQ(outer.use().inner_bytes, 600u);
  EXPECT_EQ(inner.allocate(600), nullptr);
  void* const own = outer.allocate(300);
  EXPECT_EQ(crossings, 1) << "by the heap within";
  EXPECT_TRUE(outer.owns(own));
  EXPECT_FALSE(outer.owns(block));
  inner.clear();
  EXPECT_EQ(outer.use().live_bytes, 300u);
  {
    const HeapScope scope(outer);
    EXPECT_EQ(current_heap(), &outer);
    EXPECT_TRUE(outer.owns(tarn::allocate(8)));
  }
  EXPECT_EQ(current_heap(), nullptr);
}

TEST(Elsewhere, ArenasRewindAndRunCleanups) {
  char buffer[512];
  Arena arena({.buffer = buffer, .buffer_bytes = sizeof buffer});
  static int ended = 0;
  struct Counted {
    ~Counted() { ++ended; }
  };
  static_cast<void>(arena.create<Counted>());
  const ArenaMark mark = arena.mark();
  static_cast<void>(arena.create<Counted>());
  void* const large = arena.allocate(100000, 64);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(large) % 64, 0u);
  EXPECT_TRUE(arena.owns(large));
  arena.rewind(mark);
  EXPECT_EQ(ended, 1);
  EXPECT_FALSE(arena.owns(large));
  arena.reset();
  EXPECT_EQ(ended, 2);
  EXPECT_EQ(arena.used(), 0u);
}

TEST(Elsewhere, BuffersAreSharedAcrossThreads) {
  BufferPool pool({.name = "packets", .largest_count = 2});
  SharedBuffer buffer = pool.allocate_shared(100);
  EXPECT_EQ(buffer.capacity(), 128u);
  std::thread([part = buffer.slice(10, 20)]() mutable { part.reset(); }).join();
  EXPECT_EQ(buffer.reference_count(), 1u);
  void* const second = pool.allocate(128);
  EXPECT_EQ(pool.allocate(65), nullptr);
  pool.deallocate(second, 128);
  EXPECT_EQ(pool.use(1).live_count, 1u);
  EXPECT_EQ(pool.use(1).refusals, 1u);
  void* const larger = pool.allocate(100000);
  EXPECT_EQ(pool.use_above().live_bytes, 100000u);
  tarn::deallocate(larger);
}

TEST(ElsewhereDeathTest, ASecondFreeByAPoolStops) {
  FixedPool pool(64, "packets");
  void* const block = pool.allocate();
  pool.deallocate(block);
  EXPECT_DEATH(pool.deallocate(block), "tarn: free of no live block in 'packets'");
}

}  // namespace
}  // namespace tarn
