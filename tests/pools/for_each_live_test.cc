// Walks over live blocks against a model: a map of every block by its address.
#include "support/prelude.h"
#include "support/seed.h"
#include "tarn/fixed_pool.h"
#include "tarn/handle_pool.h"
#include "tarn/object_pool.h"

namespace tarn::test {
namespace {

struct Entity {
  explicit Entity(std::uint64_t its_number) : number(its_number) {}
  std::uint64_t number;
  char payload[64 - sizeof(number)] = {};
};

/// A pool of raw blocks as one of entities.
template <typename Pool>
class EntitiesInBlocks {
 public:
  Entity* create(std::uint64_t number) { return ::new (pool_.allocate()) Entity(number); }
  void destroy(Entity* entity) { pool_.deallocate(entity); }
  template <typename Visit>
  void for_each_live(Visit visit) {
    pool_.for_each_live([&](void* block) { visit(*static_cast<Entity*>(block)); });
  }
  std::size_t release_unused() { return pool_.release_unused(); }
  std::size_t live_count() { return pool_.live_count(); }
  Pool& pool() { return pool_; }

 private:
  Pool pool_{FixedPoolOptions{.block_bytes = sizeof(Entity), .blocks_per_chunk = 100}};
};

class EntitiesInObjectPool : public ObjectPool<Entity, LiveObjects::kListed> {
 public:
  EntitiesInObjectPool() : ObjectPool({.at_end = AtPoolEnd::kDestroy}) {}
};

class EntitiesInHandlePool {
 public:
  Entity* create(std::uint64_t number) {
    const Handle<Entity> handle = pool_.create(number);
    Entity* const entity = pool_.get(handle);
    handles_[entity] = handle;
    return entity;
  }
  void destroy(Entity* entity) {
    EXPECT_TRUE(pool_.destroy(handles_.at(entity)));
    handles_.erase(entity);
  }
  template <typename Visit>
  void for_each_live(Visit visit) {
    pool_.for_each_live([&](Handle<Entity> handle, Entity& entity) {
      EXPECT_EQ(handles_.at(&entity), handle);
      visit(entity);
    });
  }
  std::size_t release_unused() { return pool_.release_unused(); }
  std::size_t live_count() { return pool_.live_count(); }

 private:
  HandlePool<Entity> pool_{{.at_end = AtPoolEnd::kDestroy}};
  std::map<Entity*, Handle<Entity>> handles_;
};

template <typename Entities>
class ForEachLive : public ::testing::Test {
 protected:
  using Model = std::map<Entity*, std::uint64_t>;

  Entity* create() {
    Entity* const entity = entities_.create(++last_number_);
    EXPECT_TRUE(model_.emplace(entity, last_number_).second);
    return entity;
  }
  void destroy(Entity* entity) {
    ASSERT_EQ(model_.erase(entity), 1u);
    entities_.destroy(entity);
  }
  Entity* any() {
    auto place = model_.begin();
    std::advance(place, static_cast<std::ptrdiff_t>(random_.below(model_.size())));
    return place->first;
  }
  void create_many(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) create();
  }
  void check_walk() {
    auto expected = model_.begin();
    entities_.for_each_live([&](Entity& entity) {
      ASSERT_NE(expected, model_.end());
      ASSERT_EQ(&entity, expected->first) << "in address order, none twice, none left out";
      ASSERT_EQ(entity.number, expected->second);
      ++expected;
    });
    EXPECT_EQ(expected, model_.end());
  }

