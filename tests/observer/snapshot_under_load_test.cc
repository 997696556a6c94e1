#include <tarn/fixed_pool.h>
#include <tarn/heap.h>
#include <tarn/memory_pool.h>

#include "observer/snapshot/snapshot.h"
#include "support/prelude.h"
#include "support/seed.h"
#include "support/threads.h"

namespace tarn::test {
namespace {

using observer::kNone;
using observer::Snapshot;

Snapshot look() { return observer::read_snapshot(*observer::open_own_process()); }

std::uint64_t live_of_general_pool(const Snapshot& snapshot) {
  std::uint64_t live = 0;
  for (const observer::Span& span : snapshot.spans)
    if (span.pool == kNone) live += span.live;
  return live;
}

const observer::Pool* pool_named(const Snapshot& snapshot, std::string_view name) {
  for (const observer::Pool& pool : snapshot.pools)
    if (pool.name == name) return &pool;
  return nullptr;
}

/// Blocks that a thread has, and that others may free for it.
struct Hands {
  std::vector<void*> general, heap, pool;
};

/// A shared heap and a shared pool, used beside the general pool.
class Players {
 public:
  explicit Players(std::uint64_t seed) : seed_(seed) {}

  /// Each of the threads makes some operations, then all rest while `at_rest` runs; then again.
  template <typename AtRest>
  void play(int rounds, AtRest at_rest) {
    std::barrier round(kThreads + 1);
    Threads threads(kThreads, [&](unsigned i) {
      Random random(seed_ * kThreads + i);
      for (int n = 0; n < rounds; ++n) {
        // In one round of two each frees what its neighbour has made.
        make_moves(random, hands_[(i + static_cast<unsigned>(n)) % kThreads]);
        round.arrive_and_wait();
        round.arrive_and_wait();
      }
    });
    for (int n = 0; n < rounds; ++n) {
      round.arrive_and_wait();
      at_rest();
      round.arrive_and_wait();
    }
    threads.join();
  }

  ~Players() {
    for (Hands& hands : hands_) {
      for (void* const block : hands.general) deallocate(block);
      for (void* const block : hands.heap) heap_.deallocate(block);
      for (void* const block : hands.pool) pool_.deallocate(block);
    }
  }

  std::size_t count(std::vector<void*> Hands::*kind) const {
    std::size_t count = 0;
    for (const Hands& hands : hands_) count += (hands.*kind).size();
    return count;
  }
  void expect_found(const Snapshot& snapshot) const {
    for (const Hands& hands : hands_)
      for (const auto* const blocks : {&hands.general, &hands.heap, &hands.pool})
        for (void* const block : *blocks) {
          const auto address = reinterpret_cast<std::uint64_t>(block);
          ASSERT_EQ(snapshot.live_block_of(address).address, address);
        }
  }

 private:
  static constexpr unsigned kThreads = 4;

  void make_moves(Random& random, Hands& hands) {
    for (int i = 0; i < 3'000; ++i) {
      const std::uint64_t kind = random.below(8);
      if (kind == 0)
        move(
            random, hands.pool, [&] { return pool_.allocate(); }, [&](void* b) { pool_.deallocate(b); });
      else if (kind == 1)
        move(
            random, hands.heap, [&] { return heap_.allocate(random.below(3'000)); },
            [&](void* b) { heap_.deallocate(b); });
      else
        move(
            random, hands.general, [&] { return allocate(size(random)); }, [](void* b) { deallocate(b); });
    }
  }
  static std::size_t size(Random& random) {
    return random.below(200) == 0 ? random.below(2 << 20) : random.below(1'200);
  }
  template <typename Make, typename End>
  static void move(Random& random, std::vector<void*>& blocks, Make make, End end) {
    if (blocks.empty() || random.below(5) < 3) return blocks.push_back(make());
    std::swap(blocks[random.below(blocks.size())], blocks.back());
    end(blocks.back());
    blocks.pop_back();
  }

  std::uint64_t seed_;
  Heap heap_{{.name = "heap of players"}};
  SharedFixedPool pool_{{.name = "pool of players", .block_bytes = 200}};
  Hands hands_[kThreads];
};

TEST(SnapshotsOfThreadsAtRest, HaveTheBlocksThatTheThreadsHold) {
  const std::uint64_t seed = fresh_seed();
  const std::uint64_t before = live_of_general_pool(look());
  Players players(seed);
  players.play(static_cast<int>(amount(30, 1'000)), [&] {
    const Snapshot snapshot = look();
    EXPECT_TRUE(snapshot.exactness.is_exact);
    EXPECT_EQ(snapshot.exactness.bad_spans, 0u);
    EXPECT_EQ(live_of_general_pool(snapshot) - before, players.count(&Hands::general));
    EXPECT_EQ(pool_named(snapshot, "heap of players")->live, players.count(&Hands::heap));
    EXPECT_EQ(pool_named(snapshot, "pool of players")->live, players.count(&Hands::pool));
    players.expect_found(snapshot);
  });
}

/// Threads that allocate and free all the time, and hold between kLeast and kMost blocks each.
class Churn {
 public:
  static constexpr std::size_t kLeast = 2'000, kMost = 2'600;
  static constexpr unsigned kThreads = 3;

  Churn() { ready_.arrive_and_wait(); }
  ~Churn() {
    is_over_.store(true);
    threads_.join();
  }
  std::uint64_t moves() const { return moves_.load(std::memory_order_relaxed); }

 private:
  void run(unsigned number) {
    Random random(number);
    std::vector<void*> blocks;
    for (std::size_t i = 0; i < kLeast; ++i) blocks.push_back(allocate(random.below(400)));
    ready_.arrive_and_wait();
    while (!is_over_.load(std::memory_order_relaxed)) {
      while (blocks.size() < kMost) blocks.push_back(allocate(random.below(400)));
      for (std::size_t i = 0; i < kMost - kLeast; ++i) {
        std::swap(blocks[random.below(blocks.size())], blocks.back());
        deallocate(blocks.back());
        blocks.pop_back();
      }
      moves_.fetch_add(2 * (kMost - kLeast), std::memory_order_relaxed);
    }
    for (void* const block : blocks) deallocate(block);
  }

  std::barrier<> ready_{kThreads + 1};
  std::atomic<bool> is_over_{false};
  std::atomic<std::uint64_t> moves_{0};
  Threads threads_{kThreads, [this](unsigned number) { run(number); }};
};

TEST(SnapshotsOfBusyThreads, AreOffByNoMoreThanTheySay) {
  const std::uint64_t before = live_of_general_pool(look());
  const Churn churn;
  std::uint64_t inexact = 0, moves = 0;
  const std::uint64_t looks = amount(200, 5'000);
  for (std::uint64_t i = 0; i < looks || moves == churn.moves(); ++i) {
    moves = churn.moves();
    const Snapshot snapshot = look();
    const std::uint64_t live = live_of_general_pool(snapshot) - before;
    const observer::Exactness& exactness = snapshot.exactness;
    EXPECT_LE(live, Churn::kThreads * Churn::kMost + exactness.moved_blocks);
    EXPECT_GE(live + exactness.moved_blocks, Churn::kThreads * Churn::kLeast);
    // One for each thread that was changing a span, or began to.
    EXPECT_LE(exactness.bad_spans, Churn::kThreads + exactness.slow_calls);
    inexact += exactness.is_exact ? 0 : 1;
  }
  EXPECT_GT(inexact, 0u);
}

}  // namespace
}  // namespace tarn::test
