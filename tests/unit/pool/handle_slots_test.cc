#include "tarn/detail/handle_slots.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <memory>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "pool/handle_pool_state.h"
#include "tarn/handle_pool.h"
#include "tarn/memory_pool.h"
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

TEST(HandleSlots, ChunksHaveSixtyFourKibibytesOrFourObjects) {
  EXPECT_EQ(detail::handle_chunk_shift(1), 10u);
  EXPECT_EQ(detail::handle_chunk_shift(64), 10u);
  EXPECT_EQ(detail::handle_chunk_shift(65), 9u);
  EXPECT_EQ(detail::handle_chunk_shift(256), 8u);
  EXPECT_EQ(detail::handle_chunk_shift(16384), 2u);
  EXPECT_EQ(detail::handle_chunk_shift(262144), 2u);
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
  const std::uint32_t slots = HandlePoolAccess::front(pool).slot_count;
  std::set<std::uint32_t> used;
  std::vector<Handle<Thing>> again;
  for (int i = 0; i < 1999; ++i) again.push_back(pool.create(i));
  EXPECT_EQ(HandlePoolAccess::front(pool).slot_count, slots) << "chunks get their memory again";
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
  detail::HandleChunk& chunk = *HandlePoolAccess::front(pool).chunks.load()[0];
  chunk.generations()[handle.slot] = HandleFront::kLastGeneration - 1;
  std::uint64_t& next = *HandlePoolAccess::front(pool).magazine().top.load();
  ASSERT_EQ(detail::slot_of(next), handle.slot);
  next = detail::handle_word(handle.slot, HandleFront::kLastGeneration);
  handle = pool.create(2);
  EXPECT_EQ(handle.generation, HandleFront::kLastGeneration);
  EXPECT_EQ(pool.at(handle).value, 2);
  EXPECT_TRUE(pool.destroy(handle));
  EXPECT_EQ(pool.get(handle), nullptr);
  EXPECT_FALSE(pool.destroy(handle));
  EXPECT_EQ(pool.get({handle.slot, HandleFront::kRetired}), nullptr);
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

TEST(HandleSlots, EveryThreadOfSeveralHasSlotsAtHandAndNoneIsLost) {
  Things pool;
  constexpr unsigned kThreads = 4;
  std::barrier all(kThreads);
  std::vector<std::thread> threads;
  std::vector<std::vector<Handle<Thing>>> handles(kThreads);
  for (unsigned t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
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
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pool.live_count(), 0u);
  validate(HandlePoolAccess::state(pool));
  pool.release_unused();
  validate(HandlePoolAccess::state(pool));
}

// The magazine of the calling thread.
const detail::HandleMagazine& own_magazine(Things& pool) { return HandlePoolAccess::front(pool).magazine(); }

template <typename Work>
void on_another_thread(Work work) {
  std::thread(work).join();
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
  EXPECT_FALSE(own_magazine(pool).is_shared) << "another thread's own objects are its own affair";
  on_another_thread([&] {
    EXPECT_TRUE(pool.destroy(handles[50]));
    EXPECT_FALSE(pool.destroy(handles[50]));
  });
  EXPECT_TRUE(own_magazine(pool).is_shared);
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
  EXPECT_FALSE(own_magazine(pool).is_shared);
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

TEST(HandleSlots, AThreadWithoutANumberHasNoMagazineAndLosesNoSlot) {
  Things pool;
  on_another_thread([&] {
    const ThreadHeap* const heap = attach_this_thread();
    ASSERT_NE(heap, nullptr);
    const std::uint32_t number = std::exchange(heap->cache->thread_number, 0u);
    std::vector<Handle<Thing>> handles;
    for (int i = 0; i < 300; ++i) handles.push_back(pool.create(i));
    EXPECT_EQ(&own_magazine(pool), &detail::no_handle_magazine.magazine);
    for (int i = 0; i < 300; ++i) EXPECT_EQ(pool.at(handles[static_cast<std::size_t>(i)]).value, i);
    for (const Handle<Thing>& handle : handles) EXPECT_TRUE(pool.destroy(handle));
    for (const Handle<Thing>& handle : handles) EXPECT_FALSE(pool.destroy(handle));
    heap->cache->thread_number = number;
  });
  validate(HandlePoolAccess::state(pool));
  EXPECT_EQ(pool.live_count(), 0u);
}

TEST(HandleSlots, AThreadThatOnlyEndsObjectsHasAMagazine) {
  Things pool;
  std::vector<Handle<Thing>> handles;
  for (int i = 0; i < 1000; ++i) handles.push_back(pool.create(i));
  std::thread([&] {
    ASSERT_NE(attach_this_thread(), nullptr);
    if (this_heap()->cache->thread_number == 0) GTEST_SKIP();
    for (const Handle<Thing> handle : handles) ASSERT_TRUE(pool.destroy(handle));
    detail::HandleMagazine* const magazine =
        detail::magazine_of(HandlePoolAccess::state(pool), this_heap()->cache->thread_number);
    ASSERT_NE(magazine, nullptr);
    EXPECT_GT(count_of(*magazine), 0u);
  }).join();
  validate(HandlePoolAccess::state(pool));
}

TEST(HandleSlots, WhatAnEndedThreadHadAtHandGoesBack) {
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
  std::sort(expected.begin(), expected.end());
  pool.for_each_live([&](Handle<Thing> handle, const Thing& thing) {
    EXPECT_EQ(pool.get(handle), &thing);
    visited.push_back(&thing);
  });
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