  std::uint64_t seed_ = fresh_seed();
  Random random_{seed_};
  std::uint64_t last_number_ = 0;
  Model model_;
  Entities entities_;
};

using AllPools = ::testing::Types<EntitiesInBlocks<FixedPool>, EntitiesInBlocks<SharedFixedPool>,
                                  EntitiesInObjectPool, EntitiesInHandlePool>;
TYPED_TEST_SUITE(ForEachLive, AllPools);

TYPED_TEST(ForEachLive, OfAnEmptyPoolVisitsNothing) {
  this->check_walk();
  this->destroy(this->create());
  this->check_walk();
}

TYPED_TEST(ForEachLive, VisitsWhatIsLiveInAddressOrder) {
  const std::uint64_t rounds = amount(60, 600);
  for (std::uint64_t round = 0; round < rounds && !this->HasFatalFailure(); ++round) {
    const std::uint64_t steps = this->random_.below(200);
    const bool grows = this->random_.below(2) == 0;
    for (std::uint64_t i = 0; i < steps; ++i)
      if (this->model_.empty() || this->random_.below(4) < (grows ? 3 : 1)) {
        this->create();
      } else {
        this->destroy(this->any());
      }
    if (this->random_.below(8) == 0) this->entities_.release_unused();
    this->check_walk();
  }
}

TYPED_TEST(ForEachLive, MayDestroyAndCreateWhatItLikes) {
  this->create_many(1000);
  const std::uint64_t rounds = amount(20, 200);
  for (std::uint64_t round = 0; round < rounds && !this->HasFatalFailure(); ++round) {
    const typename TestFixture::Model before = this->model_;
    std::set<Entity*> visited;
    const Entity* last = nullptr;
    this->entities_.for_each_live([&](Entity& entity) {
      ASSERT_LT(last, &entity);
      last = &entity;
      const auto live = this->model_.find(&entity);
      ASSERT_NE(live, this->model_.end()) << "what is destroyed before its turn is not visited";
      ASSERT_EQ(live->second, entity.number);
      visited.insert(&entity);
      const std::uint64_t choice = this->random_.below(6);
      if (choice == 0) this->destroy(&entity);
      if (choice == 1) this->destroy(this->any());
      if (choice == 2 || choice == 3) this->create();
    });
    for (const auto& [entity, number] : before) {
      const auto live = this->model_.find(entity);
      if (live == this->model_.end() || live->second != number) continue;
      EXPECT_TRUE(visited.contains(entity)) << "it lived during the whole walk";
    }
    this->check_walk();
    if (this->model_.size() < 500) this->create_many(500);
  }
}

TYPED_TEST(ForEachLive, MayDestroyEverything) {
  this->create_many(777);
  std::size_t visits = 0;
  this->entities_.for_each_live([&](Entity&) {
    ++visits;
    while (!this->model_.empty()) this->destroy(this->model_.begin()->first);
  });
  EXPECT_EQ(visits, 1u);
  EXPECT_EQ(this->entities_.live_count(), 0u);
}

TYPED_TEST(ForEachLive, KeepsTheMemoryUntilItIsOver) {
  this->create_many(777);
  this->entities_.for_each_live([&](Entity& entity) {
    this->destroy(&entity);
    EXPECT_EQ(this->entities_.release_unused(), 0u);
  });
  this->entities_.release_unused();
  this->check_walk();
  this->create_many(777);
  this->check_walk();
}

TYPED_TEST(ForEachLive, EndsWithAnExceptionOfTheVisit) {
  this->create_many(300);
  int visits = 0;
  const auto third_fails = [&](Entity&) {
    if (++visits == 3) throw std::runtime_error("enough");
  };
  EXPECT_THROW(this->entities_.for_each_live(third_fails), std::runtime_error);
  EXPECT_EQ(visits, 3);
  while (!this->model_.empty()) this->destroy(this->model_.begin()->first);
  this->entities_.release_unused();
  this->create_many(300);
  this->check_walk();
}

TYPED_TEST(ForEachLive, MayWalkTheSamePool) {
  this->create_many(20);
  std::size_t visits = 0;
  this->entities_.for_each_live([&](Entity&) { this->entities_.for_each_live([&](Entity&) { ++visits; }); });
  EXPECT_EQ(visits, 400u);
}

template <typename Pool>
class ForEachLiveOfBlocks : public ::testing::Test {};
using PoolsOfBlocks = ::testing::Types<FixedPool, SharedFixedPool>;
TYPED_TEST_SUITE(ForEachLiveOfBlocks, PoolsOfBlocks);

TYPED_TEST(ForEachLiveOfBlocks, VisitsEachBlockOfARun) {
  TypeParam pool(FixedPoolOptions{.block_bytes = 48, .blocks_per_chunk = 128});
  for (const std::size_t count : {100u, 20u, 20u}) {
    char* const run = static_cast<char*>(pool.allocate_run(count));
    std::vector<void*> visited;
    pool.for_each_live([&](void* block) { visited.push_back(block); });
    ASSERT_EQ(visited.size(), count);
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(visited[i], run + i * pool.block_bytes());
    pool.deallocate_run(run, count);
    pool.for_each_live([&](void*) { ADD_FAILURE(); });
  }
}

TYPED_TEST(ForEachLiveOfBlocks, VisitsNothingBehindAClear) {
  TypeParam pool(FixedPoolOptions{.block_bytes = 48, .blocks_per_chunk = 70});
  for (int i = 0; i < 1000; ++i) static_cast<void>(pool.allocate());
  int visits = 0;
  pool.for_each_live([&](void*) {
    if (++visits == 200) pool.clear();
  });
  EXPECT_EQ(visits, 200);
}

TYPED_TEST(ForEachLiveOfBlocks, FindsAnyPatternOfOneChunk) {
  for (const std::size_t blocks : {1, 7, 8, 63, 64, 65, 128, 200}) {
    TypeParam pool(FixedPoolOptions{.block_bytes = 16, .blocks_per_chunk = blocks, .largest_count = blocks});
    std::set<void*> live;
    for (std::size_t i = 0; i < blocks; ++i) live.insert(pool.allocate());
    Random random(blocks);
    while (!live.empty()) {
      std::vector<void*> visited;
      pool.for_each_live([&](void* block) { visited.push_back(block); });
      EXPECT_EQ(visited, std::vector<void*>(live.begin(), live.end()));
      auto place = live.begin();
      std::advance(place, static_cast<std::ptrdiff_t>(random.below(live.size())));
      pool.deallocate(*place);
      live.erase(place);
    }
  }
}

}  // namespace
}  // namespace tarn::test
