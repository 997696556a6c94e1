#include "thread/pools/pool_owner.h"

#include "central/owners.h"
#include "central/private_classes.h"
#include "central/slabs/class_slabs.h"
#include "central/slabs/put_right.h"
#include "general/class_calls.h"
#include "general/options/setup.h"
#include "os/process/processors.h"
#include "page/spans/page_map.h"
#include "support/invariants.h"
#include "support/prelude.h"
#include "tarn/detail/thread_cache.h"
#include "tarn/memory_pool.h"
#include "thread/this_thread.h"

namespace tarn::internal {
namespace {

SlabOwner& owner_of(SizeClass size_class) { return *private_class(size_class).owner; }

PoolCensus census(SizeClass size_class) {
  ReturnedPages returned;
  return take_census(owner_of(size_class), returned);
}

void* allocate(SizeClass size_class) {
  return allocate_class_slow(size_class, class_geometry[size_class].block_bytes);
}

SizeClass acquire(std::size_t bytes, std::size_t alignment = 8) {
  set_up_once();
  const ClassGeometry geometry = pool_geometry(bytes, alignment);
  const SlabOwner* const owner = acquire_pool_owner({.geometries = &geometry});
  return owner == nullptr ? SizeClass::kNone : owner->first_class;
}

void settle(SizeClass size_class) {
  ReturnedPages returned;
  settle(owner_of(size_class), returned);
}

void release(SizeClass size_class) {
  settle(size_class);
  release_pool_owner(owner_of(size_class));
}

TEST(PoolOwner, ThousandsHaveClassesAndTheFirstOfThoseThatEndedComesFirst) {
  constexpr std::size_t kMany = 5'000;
  std::set<SizeClass> classes;
  std::vector<void*> blocks;
  for (std::size_t i = 0; i < kMany; ++i) {
    const SizeClass size_class = acquire(100);
    EXPECT_TRUE(is_private_class(size_class));
    classes.insert(size_class);
    for (int n = 0; n < 3; ++n) blocks.push_back(allocate(size_class));
  }
  EXPECT_EQ(classes.size(), kMany);
  for (void* const block : blocks) tarn::deallocate(block);
  test::validate_library();
  for (const SizeClass size_class : classes) release(size_class);
  for (std::size_t i = 0; i < kMany; ++i) EXPECT_TRUE(classes.contains(acquire(100)));
}

TEST(PoolOwner, ThereIsAnEndOfClassesAndThenOneThatEndedServes) {
  std::vector<SizeClass> classes;
  for (SizeClass next = acquire(100); next != SizeClass::kNone; next = acquire(100)) classes.push_back(next);
  EXPECT_EQ(classes.size(), detail::kMostClasses - detail::kFirstPoolClass);
  // The first that end have live blocks, so that no look at a few finds the last.
  std::vector<void*> blocks;
  for (std::size_t i = 0; i < 100; ++i) {
    blocks.push_back(allocate(classes[i]));
    release(classes[i]);
  }
  EXPECT_EQ(acquire(100), SizeClass::kNone);
  release(classes.back());
  EXPECT_EQ(acquire(100), classes.back());
  for (void* const block : blocks) tarn::deallocate(block);
}

TEST(PoolOwner, AThreadThatComesLaterHasARecordOfEachClass) {
  SizeClass last{};
  for (int i = 0; i < 5'000; ++i) last = acquire(64);  // more than a cache has at first, before there is one
  void* const block = detail::pop(detail::own_cache(), record_of_class(last));
  EXPECT_EQ(block, nullptr);
  tarn::deallocate(allocate(last));
  EXPECT_NE(this_heap(), nullptr);
  EXPECT_NE(detail::pop(detail::own_cache(), record_of_class(last)), nullptr);
}

TEST(PoolOwner, TheMagazineOfAClassThatIsNewToAHeapIsNoIdleOne) {
  SizeClass last{};
  while (index_of_class(last) != PerClass<int>::kInBlock) last = acquire(16 * 1024);
  // Slabs beyond what a heap may have before it looks for idle classes; the next look comes to `last`.
  std::vector<void*> blocks;
  for (int i = 0; i < 100; ++i) blocks.push_back(tarn::allocate(16 * 1024));
  this_heap()->last_class_looked_at = index_of_class(last) - 1;
  this_heap()->home->looked_at_bytes = 0;
  void* const block = allocate(last);
  test::validate_library();
  EXPECT_EQ(page_map.find(block)->size_class.load(), last);
  blocks.push_back(block);
  for (void* const each : blocks) tarn::deallocate(each);
}

TEST(PoolOwner, OtherThreadsUseAClassThatIsNewToThem) {
  std::barrier together(2);
  SizeClass size_class{};
  std::thread other([&] {
    for (int i = 0; i < 200; ++i) tarn::deallocate(tarn::allocate(64));  // has a cache
    together.arrive_and_wait();
    together.arrive_and_wait();
    std::vector<void*> blocks;
    for (int i = 0; i < 1000; ++i) blocks.push_back(allocate(size_class));
    for (void* const block : blocks) tarn::deallocate(block);
  });
  together.arrive_and_wait();
  for (int i = 0; i < 2'000; ++i) size_class = acquire(48);
  together.arrive_and_wait();
  other.join();
  test::validate_library();
}

TEST(PoolOwner, BlocksHaveTheirSizeAlignmentAndAnExactIndex) {
  for (const std::size_t alignment : {1u, 8u, 16u, 64u, 256u, 4096u})
    for (const std::size_t bytes :
         {std::size_t{1}, std::size_t{8}, std::size_t{100}, std::size_t{512}, std::size_t{1000},
          std::size_t{4096}, std::size_t{30000}, std::size_t{262144}}) {
      const SizeClass size_class = acquire(bytes, alignment);
      const ClassGeometry& geometry = class_geometry[size_class];
      EXPECT_GE(geometry.stride, bytes);
      EXPECT_EQ(geometry.stride % alignment, 0u);
      EXPECT_GE(geometry.block_count, 1u);
      for (std::uint32_t i = 0; i < geometry.block_count; ++i)
        ASSERT_EQ(index_of(geometry, i * geometry.stride), BlockIndex{i});
      std::vector<void*> blocks;
      for (int i = 0; i < 50; ++i) {
        blocks.push_back(allocate(size_class));
        ASSERT_EQ(address_of(blocks.back()) % alignment, 0u) << bytes;
      }
      EXPECT_EQ(census(size_class).live_count, 50u);
      for (void* block : blocks) tarn::deallocate(block);
      EXPECT_EQ(census(size_class).live_count, 0u);
      release(size_class);
    }
}

TEST(PoolOwner, AReleasedClassWaitsForItsLiveBlocks) {
  const SizeClass first = acquire(100);
  void* const block = allocate(first);
  release(first);
  const SizeClass second = acquire(5000);
  EXPECT_NE(second, first);
  tarn::deallocate(block);
  tarn::trim();
  EXPECT_EQ(acquire(5000), first);
  EXPECT_GE(class_geometry[first].stride, 5000u) << "it has the new pool's size";
}

TEST(PoolOwner, LiveBlocksAreVisitedInAddressOrder) {
  const SizeClass size_class = acquire(48);
  std::set<void*> live;
  for (int i = 0; i < 10000; ++i) live.insert(allocate(size_class));
  for (auto block = live.begin(); block != live.end();) {
    tarn::deallocate(*block);
    block = live.erase(block);
    if (block != live.end()) ++block;
  }
  settle(size_class);
  std::vector<void*> visited;
  visit_live_blocks(owner_of(size_class), size_class, [&](void* block) { visited.push_back(block); });
  EXPECT_EQ(visited, std::vector<void*>(live.begin(), live.end()));
  for (void* block : visited) mark_block_free(block);
  EXPECT_EQ(census(size_class).live_count, 0u);
  settle(size_class);
  EXPECT_EQ(census(size_class).slab_bytes, 0u);
}

TEST(PoolOwner, SlabsOfAnEndingClassAreLeftAlone) {
  const SizeClass size_class = acquire(1000);
  std::vector<void*> blocks;
  for (int i = 0; i < 200; ++i) blocks.push_back(allocate(size_class));
  for (std::size_t i = 1; i < blocks.size(); ++i) tarn::deallocate(blocks[i]);
  begin_to_end(owner_of(size_class));
  settle(size_class);
  mark_block_free(blocks[0]);
  const std::size_t held = census(size_class).slab_bytes;
  EXPECT_GT(held, 0u);
  tarn::trim();
  EXPECT_EQ(census(size_class).slab_bytes, held) << "though all its blocks are free";
  settle(size_class);
  EXPECT_EQ(census(size_class).slab_bytes, 0u);
  release_pool_owner(owner_of(size_class));
}

TEST(PoolOwner, BecomesPartsWhereThreadsWaitAndIsCountedAsOne) {
  if (os::processor_count() < 2) GTEST_SKIP() << "a part for each processor";
  const SizeClass size_class = acquire(100);
  SlabOwner& pool = owner_of(size_class);
  std::barrier together(2);
  std::vector<void*> own, others;
  const auto take_1000 = [&](std::vector<void*>& blocks) {
    for (int i = 0; i < 1000; ++i) blocks.push_back(allocate(size_class));
  };
  std::thread other([&] {
    for (int i = 0; i < 200; ++i) tarn::deallocate(tarn::allocate(64));  // has an owner
    together.arrive_and_wait();
    together.arrive_and_wait();
    take_1000(others);
    together.arrive_and_wait();
    for (void* const block : own) tarn::deallocate(block);
    together.arrive_and_wait();
  });
  for (int i = 0; i < 200; ++i) tarn::deallocate(tarn::allocate(64));
  together.arrive_and_wait();
  for (int i = 0; i < 16; ++i) owners.note_wait(pool);
  EXPECT_EQ(pool.others_in_use.load(), 1u);
  take_1000(own);
  together.arrive_and_wait();
  together.arrive_and_wait();
  EXPECT_NE(pool.slab_bytes, 0u);
  EXPECT_NE(pool.other_parts[0].load()->slab_bytes, 0u);
  const std::size_t at_peak = largest_taken_bytes(pool);
  EXPECT_GE(at_peak, 2000u * class_geometry[size_class].stride);
  for (void* const block : others) tarn::deallocate(block);
  together.arrive_and_wait();
  other.join();
  EXPECT_EQ(census(size_class).live_count, 0u);
  test::validate_library();
  release(size_class);
  EXPECT_EQ(pool.slab_bytes, 0u);
  EXPECT_EQ(pool.other_parts[0].load()->slab_bytes, 0u);
  EXPECT_EQ(acquire(100), size_class) << "no slab of a part is left";
  EXPECT_EQ(pool.others_in_use.load(), 0u);
}

TEST(PoolOwner, ASlabWhoseFreeWasLeftHalfWayIsListedAgain) {
  const SizeClass size_class = acquire(1000);
  SlabOwner& pool = owner_of(size_class);
  std::vector<void*> blocks;
  do blocks.push_back(allocate(size_class));
  while (pool.of(size_class).full.is_empty());
  {
    os::LockGuard guard(pool.mutex);
    Span& slab = *pool.of(size_class).full.first();
    slab.free_bits[0] |= 1;  // and not yet counted
    put_right_locked(pool);
    EXPECT_TRUE(slab.is_listed());
    EXPECT_EQ(slab.free_count, 1u);
    slab.free_bits[0] &= ~std::uint64_t{1};
    put_right_locked(pool);
    EXPECT_FALSE(slab.is_listed());
  }
  for (void* const block : blocks) tarn::deallocate(block);
  test::validate_library();
  release(size_class);
}

}  // namespace
}  // namespace tarn::internal
