#include "tarn/detail/handle_slots.h"

#include "pool/handles/handle_pool_state.h"
#include "support/prelude.h"
#include "support/threads.h"
#include "tarn/handle_pool.h"
#include "tarn/memory_pool.h"
#include "thread/magazine.h"
#include "thread/this_thread.h"
#include "unit/pool/over_malloc.h"

namespace tarn::internal {
namespace {

using detail::HandleFront;
using detail::HandlePoolAccess;

struct Thing {
  explicit Thing(int number) : value(number) {}
  int value;
  char payload[252] = {};
};

using Things = HandlePool<Thing>;

template <typename Work>
void on_another_thread(Work work) {
  std::thread(work).join();
}

TEST(HandleSlots, GroupsHaveSixtyFourKibibytesOrFourObjects) {
  EXPECT_EQ(detail::handle_group_shift(1), 10u);
  EXPECT_EQ(detail::handle_group_shift(64), 10u);
  EXPECT_EQ(detail::handle_group_shift(65), 9u);
  EXPECT_EQ(detail::handle_group_shift(256), 8u);
  EXPECT_EQ(detail::handle_group_shift(16384), 2u);
  EXPECT_EQ(detail::handle_group_shift(262144), 2u);
}

TEST(HandleSlots, AWordHasGenerationMakerAndSlot) {
  constexpr std::uint64_t kWord = 7 * detail::kOneGeneration | detail::maker_bits(9) | 123456;
  EXPECT_EQ(detail::maker_of(kWord), 9u);
  EXPECT_EQ(detail::generation_of(detail::handle_of(kWord)), 7u);
  EXPECT_EQ(detail::slot_of(detail::handle_of(kWord)), 123456u);
  EXPECT_EQ(detail::handle_of(detail::maker_bits(detail::kNoMaker)), 0u);
}

TEST(HandleSlots, MemoryWithoutObjectsGoesBackAndTheGenerationsStay) {
  Things pool;
  std::vector<Handle<Thing>> handles;
  for (int i = 0; i < 2000; ++i) handles.push_back(pool.create(i));
  validate(HandlePoolAccess::state(pool));
  const std::size_t mapped = HandlePoolAccess::state(pool).mapped_bytes;
  for (std::size_t i = 1; i < handles.size(); ++i) pool.destroy(handles[i]);
  const std::size_t released = pool.release_unused();
  EXPECT_GT(released, mapped / 2);
  EXPECT_EQ(HandlePoolAccess::state(pool).mapped_bytes, mapped - released);
  validate(HandlePoolAccess::state(pool));
  EXPECT_EQ(pool.at(handles[0]).value, 0);
  for (std::size_t i = 1; i < handles.size(); ++i) ASSERT_EQ(pool.get(handles[i]), nullptr);
  const std::uint32_t slots = HandlePoolAccess::front(pool).slot_count.load();
  std::set<std::uint32_t> used;
  std::vector<Handle<Thing>> again;
  for (int i = 0; i < 1999; ++i) again.push_back(pool.create(i));
  EXPECT_EQ(HandlePoolAccess::front(pool).slot_count.load(), slots) << "groups get their memory again";
  for (const Handle<Thing>& handle : again) {
    EXPECT_TRUE(used.insert(handle.slot).second);
    ASSERT_NE(pool.get(handle), nullptr);
  }
  for (std::size_t i = 1; i < handles.size(); ++i) ASSERT_EQ(pool.get(handles[i]), nullptr);
  validate(HandlePoolAccess::state(pool));
  for (const Handle<Thing>& handle : again) pool.destroy(handle);
  pool.destroy(handles[0]);
}

TEST(HandleSlots, ASlotAtItsLastGenerationIsNeverUsedAgain) {
  Things pool;
  Handle<Thing> handle = pool.create(1);
  pool.destroy(handle);
  detail::SlotWord& word = word_of_slot(HandlePoolAccess::state(pool), handle.slot);
  word.store((HandleFront::kLastGeneration - 1) * detail::kOneGeneration | (word.load() & 0xffffffff));
  handle = pool.create(2);
  EXPECT_EQ(handle.generation, HandleFront::kLastGeneration);
  EXPECT_EQ(pool.at(handle).value, 2);
  EXPECT_TRUE(pool.destroy(handle));
  EXPECT_EQ(pool.get(handle), nullptr);
  EXPECT_FALSE(pool.destroy(handle));
  EXPECT_EQ(pool.get({handle.slot, HandleFront::kLastGeneration - 1}), nullptr);
  EXPECT_EQ(pool.get({handle.slot, 1}), nullptr) << "the first object's handle";
  validate(HandlePoolAccess::state(pool));
  for (int i = 0; i < 1000; ++i) {
    const Handle<Thing> other = pool.create(i);
    EXPECT_NE(other.slot, handle.slot);
    pool.destroy(other);
  }
  EXPECT_NE(pool.release_unused(), 0u) << "a retired slot keeps no memory";
  std::vector<Handle<Thing>> all;
  for (int i = 0; i < 1000; ++i) {
    all.push_back(pool.create(i));
    ASSERT_NE(all.back().slot, handle.slot);
  }
  validate(HandlePoolAccess::state(pool));
  for (const Handle<Thing>& other : all) pool.destroy(other);
}

// With threads, too, the last generation is not the first one's forerunner.
TEST(HandleSlots, ASlotAtItsLastGenerationIsNeverUsedAgainWithThreads) {
  on_another_thread([] {
    Things pool;
    const Handle<Thing> first = pool.create(1);
    detail::SlotWord& word = word_of_slot(HandlePoolAccess::state(pool), first.slot);
    const std::uint64_t low = word.load() & 0xffffffff;
    word.store(HandleFront::kLastGeneration * detail::kOneGeneration | low);
    EXPECT_TRUE(pool.destroy({first.slot, HandleFront::kLastGeneration}));
    EXPECT_EQ(word.load(), 0u);
    for (int i = 0; i < 100; ++i) {
      const Handle<Thing> other = pool.create(i);
      EXPECT_NE(other.slot, first.slot);
      EXPECT_EQ(pool.get(first), nullptr);
      pool.destroy(other);
    }
    validate(HandlePoolAccess::state(pool));
  });
}

TEST(HandleSlots, GenerationsOutliveEveryWayToGiveMemoryBack) {
  Things pool;
  std::vector<Handle<Thing>> old;
  for (int i = 0; i < 2000; ++i) old.push_back(pool.create(i));
  for (const Handle<Thing>& handle : old) pool.destroy(handle);
  tarn::trim();
  EXPECT_EQ(HandlePoolAccess::state(pool).mapped_bytes, 0u);
  validate(HandlePoolAccess::state(pool));
  for (const Handle<Thing>& handle : old) ASSERT_EQ(pool.get(handle), nullptr);
  std::vector<void*> others;  // on the pages that went
  for (int i = 0; i < 2000; ++i) others.push_back(tarn::allocate(512));
  for (void* const block : others) std::memset(block, 0x11, 512);
  for (const Handle<Thing>& handle : old) {
    ASSERT_EQ(pool.get(handle), nullptr);
    ASSERT_FALSE(pool.destroy(handle));
  }
  const Handle<Thing> next = pool.create(1);
  EXPECT_GT(next.generation, 1u);
  pool.destroy(next);
  for (void* const block : others) tarn::deallocate(block);
  validate(HandlePoolAccess::state(pool));
}

TEST(HandleSlots, PrewarmedSlotsAreTakenWithoutMoreMemory) {
  for (const std::size_t count : {std::size_t{1}, std::size_t{256}, std::size_t{10000}}) {
    Things pool;
    EXPECT_GE(pool.prewarm(count), count);
    const std::size_t mapped = HandlePoolAccess::state(pool).mapped_bytes;
    std::vector<Handle<Thing>> handles;
    for (std::size_t i = 0; i < count; ++i) handles.push_back(pool.create(1));
    EXPECT_EQ(HandlePoolAccess::state(pool).mapped_bytes, mapped);
    for (const Handle<Thing>& handle : handles) pool.destroy(handle);
    validate(HandlePoolAccess::state(pool));
  }
}

TEST(HandleSlots, EachOfSeveralThreadsHasCachedSlotsAndNoneIsLost) {
  Things pool;
  constexpr unsigned kThreads = 4;
  std::barrier all(kThreads);
  std::vector<std::vector<Handle<Thing>>> handles(kThreads);
  test::in_threads(kThreads, [&](unsigned t) {
    // Enough calls for a heap, and so for a magazine.
    for (int i = 0; i < 5000; ++i) {
      handles[t].push_back(pool.create(i));
      if (handles[t].size() == 300)
        for (int k = 0; k < 290; ++k) {
          pool.destroy(handles[t].back());
          handles[t].pop_back();
        }
    }
    all.arrive_and_wait();
    for (const Handle<Thing>& handle : handles[(t + 1) % kThreads]) EXPECT_TRUE(pool.destroy(handle));
  });
  EXPECT_EQ(pool.live_count(), 0u);
  validate(HandlePoolAccess::state(pool));
  pool.release_unused();
  validate(HandlePoolAccess::state(pool));
}

// Whether others may end what the calling thread has made.
bool is_own_shared(Things& pool) {
  return HandlePoolAccess::state(pool).is_shared[this_heap()->cache->thread_number];
}

TEST(HandleSlots, AThreadEndsItsObjectsWithoutAnExchangeUntilAnotherEndsOne) {
  Things pool;
  std::vector<Handle<Thing>> handles;
  for (int i = 0; i < 100; ++i) handles.push_back(pool.create(i));
  on_another_thread([&] {
    EXPECT_EQ(pool.at(handles[0]).value, 0);
    const Handle<Thing> other = pool.create(7);
    EXPECT_TRUE(pool.destroy(other));
  });
  EXPECT_FALSE(is_own_shared(pool)) << "another thread's own objects are its own affair";
  on_another_thread([&] {
    EXPECT_TRUE(pool.destroy(handles[50]));
    EXPECT_FALSE(pool.destroy(handles[50]));
  });
  EXPECT_TRUE(is_own_shared(pool));
  for (std::size_t i = 0; i < handles.size(); ++i) EXPECT_EQ(pool.destroy(handles[i]), i != 50);
  for (const Handle<Thing>& handle : handles) EXPECT_FALSE(pool.destroy(handle));
  const Handle<Thing> next = pool.create(1);
  EXPECT_TRUE(pool.destroy(next));
  EXPECT_EQ(pool.live_count(), 0u);
  validate(HandlePoolAccess::state(pool));
}

TEST(HandleSlots, AnOldHandleIsRefusedInAnotherThreadAndChangesNothing) {
  Things pool;
  const Handle<Thing> old = pool.create(1);
  pool.destroy(old);
  const Handle<Thing> next = pool.create(2);
  ASSERT_EQ(next.slot, old.slot);
  on_another_thread([&] {
    EXPECT_EQ(pool.get(old), nullptr);
    EXPECT_FALSE(pool.destroy(old));
    EXPECT_FALSE(pool.destroy({old.slot, old.generation + 1}));
    EXPECT_FALSE(pool.destroy({}));
  });
  EXPECT_FALSE(is_own_shared(pool));
  EXPECT_EQ(pool.at(next).value, 2);
  pool.destroy(next);
}

// Each pool is new: its objects are their maker's alone to end until the race begins.
TEST(HandleSlots, OfTheMakerAndAnotherThreadThatEndTheSameObjectsOneSucceedsForEach) {
  constexpr int kRounds = 200, kObjects = 40;
  std::barrier round(2);
  std::unique_ptr<Things> pool;
  std::vector<Handle<Thing>> handles(kObjects);
  std::atomic<int> ended{0};
  std::thread other([&] {
    for (int i = 0; i < kRounds; ++i) {
      round.arrive_and_wait();
      for (int k = kObjects; k-- > 0;) ended += pool->destroy(handles[static_cast<std::size_t>(k)]) ? 1 : 0;
      round.arrive_and_wait();
    }
  });
  for (int i = 0; i < kRounds; ++i) {
    pool = std::make_unique<Things>();
    for (Handle<Thing>& handle : handles) handle = pool->create(i);
    ended = 0;
    round.arrive_and_wait();
    for (const Handle<Thing>& handle : handles) ended += pool->destroy(handle) ? 1 : 0;
    round.arrive_and_wait();
    ASSERT_EQ(ended, kObjects);
    ASSERT_EQ(pool->live_count(), 0u);
    validate(HandlePoolAccess::state(*pool));
  }
  other.join();
}

TEST(HandleSlots, AThreadWithoutANumberEndsByAnExchangeAndLosesNoSlot) {
  Things pool;
  on_another_thread([&] {
    const ThreadHeap* const heap = attach_this_thread();
    ASSERT_NE(heap, nullptr);
    const std::uint32_t number = std::exchange(heap->cache->thread_number, 0u);
    std::vector<Handle<Thing>> handles;
    for (int i = 0; i < 300; ++i) handles.push_back(pool.create(i));
    const auto maker = [&](std::uint32_t slot) {
      return detail::maker_of(word_of_slot(HandlePoolAccess::state(pool), slot).load());
    };
    for (const Handle<Thing>& handle : handles) EXPECT_EQ(maker(handle.slot), 0u);
    for (int i = 0; i < 300; ++i) EXPECT_EQ(pool.at(handles[static_cast<std::size_t>(i)]).value, i);
    for (const Handle<Thing>& handle : handles) EXPECT_TRUE(pool.destroy(handle));
    for (const Handle<Thing>& handle : handles) EXPECT_FALSE(pool.destroy(handle));
    heap->cache->thread_number = number;
  });
  validate(HandlePoolAccess::state(pool));
  EXPECT_EQ(pool.live_count(), 0u);
}

TEST(HandleSlots, AThreadThatOnlyEndsObjectsCachesTheirSlots) {
  Things pool;
  std::vector<Handle<Thing>> handles;
  for (int i = 0; i < 1000; ++i) handles.push_back(pool.create(i));
  std::thread([&] {
    ASSERT_NE(attach_this_thread(), nullptr);
    for (const Handle<Thing> handle : handles) ASSERT_TRUE(pool.destroy(handle));
    EXPECT_GT(count_of(*this_heap(), HandlePoolAccess::state(pool).size_class), 0u);
  }).join();
  validate(HandlePoolAccess::state(pool));
}

TEST(HandleSlots, WhatAnEndedThreadHadCachedGoesBack) {
  Things pool;
  std::thread([&] {
    ASSERT_NE(attach_this_thread(), nullptr);
    std::vector<Handle<Thing>> handles;
    for (int i = 0; i < 2000; ++i) handles.push_back(pool.create(i));
    for (const Handle<Thing> handle : handles) ASSERT_TRUE(pool.destroy(handle));
  }).join();
  EXPECT_GT(pool.release_unused(), 0u);
  EXPECT_EQ(HandlePoolAccess::state(pool).mapped_bytes, 0u);
  validate(HandlePoolAccess::state(pool));
}

TEST(HandleSlots, APoolThatHandedItsObjectsOverEndsWithTheLastOfThem) {
  unsigned classes = 0;
  for (int round = 0; round < 50; ++round) {
    std::vector<Thing*> things;
    {
      Things pool({.name = "handed over", .at_end = AtPoolEnd::kHandOver});
      for (int i = 0; i < 600; ++i) things.push_back(pool.get(pool.create(i)));
      for (int i = 0; i < 1000; ++i) static_cast<void>(pool.destroy(pool.create(i)));
      if (round == 0) classes = end_of_classes;
    }
    for (Thing* const thing : things) tarn::deallocate(thing);
  }
  EXPECT_EQ(end_of_classes, classes) << "the next pool has what the last one had";
}

TEST(HandleSlots, WhatIsHandedOverIsFreedByItsAddress) {
  Thing* thing = nullptr;
  {
    Things pool({.name = "handed over", .at_end = AtPoolEnd::kHandOver});
    for (int i = 0; i < 1000; ++i) static_cast<void>(pool.destroy(pool.create(i)));
    thing = pool.get(pool.create(7));
  }
  EXPECT_EQ(thing->value, 7);
  EXPECT_EQ(tarn::usable_size(thing), sizeof(Thing));
  thing->~Thing();
  tarn::deallocate(thing);
}

TEST(HandleSlots, AFreeOfASlotByItsAddressIsNone) {
  Things pool({.name = "things"});
  const Handle<Thing> handle = pool.create(1);
  void* const word = &word_of_slot(HandlePoolAccess::state(pool), handle.slot);
  EXPECT_DEATH(tarn::deallocate(word), "free of a pointer that is no block of the pool in 'things'");
  pool.destroy(handle);
}

TEST(HandleSlots, PoolsThatComeAndGoLeaveNothing) {
  const auto use = [](int objects) {
    Things pool;
    std::vector<Handle<Thing>> handles;
    for (int i = 0; i < objects; ++i) handles.push_back(pool.create(i));
    for (const Handle<Thing>& handle : handles) pool.destroy(handle);
  };
  use(10000);
  const unsigned classes = end_of_classes;
  for (int i = 0; i < 50; ++i) use(100);
  EXPECT_EQ(end_of_classes, classes) << "the next pool has what the last one had";
}

using HandleSlotsOverMalloc = OverMalloc;

TEST_F(HandleSlotsOverMalloc, EachObjectIsABlockOfMallocs) {
  Things pool({.at_end = AtPoolEnd::kDestroy});
  std::vector<Handle<Thing>> handles;
  for (int i = 0; i < 1000; ++i) handles.push_back(pool.create(i));
  for (std::size_t i = 0; i < handles.size(); i += 2) EXPECT_TRUE(pool.destroy(handles[i]));
  EXPECT_EQ(pool.release_unused(), 0u);
  std::vector<const Thing*> expected, visited;
  for (std::size_t i = 0; i < handles.size(); ++i)
    if (i % 2 == 0) {
      ASSERT_EQ(pool.get(handles[i]), nullptr);
    } else {
      expected.push_back(&pool.at(handles[i]));
    }
  pool.for_each_live([&](Handle<Thing> handle, const Thing& thing) {
    EXPECT_EQ(pool.get(handle), &thing);
    visited.push_back(&thing);
  });
  std::sort(expected.begin(), expected.end());
  std::sort(visited.begin(), visited.end());
  EXPECT_EQ(visited, expected);
  validate(HandlePoolAccess::state(pool));
}

TEST_F(HandleSlotsOverMalloc, WhatIsHandedOverIsFreedByItsAddress) {
  Thing* thing = nullptr;
  {
    Things pool({.at_end = AtPoolEnd::kHandOver});
    thing = pool.get(pool.create(7));
  }
  EXPECT_EQ(thing->value, 7);
  tarn::deallocate(thing);
}

}  // namespace
}  // namespace tarn::internal
