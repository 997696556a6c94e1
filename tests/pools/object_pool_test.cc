// ObjectPool: what constructors and destructors may do, which thread may do it, and what remains when a pool
// ends.
#include "tarn/object_pool.h"

#include <deque>

#include "central/owners.h"
#include "support/child.h"
#include "support/content.h"
#include "support/prelude.h"
#include "support/sanitizer.h"
#include "support/seed.h"
#include "support/sizes.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"
#include "tarn/pool_pointers.h"
#include "tarn/pool_use.h"

namespace tarn::test {
namespace {

template <std::size_t kBytes, std::size_t kAlignment = 1>
struct alignas(kAlignment) Bytes {
  unsigned char bytes[kBytes];
};

template <typename Object>
class OfType : public ::testing::Test {};
using Objects =
    ::testing::Types<Bytes<1>, Bytes<7>, Bytes<8>, Bytes<24>, Bytes<48, 16>, Bytes<64, 64>, Bytes<100>,
                     Bytes<512>, Bytes<512, 256>, Bytes<1000>, Bytes<4096>, Bytes<4096, 4096>, Bytes<10000>,
                     Bytes<32768>, Bytes<32769>, Bytes<65536, 4096>, Bytes<262144>>;
TYPED_TEST_SUITE(OfType, Objects);

TYPED_TEST(OfType, ObjectsAreAlignedApartAndCounted) {
  ObjectPool<TypeParam> pool;
  const std::size_t count = sizeof(TypeParam) > 20000 ? 40 : 1500;
  std::vector<TypeParam*> objects;
  for (std::size_t i = 0; i < count; ++i) {
    objects.push_back(pool.create());
    ASSERT_EQ(address(objects.back()) % alignof(TypeParam), 0u);
    fill(objects.back(), sizeof(TypeParam), i);
    ASSERT_EQ(pool.live_count(), i + 1);
  }
  for (std::size_t i = 0; i < count; ++i) ASSERT_TRUE(holds(objects[i], sizeof(TypeParam), i));
  for (std::size_t i = 0; i < count; ++i) {
    pool.destroy(objects[i]);
    ASSERT_EQ(pool.live_count(), count - i - 1);
  }
}

TYPED_TEST(OfType, ObjectsComeAndGoInEveryOrder) {
  ObjectPool<TypeParam> pool;
  Random random(sizeof(TypeParam));
  std::vector<std::pair<TypeParam*, std::uint64_t>> live;
  const std::uint64_t rounds = amount(sizeof(TypeParam) > 20000 ? 2000 : 20000, 200000);
  for (std::uint64_t i = 0; i < rounds; ++i) {
    if (live.size() < 300 && random.below(100) < (i / 1000 % 2 == 0 ? 70u : 30u)) {
      live.push_back({pool.create(), i});
      fill(live.back().first, sizeof(TypeParam), i);
    } else if (!live.empty()) {
      std::swap(live[random.below(live.size())], live.back());
      ASSERT_TRUE(holds(live.back().first, sizeof(TypeParam), live.back().second));
      random.below(8) == 0 ? tarn::deallocate(live.back().first) : pool.destroy(live.back().first);
      live.pop_back();
    }
  }
  EXPECT_EQ(pool.live_count(), live.size());
  for (const auto& [object, pattern] : live) pool.destroy(object);
  EXPECT_EQ(pool.live_count(), 0u);
}

TYPED_TEST(OfType, PrewarmedMemoryIsUsedAndStaysThroughIdleTimes) {
  ObjectPool<TypeParam> pool({.name = "prewarmed"});
  const std::size_t count = sizeof(TypeParam) > 20000 ? 30 : 1000;
  EXPECT_GE(pool.prewarm(count), count);
  auto mapped = [&] {
    std::size_t bytes = 0;
    for_each_pool(
        [](const PoolUse& use, void* context) {
          if (std::string(use.name) == "prewarmed") *static_cast<std::size_t*>(context) += use.mapped_bytes;
        },
        &bytes);
    return bytes;
  };
  const std::size_t before = mapped();
  EXPECT_GE(before, count * sizeof(TypeParam));
  for (int i = 0; i < 4; ++i) internal::owners.trim_idle(internal::LookShare::kAll);
  EXPECT_EQ(mapped(), before);
  std::vector<TypeParam*> objects;
  for (std::size_t i = 0; i < count; ++i) objects.push_back(pool.create());
  EXPECT_EQ(mapped(), before) << "nothing was made for them";
  for (TypeParam* object : objects) pool.destroy(object);
  for (int i = 0; i < 4; ++i) internal::owners.trim_idle(internal::LookShare::kAll);
  EXPECT_EQ(mapped(), before);
  EXPECT_GT(pool.release_unused(), 0u);
  EXPECT_EQ(mapped(), 0u);
}

/// Counts objects, and throws from the constructor when told to.
struct Counted {
  static inline std::size_t alive = 0, made = 0;
  explicit Counted(bool must_throw = false) {
    if (must_throw) throw std::runtime_error("as told");
    ++alive, ++made;
  }
  ~Counted() { --alive; }
  std::uint64_t payload[5] = {1, 2, 3, 4, 5};
};

TEST(ObjectPool, AConstructorThatThrowsLosesNothing) {
  ObjectPool<Counted> pool;
  Counted::alive = 0;
  std::vector<Counted*> objects;
  for (int i = 0; i < 3000; ++i) {
    if (i % 3 == 0) {
      EXPECT_THROW(static_cast<void>(pool.create(true)), std::runtime_error);
      EXPECT_THROW(static_cast<void>(pool.try_create(true)), std::runtime_error);
      EXPECT_THROW(static_cast<void>(pool.make_unique(true)), std::runtime_error);
      EXPECT_THROW(static_cast<void>(pool.make_shared(true)), std::runtime_error);
    } else {
      objects.push_back(pool.create());
    }
    ASSERT_EQ(pool.live_count(), objects.size());
  }
  EXPECT_EQ(Counted::alive, 2000u);
  for (Counted* object : objects) pool.destroy(object);
  EXPECT_EQ(Counted::alive, 0u);
  EXPECT_EQ(pool.live_count(), 0u);
}

TEST(ObjectPool, PointersThatOwnEndTheirObjectsThroughThePool) {
  ObjectPool<Counted> pool;
  Counted::alive = 0;
  {
    auto unique = pool.make_unique();
    std::shared_ptr<Counted> shared = pool.make_shared();
    const std::shared_ptr<Counted> second = shared;
    std::weak_ptr<Counted> weak = shared;
    EXPECT_EQ(pool.live_count(), 2u);
    EXPECT_EQ(Counted::alive, 2u);
    unique = pool.make_unique();
    EXPECT_EQ(pool.live_count(), 2u);
    shared.reset();
    EXPECT_FALSE(weak.expired());
    std::thread([moved = std::move(unique)] {}).join();
    EXPECT_EQ(pool.live_count(), 1u);
  }
  EXPECT_EQ(Counted::alive, 0u);
  EXPECT_EQ(pool.live_count(), 0u);
}

TEST(ObjectPool, MemoryWithoutAnObjectMayBeHadAndGivenBack) {
  ObjectPool<Counted> pool;
  Counted::alive = 0;
  void* const block = pool.allocate();
  EXPECT_EQ(pool.live_count(), 1u);
  EXPECT_EQ(Counted::alive, 0u);
  pool.deallocate(block);
  pool.deallocate(nullptr);
  pool.destroy(nullptr);
  EXPECT_EQ(pool.live_count(), 0u);
}

std::string report_of(std::size_t objects) {
  return run_in_child([&] {
           {
             ObjectPool<Counted> pool({.name = "forgotten \"things\""});
             for (std::size_t i = 0; i < objects; ++i) static_cast<void>(pool.create());
           }
           return 0;
         })
      .error;
}

TEST(ObjectPool, ThatEndsWithLiveObjectsReportsThem) {
  EXPECT_EQ(report_of(0), "");
  EXPECT_EQ(report_of(1), "tarn: 'forgotten \"things\"' ended with 1 live object of 40 bytes\n");
  EXPECT_EQ(report_of(1234), "tarn: 'forgotten \"things\"' ended with 1234 live objects of 40 bytes\n");
}

TEST(ObjectPool, ThatReportedLeavesItsObjectsValid) {
  const ChildResult result = run_in_child([] {
    Counted* object = nullptr;
    {
      ObjectPool<Counted> pool;
      object = pool.create();
    }
    const bool is_whole = object->payload[4] == 5;
    object->~Counted();
    tarn::deallocate(object);
    return is_whole ? 0 : 1;
  });
  EXPECT_TRUE(result.is_success()) << result.describe();
}

/// Notes the order in which its objects end.
struct Ordered {
  explicit Ordered(std::vector<Ordered*>* list) : ended(list) {}
  ~Ordered() { ended->push_back(this); }
  std::vector<Ordered*>* ended;
  int payload = 7;
};

TEST(ObjectPool, ThatIsToDestroyRunsEveryDestructorOnceInAddressOrder) {
  std::vector<Ordered*> ended;
  std::set<Ordered*> live;
  {
    ObjectPool<Ordered> pool({.at_end = AtPoolEnd::kDestroy});
    std::deque<Ordered*> objects;
    for (int i = 0; i < 20000; ++i) objects.push_back(pool.create(&ended));
    for (int i = 0; i < 20000; i += 3) pool.destroy(objects[static_cast<std::size_t>(i)]), ended.clear();
    for (int i = 0; i < 20000; ++i)
      if (i % 3 != 0) live.insert(objects[static_cast<std::size_t>(i)]);
  }
  EXPECT_EQ(ended, std::vector<Ordered*>(live.begin(), live.end()));
}

TEST(ObjectPool, ThatIsToDestroyFindsObjectsOfAllThreads) {
  std::size_t expected = 0;
  Counted::alive = 0;
  {
    ObjectPool<Counted> pool({.at_end = AtPoolEnd::kDestroy});
    std::vector<Counted*> objects;
    for (int i = 0; i < 4; ++i)
      std::thread([&] {
        for (int k = 0; k < 1000; ++k) objects.push_back(pool.create());
        for (int k = 0; k < 100; ++k) pool.destroy(objects.back()), objects.pop_back();
        for (int k = 0; k < 50; ++k) pool.destroy(objects[static_cast<std::size_t>(k)]);
        objects.erase(objects.begin(), objects.begin() + 50);
      }).join();
    expected = objects.size();
    EXPECT_EQ(pool.live_count(), expected);
    EXPECT_EQ(Counted::alive, expected);
  }
  EXPECT_EQ(Counted::alive, 0u);
}

/// Owns another object of its pool.
struct Node {
  Node(ObjectPool<Node>* its_pool, Node* its_child) : pool(its_pool), child(its_child) { ++alive; }
  ~Node() {
    --alive;
    pool->destroy(child);
  }
  static inline int alive = 0;
  ObjectPool<Node>* pool;
  Node* child;
};

// Those of higher addresses: what the pool has destroyed already is destroyed.
TEST(ObjectPool, DestructorsAtItsEndMayDestroyObjectsThatAreStillLive) {
  Node::alive = 0;
  {
    ObjectPool<Node> pool({.at_end = AtPoolEnd::kDestroy});
    for (int i = 0; i < 200; ++i) {
      Node* last = pool.create(&pool, nullptr);
      for (int depth = 0; depth < 20; ++depth) last = last->child = pool.create(&pool, nullptr);
    }
    EXPECT_EQ(Node::alive, 200 * 21);
  }
  EXPECT_EQ(Node::alive, 0);
}

TEST(ObjectPool, ThatHandsOverLeavesObjectsForTarnDeallocate) {
  std::vector<Counted*> objects;
  Counted::alive = 0;
  {
    ObjectPool<Counted> pool({.at_end = AtPoolEnd::kHandOver});
    for (int i = 0; i < 5000; ++i) objects.push_back(pool.create());
    for (int i = 0; i < 1000; ++i) pool.destroy(objects.back()), objects.pop_back();
  }
  std::set<void*> others;
  ObjectPool<Counted> next;
  for (int i = 0; i < 2000; ++i) others.insert(next.create());
  for (Counted* object : objects) {
    EXPECT_EQ(object->payload[2], 3u);
    EXPECT_EQ(others.count(object), 0u) << "the next pool has other memory";
    object->~Counted();
    tarn::deallocate(object);
  }
  for (void* other : others) next.destroy(static_cast<Counted*>(other));
  EXPECT_EQ(next.live_count(), 0u);
  EXPECT_EQ(Counted::alive, 0u);
}

unsigned classes_that_pools_had() { return internal::end_of_classes.load(); }

TEST(ObjectPool, APoolsClassIsFreeForTheNextOneWhenItsObjectsAre) {
  const unsigned before = classes_that_pools_had();
  for (int i = 0; i < 500; ++i) {
    ObjectPool<Bytes<40>> pool({.at_end = AtPoolEnd::kHandOver});
    pool.destroy(pool.create());
    std::thread([&] { pool.destroy(pool.create()); }).join();
  }
  EXPECT_LE(classes_that_pools_had(), before + 1);
}

TEST(ObjectPool, APoolsClassIsFreeWhenObjectsItHandedOverAre) {
  const unsigned before = classes_that_pools_had();
  for (int i = 0; i < 500; ++i) {
    std::vector<void*> objects;
    {
      ObjectPool<Bytes<40>> pool({.at_end = AtPoolEnd::kHandOver});
      for (int k = 0; k < 100; ++k) objects.push_back(pool.create());
    }
    for (void* object : objects) tarn::deallocate(object);
    tarn::trim();
    ObjectPool<Bytes<3000>> larger;
    larger.destroy(larger.create());
  }
  EXPECT_LE(classes_that_pools_had(), before + 2);
}

TEST(ObjectPool, AnyNumberOfPoolsLivesAtOnce) {
  constexpr std::size_t kPools = 200;
  std::vector<std::unique_ptr<ObjectPool<Counted>>> pools;
  std::vector<std::vector<Counted*>> objects(kPools);
  for (std::size_t i = 0; i < kPools; ++i)
    pools.push_back(std::make_unique<ObjectPool<Counted>>(ObjectPoolOptions{.name = "one of many"}));
  std::set<void*> all;
  for (int round = 0; round < 30; ++round)
    for (std::size_t i = 0; i < kPools; ++i) {
      objects[i].push_back(pools[i]->create());
      all.insert(objects[i].back());
    }
  EXPECT_EQ(all.size(), kPools * 30);
  std::thread([&] {
    for (std::size_t i = 0; i < kPools; ++i) pools[i]->destroy(objects[i].back()), objects[i].pop_back();
  }).join();
  for (std::size_t i = 0; i < kPools; ++i) {
    EXPECT_EQ(pools[i]->live_count(), 29u);
    EXPECT_GE(pools[i]->prewarm(100), 100u);
    tarn::deallocate(objects[i].back());
    objects[i].pop_back();
    for (Counted* object : objects[i]) pools[i]->destroy(object);
    EXPECT_EQ(pools[i]->live_count(), 0u);
  }
}

TEST(ObjectPool, APoolDestroysWhatThreadsThatTookTurnsLeave) {
  Counted::alive = Counted::made = 0;
  {
    ObjectPool<Counted> pool({.at_end = AtPoolEnd::kDestroy});
    std::vector<Counted*> objects;
    for (std::ptrdiff_t turn = 0; turn < 80; ++turn) {
      for (int i = 0; i < 10; ++i) objects.push_back(pool.create());
      std::thread([&] {
        objects.push_back(pool.create());
        const auto first = objects.begin() + 6 * turn;
        for (auto object = first; object != first + 5; ++object) pool.destroy(*object);
        objects.erase(first, first + 5);
      }).join();
    }
    EXPECT_EQ(pool.live_count(), 80u * 6);
    EXPECT_EQ(Counted::alive, 80u * 6);
    EXPECT_EQ(std::set<Counted*>(objects.begin(), objects.end()).size(), 80u * 6);
  }
  EXPECT_EQ(Counted::alive, 0u);
  EXPECT_EQ(Counted::made, 80u * 11);
}

TEST(ObjectPool, ObjectsMayEndInAnyThreadAndAfterTheirOwn) {
  ObjectPool<Counted> pool;
  std::vector<Counted*> objects;
  for (int round = 0; round < 20; ++round) {
    std::thread([&] {
      for (int i = 0; i < 500; ++i) objects.push_back(new (pool.allocate()) Counted);
      for (int i = 0; i < 100; ++i)
        pool.destroy(objects[static_cast<std::size_t>(i) * 3]),
            objects[static_cast<std::size_t>(i) * 3] = nullptr;
    }).join();
    std::erase(objects, nullptr);
    EXPECT_EQ(pool.live_count(), objects.size());
    std::thread([&] {
      for (int i = 0; i < 300; ++i) pool.destroy(objects.back()), objects.pop_back();
    }).join();
    EXPECT_EQ(pool.live_count(), objects.size());
  }
  for (Counted* object : objects) pool.destroy(object);
  EXPECT_EQ(pool.live_count(), 0u);
}

TEST(ObjectPool, WhatOtherThreadsFreedIsUsedAgain) {
  ObjectPool<Bytes<100>> pool({.name = "reused"});
  const auto mapped = [] {
    std::size_t bytes = 0;
    for_each_pool(
        [](const PoolUse& use, void* context) {
          if (std::string(use.name) == "reused") *static_cast<std::size_t*>(context) = use.mapped_bytes;
        },
        &bytes);
    return bytes;
  };
  std::size_t mapped_at_first = 0;
  for (int round = 0; round < 50; ++round) {
    std::vector<Bytes<100>*> objects;
    for (int i = 0; i < 20000; ++i) objects.push_back(pool.create());
    if (round == 0) mapped_at_first = mapped();
    std::thread([&] {
      for (Bytes<100>* object : objects) pool.destroy(object);
    }).join();
    ASSERT_LE(mapped(), mapped_at_first * 9 / 8) << round;
  }
}

TEST(ObjectPool, ObjectsMadeInAHeapsScopeAreThePoolsAllTheSame) {
  ObjectPool<Counted> pool;
  Heap heap("scope");
  Counted* const before = pool.create();
  Counted* inside = nullptr;
  {
    HeapScope scope(heap);
    inside = pool.create();
    EXPECT_FALSE(heap.owns(inside));
    EXPECT_EQ(pool.live_count(), 2u);
    pool.destroy(before);
    EXPECT_EQ(pool.live_count(), 1u);
  }
  pool.destroy(inside);
  EXPECT_EQ(pool.live_count(), 0u);
  EXPECT_EQ(heap.use().live_count, 0u);
}

TEST(ObjectPool, ReleaseUnusedGivesEverySlabWithoutLiveObjectsBack) {
  ObjectPool<Bytes<1000>> pool;
  std::vector<Bytes<1000>*> objects;
  for (int i = 0; i < 5000; ++i) objects.push_back(pool.create());
  Bytes<1000>* const kept = objects[2500];
  for (Bytes<1000>* object : objects)
    if (object != kept) pool.destroy(object);
  EXPECT_GT(pool.release_unused(), 0u);
  EXPECT_EQ(pool.live_count(), 1u);
  pool.destroy(kept);
  EXPECT_GT(pool.release_unused(), 0u) << "it held its slab";
  EXPECT_EQ(pool.release_unused(), 0u);
}

TEST(ObjectPool, MoreObjectsThanThereAreAddressesAreRefusedAtOnce) {
  EXPECT_THROW(ObjectPool<Bytes<64>>({.initial_count = SIZE_MAX}), std::bad_alloc);
  ObjectPool<Bytes<64>> pool;
  EXPECT_EQ(pool.prewarm(SIZE_MAX / 64), 0u);
}

TEST(ObjectPool, ACountTakenAtTheStartIsBacked) {
  ObjectPool<Bytes<64>> pool({.initial_count = 10000});
  EXPECT_EQ(pool.live_count(), 0u);
  EXPECT_GE(pool.prewarm(0), 0u);
}

}  // namespace
}  // namespace tarn::test
