// Visits of all live blocks while other threads allocate and free, begin and end, trim, and visit too.
#include "support/prelude.h"
#include "support/seed.h"
#include "support/threads.h"
#include "tarn/buffer_pool.h"
#include "tarn/fixed_pool.h"
#include "tarn/handle_pool.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"
#include "tarn/object_pool.h"
#include "tarn/observe.h"

namespace tarn::test {
namespace {

struct Entity {
  char payload[64];
};

/// A thread's own way to a block of any kind and back.
class Blocks {
 public:
  struct Pools {
    Heap heap{"churned"};
    SharedFixedPool fixed{{.block_bytes = 96}};
    ObjectPool<Entity> objects;
    HandlePool<Entity> handles;
    BufferPool buffers;
  };

  Blocks(Pools& pools, std::uint64_t seed) : pools_(pools), random_(seed) {}
  ~Blocks() {
    while (!made_.empty()) free_one();
  }
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;

  void make_one() {
    const std::size_t bytes = random_.between(1, random_.below(30) == 0 ? 600'000 : 500);
    switch (random_.below(6)) {
      case 0:
        return add(pools_.heap.allocate(bytes), 0);
      case 1:
        return add(pools_.fixed.allocate(), 1);
      case 2:
        return add(pools_.objects.create(), 2);
      case 3: {
        const Handle<Entity> handle = pools_.handles.create();
        made_.push_back({pools_.handles.get(handle), 3, handle});
        return;
      }
      case 4:
        return add(pools_.buffers.allocate(bytes), 4);
      default:
        return add(tarn::allocate(bytes), 5);
    }
  }
  void free_one() {
    std::swap(made_[random_.below(made_.size())], made_.back());
    const Made last = made_.back();
    made_.pop_back();
    switch (last.from) {
      case 0:
        return pools_.heap.deallocate(last.block);
      case 1:
        return pools_.fixed.deallocate(last.block);
      case 2:
        return pools_.objects.destroy(static_cast<Entity*>(last.block));
      case 3:
        EXPECT_TRUE(pools_.handles.destroy(last.handle));
        return;
      case 4:
        return pools_.buffers.deallocate(last.block);
      default:
        return tarn::deallocate(last.block);
    }
  }
  void churn(int steps) {
    for (int i = 0; i < steps; ++i)
      made_.size() < 100 || (made_.size() < 400 && random_.below(2) == 0) ? make_one() : free_one();
  }

  std::vector<const void*> sorted() const {
    std::vector<const void*> blocks;
    for (const Made& made : made_) blocks.push_back(made.block);
    std::sort(blocks.begin(), blocks.end());
    return blocks;
  }

 private:
  struct Made {
    void* block;
    int from;
    Handle<Entity> handle;
  };
  void add(void* block, int from) {
    ASSERT_NE(block, nullptr);
    made_.push_back({block, from, {}});
  }

  Pools& pools_;
  Random random_;
  std::vector<Made> made_;
};

std::vector<const void*> visited() {
  std::vector<const void*> blocks;
  blocks.reserve(100'000);  // of libc's malloc
  EXPECT_TRUE(visit_blocks([&](const LiveBlock& block) { blocks.push_back(block.address); }));
  std::sort(blocks.begin(), blocks.end());
  return blocks;
}

class VisitBlocksBesideThreads : public ::testing::Test {
 protected:
  /// Threads that repeat some work until the test ends.
  void start(unsigned threads, const std::function<void(unsigned thread)>& work) {
    threads_.emplace(threads, [this, work](unsigned t) {
      while (!must_stop_) work(t);
    });
  }
  void TearDown() override { stop(); }
  void stop() {
    must_stop_ = true;
    if (threads_) threads_->join();
    threads_.reset();
  }

  void expect_kept_are_visited_once() {
    const std::vector<const void*> expected = kept_.sorted(), blocks = visited();
    // Other addresses may come twice: a block that was freed meanwhile, and one that was made there.
    std::vector<const void*> kept_visits;
    std::copy_if(blocks.begin(), blocks.end(), std::back_inserter(kept_visits), [&](const void* block) {
      return std::binary_search(expected.begin(), expected.end(), block);
    });
    EXPECT_EQ(kept_visits, expected);
  }

  Blocks::Pools pools_;
  Blocks kept_{pools_, 1};
  std::atomic<bool> must_stop_{false};
  std::optional<Threads> threads_;
};

TEST_F(VisitBlocksBesideThreads, VisitsOnceWhatLivesAllTheTime) {
  for (int i = 0; i < 5000; ++i) kept_.make_one();
  std::vector<std::unique_ptr<Blocks>> churned;
  for (unsigned t = 0; t < 3; ++t) churned.push_back(std::make_unique<Blocks>(pools_, t + 2));
  start(3, [&](unsigned t) { churned[t]->churn(1000); });
  const std::uint64_t rounds = amount(40, 3000);
  for (std::uint64_t round = 0; round < rounds && !HasFailure(); ++round) expect_kept_are_visited_once();
  stop();
  std::size_t expected = kept_.sorted().size();
  for (const auto& blocks : churned) expected += blocks->sorted().size();
  EXPECT_EQ(visited().size(), expected) << "at rest";
}

TEST_F(VisitBlocksBesideThreads, ThatBeginAndEndVisitsOnceWhatLivesAllTheTime) {
  for (int i = 0; i < 2000; ++i) kept_.make_one();
  start(2, [&](unsigned t) { std::thread([&] { Blocks(pools_, t).churn(3000); }).join(); });
  const std::uint64_t rounds = amount(100, 1000);
  for (std::uint64_t round = 0; round < rounds && !HasFailure(); ++round) expect_kept_are_visited_once();
}

TEST_F(VisitBlocksBesideThreads, ThatTrimAndVisitTooVisitsOnceWhatLivesAllTheTime) {
  for (int i = 0; i < 5000; ++i) kept_.make_one();
  start(2, [&](unsigned t) {
    Blocks(pools_, t).churn(2000);
    t == 0 ? static_cast<void>(tarn::trim()) : static_cast<void>(visited());
  });
  const std::uint64_t rounds = amount(30, 600);
  for (std::uint64_t round = 0; round < rounds && !HasFailure(); ++round) expect_kept_are_visited_once();
}

// Objects of a class that no other thread uses; each second one is live, so that their slabs stay.
TEST_F(VisitBlocksBesideThreads, WhatAnIdleThreadHasCachedIsNotVisited) {
  struct Large {
    char payload[3000];
  };
  ObjectPool<Large> pool;
  std::vector<Large*> live, cached;
  std::barrier meet(2);
  std::thread idle([&] {
    for (int i = 0; i < 10; ++i) {
      live.push_back(pool.create());
      cached.push_back(pool.create());
    }
    for (Large* const object : cached) pool.destroy(object);
    meet.arrive_and_wait();
    meet.arrive_and_wait();
    for (Large* const object : live) pool.destroy(object);
  });
  meet.arrive_and_wait();
  std::vector<std::unique_ptr<Blocks>> churned;
  for (unsigned t = 0; t < 2; ++t) churned.push_back(std::make_unique<Blocks>(pools_, t + 2));
  start(2, [&](unsigned t) { churned[t]->churn(1000); });
  const std::uint64_t rounds = amount(50, 1000);
  for (std::uint64_t round = 0; round < rounds && !HasFailure(); ++round) {
    const std::vector<const void*> blocks = visited();
    const auto is_visited = [&](const void* block) {
      return std::binary_search(blocks.begin(), blocks.end(), block);
    };
    EXPECT_TRUE(std::all_of(live.begin(), live.end(), is_visited));
    EXPECT_TRUE(std::none_of(cached.begin(), cached.end(), is_visited));
  }
  stop();
  meet.arrive_and_wait();
  idle.join();
}

}  // namespace
}  // namespace tarn::test
