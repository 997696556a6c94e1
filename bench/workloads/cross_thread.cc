// Producers and consumers: one thread of a pair allocates, the other frees; blocks change hands in batches
// through a bounded ring. The figure is the wall time per block, over all pairs.
#include <sched.h>

#include <array>

#include "allocator_under_test.h"
#include "clock.h"
#include "groups.h"
#include "random.h"
#include "spsc_ring.h"
#include "table.h"
#include "threads.h"
#include "verify.h"

namespace tarn::bench {
namespace {

constexpr double kRowSeconds = 0.15;
constexpr std::size_t kBatchBlocks = 64;
constexpr std::size_t kRingBatches = 32;
constexpr std::size_t kSizeCount = 16'384;      // sizes drawn ahead, used in turn
constexpr std::uint64_t kVerifiedBatches = 64;  // before the clock starts
constexpr unsigned kMaxPairs = 4;

enum class Purpose { kTimed, kVerified, kLast };

struct Batch {
  Purpose purpose;
  std::array<LiveBlock, kBatchBlocks> blocks;
};
using Ring = SpscRing<Batch, kRingBatches>;

struct Sizes {
  const char* name;
  std::size_t smallest_bytes;
  std::size_t largest_bytes;
};
constexpr Sizes kSizes[] = {{"64", 64, 64}, {"256", 256, 256}, {"1024", 1024, 1024}, {"16-1024", 16, 1024}};

/// There may be fewer cores than threads: a thread that cannot go on lets another one run.
template <class Poll>
Batch& wait_for(Poll poll) {
  for (;;) {
    if (Batch* const batch = poll()) return *batch;
    sched_yield();
  }
}

class Producer {
 public:
  Producer(Ring& ring, const Sizes& sizes, unsigned index) : ring_(ring), sizes_(kSizeCount) {
    Random random(index + 1);
    for (std::uint16_t& bytes : sizes_) {
      bytes = static_cast<std::uint16_t>(random.between(sizes.smallest_bytes, sizes.largest_bytes));
    }
  }

  void verify() {
    for (std::uint64_t i = 0; i < kVerifiedBatches; ++i) send(Purpose::kVerified);
  }
  Lap run(double budget_ns) {
    Lap lap;
    lap.first_ns = lap.last_ns = now_ns();
    while (static_cast<double>(lap.last_ns - lap.first_ns) < budget_ns) {
      send(Purpose::kTimed);
      ++lap.rounds;
      lap.last_ns = now_ns();
    }
    send(Purpose::kLast);
    return lap;
  }

 private:
  void send(Purpose purpose) {
    Batch& batch = wait_for([this] { return ring_.free_slot(); });
    batch.purpose = purpose;
    for (LiveBlock& slot : batch.blocks) {
      slot.bytes = sizes_[next_++ % kSizeCount];
      slot.block = allocate(slot.bytes);
      touch(slot.block, slot.bytes);
      if (purpose == Purpose::kVerified) tag_block(slot, reinterpret_cast<std::uintptr_t>(slot.block));
    }
    ring_.publish();
  }

  Ring& ring_;
  Table<std::uint16_t> sizes_;
  std::size_t next_ = 0;
};

/// Frees until the last batch has come; returns when that was.
std::uint64_t consume(Ring& ring) {
  for (;;) {
    Batch& batch = wait_for([&] { return ring.full_slot(); });
    const Purpose purpose = batch.purpose;
    for (const LiveBlock& slot : batch.blocks) {
      if (purpose == Purpose::kVerified) check_tag(slot, reinterpret_cast<std::uintptr_t>(slot.block));
      deallocate(slot.block, slot.bytes);
    }
    ring.release();
    if (purpose == Purpose::kLast) return now_ns();
  }
}

/// Even threads produce, each for the odd thread after it.
Timing run_pairs(unsigned pairs, const Sizes& sizes, double budget_ns) {
  Table<Ring> rings(kMaxPairs);
  std::array<std::uint64_t, kMaxPairs> drained_ns{};
  Laps laps;
  run_on_threads(2 * pairs, [&](Worker& worker) {
    const unsigned pair = worker.index() / 2;
    worker.meet();
    if (worker.index() % 2 == 1) {
      drained_ns[pair] = consume(rings[pair]);
      return;
    }
    Producer producer(rings[pair], sizes, pair);
    producer.verify();
    laps[pair] = producer.run(budget_ns);
  });
  for (unsigned pair = 0; pair < pairs; ++pair) {
    laps[pair].last_ns = drained_ns[pair];
    ++laps[pair].rounds;  // the last batch
  }
  return timing_of(laps, pairs);
}

}  // namespace

void run_cross_thread(Session& session) {
  for (const unsigned pairs : {1u, kMaxPairs}) {
    for (const Sizes& sizes : kSizes) {
      const RowName name = row_name("pairs/%u/bytes/%s", pairs, sizes.name);
      if (!session.wants(name)) continue;
      const Timing timing = run_pairs(pairs, sizes, session.budget_ns(kRowSeconds));
      const std::uint64_t blocks = timing.rounds * kBatchBlocks;
      session.report(name, timing.wall_ns / static_cast<double>(blocks), blocks);
    }
  }
}

}  // namespace tarn::bench
