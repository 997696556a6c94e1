// Walks over live objects while other threads make and end other objects of the pool.
#include "support/prelude.h"
#include "support/seed.h"
#include "support/threads.h"
#include "tarn/fixed_pool.h"
#include "tarn/handle_pool.h"
#include "tarn/memory_pool.h"
#include "tarn/object_pool.h"

namespace tarn::test {
namespace {

struct Entity {
  char payload[64];
};

/// The pools behind one face: what is made is named by `Name`, visited by its address.
struct InBlocks {
  using Name = void*;
  void* create() { return pool.allocate(); }
  void destroy(void* block) { pool.deallocate(block); }
  const void* address_of(void* block) { return block; }
  template <typename Visit>
  void for_each_live(Visit visit) {
    pool.for_each_live([&](void* block) { visit(block); });
  }
  SharedFixedPool pool{sizeof(Entity)};
};

struct InObjectPool {
  using Name = Entity*;
  Entity* create() { return pool.create(); }
  void destroy(Entity* entity) { pool.destroy(entity); }
  const void* address_of(Entity* entity) { return entity; }
  template <typename Visit>
  void for_each_live(Visit visit) {
    pool.for_each_live([&](Entity& entity) { visit(&entity); });
  }
  ObjectPool<Entity, LiveObjects::kListed> pool;
};

struct InHandlePool {
  using Name = Handle<Entity>;
  Handle<Entity> create() { return pool.create(); }
  void destroy(Handle<Entity> handle) { EXPECT_TRUE(pool.destroy(handle)); }
  const void* address_of(Handle<Entity> handle) { return pool.get(handle); }
  template <typename Visit>
  void for_each_live(Visit visit) {
    pool.for_each_live([&](Handle<Entity> handle, Entity& entity) {
      EXPECT_TRUE(handle);
      visit(&entity);
    });
  }
  HandlePool<Entity> pool;
};

template <typename Pool>
class ForEachLiveBesideThreads : public ::testing::Test {
 protected:
  using Name = typename Pool::Name;

  /// Threads that make and end objects until the test ends.
  void start_churning() {
    threads_.emplace(kThreads, [this](unsigned t) { churn(t); });
  }
  void TearDown() override {
    must_stop_ = true;
    if (threads_) threads_->join();
  }

  static constexpr unsigned kThreads = 2;
  Pool pool_;

 private:
  void churn(unsigned seed) {
    Random random(seed);
    std::vector<Name> made;
    while (!must_stop_) {
      if (made.size() < 200 || (made.size() < 500 && random.below(2) == 0)) {
        made.push_back(pool_.create());
      } else {
        std::swap(made[random.below(made.size())], made.back());
        pool_.destroy(made.back());
        made.pop_back();
      }
    }
    for (const Name& name : made) pool_.destroy(name);
  }

  std::atomic<bool> must_stop_{false};
  std::optional<Threads> threads_;
};

using Pools = ::testing::Types<InBlocks, InObjectPool, InHandlePool>;
TYPED_TEST_SUITE(ForEachLiveBesideThreads, Pools);

TYPED_TEST(ForEachLiveBesideThreads, VisitsOnceWhatLivesAllTheTime) {
  std::vector<typename TypeParam::Name> kept;
  std::vector<const void*> expected;
  for (int i = 0; i < 2000; ++i) {
    kept.push_back(this->pool_.create());
    expected.push_back(this->pool_.address_of(kept.back()));
  }
  std::sort(expected.begin(), expected.end());
  this->start_churning();
  const std::uint64_t rounds = amount(200, 5000);
  for (std::uint64_t round = 0; round < rounds && !this->HasFailure(); ++round) {
    std::vector<const void*> visited;
    this->pool_.for_each_live([&](const void* object) { visited.push_back(object); });
    EXPECT_TRUE(std::is_sorted(visited.begin(), visited.end()));
    EXPECT_EQ(std::adjacent_find(visited.begin(), visited.end()), visited.end()) << "none twice";
    EXPECT_TRUE(std::includes(visited.begin(), visited.end(), expected.begin(), expected.end()));
  }
  for (const auto& name : kept) this->pool_.destroy(name);
}

TYPED_TEST(ForEachLiveBesideThreads, ATrimMeanwhileTakesNoChunkThatIsWalked) {
  const std::uint64_t rounds = amount(20, 200);
  std::atomic<bool> must_stop{false};
  std::barrier start(2);
  std::thread trimmer([&] {
    start.arrive_and_wait();
    while (!must_stop) tarn::trim();
  });
  start.arrive_and_wait();
  for (std::uint64_t round = 0; round < rounds; ++round) {
    std::vector<typename TypeParam::Name> kept;
    for (int i = 0; i < 3000; ++i) kept.push_back(this->pool_.create());
    std::size_t visits = 0;
    this->pool_.for_each_live([&](const void*) {
      if (++visits != 100) return;
      while (kept.size() > 50) {
        this->pool_.destroy(kept.back());
        kept.pop_back();
      }
    });
    EXPECT_GE(visits, 50u);
    EXPECT_LE(visits, 150u);
    for (const auto& name : kept) this->pool_.destroy(name);
  }
  must_stop = true;
  trimmer.join();
}

}  // namespace
}  // namespace tarn::test
