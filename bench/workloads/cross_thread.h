// Producers and consumers: one thread of a pair allocates, the other frees; blocks change hands in batches
// through a bounded ring. The figure is the wall time per block, over all pairs.
#pragma once
#include <sched.h>

#include <array>

#include "clock.h"
#include "contestant.h"
#include "random.h"
#include "spsc_ring.h"
#include "table.h"
#include "timed_row.h"
#include "use.h"
#include "verify.h"

namespace tarn::bench::cross_thread {

inline constexpr double kRowSeconds = 0.05;
inline constexpr std::size_t kBatchBlocks = 64;
inline constexpr std::size_t kRingBatches = 32;
inline constexpr std::size_t kSizeCount = 16'384;      // sizes drawn ahead, used in turn
inline constexpr std::uint64_t kVerifiedBatches = 64;  // before the clock starts
inline constexpr unsigned kMaxPairs = kMaxThreads / 2;

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
inline constexpr Sizes kSizes[] = {
    {"64 B", 64, 64}, {"256 B", 256, 256}, {"1024 B", 1024, 1024}, {"16-1024 B", 16, 1024}};

/// There may be fewer cores than threads: a thread that cannot go on lets another one run.
template <class Poll>
inline Batch& wait_for(Poll poll) {
  for (;;) {
    if (Batch* const batch = poll()) return *batch;
    sched_yield();
  }
}

template <class Api>
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
    while (needs_more(lap, budget_ns)) {
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
      slot.block = allocate_used<Api>(slot.bytes);
      if (purpose == Purpose::kVerified) tag_block(slot, reinterpret_cast<std::uintptr_t>(slot.block));
    }
    ring_.publish();
  }

  Ring& ring_;
  Table<std::uint16_t> sizes_;
  std::size_t next_ = 0;
};

/// Frees until the last batch has come; returns when that was.
template <class Api>
std::uint64_t consume(Ring& ring) {
  for (;;) {
    Batch& batch = wait_for([&] { return ring.full_slot(); });
    const Purpose purpose = batch.purpose;
    for (const LiveBlock& slot : batch.blocks) {
      if (purpose == Purpose::kVerified) check_tag(slot, reinterpret_cast<std::uintptr_t>(slot.block));
      Api::deallocate(slot.block, slot.bytes);
    }
    ring.release();
    if (purpose == Purpose::kLast) return now_ns();
  }
}

/// Even threads produce, each for the odd thread after it.
template <class Api>
Timing run_pairs(unsigned pairs, const Sizes& sizes, double budget_ns) {
  Table<Ring> rings(pairs);
  std::array<std::uint64_t, kMaxPairs> drained_ns{};
  Laps laps;
  run_on_threads(2 * pairs, [&](Worker& worker) {
    const unsigned pair = worker.index() / 2;
    worker.meet();
    if (worker.index() % 2 == 1) {
      drained_ns[pair] = consume<Api>(rings[pair]);
      return;
    }
    Producer<Api> producer(rings[pair], sizes, pair);
    producer.verify();
    laps[pair] = producer.run(budget_ns);
  });
  for (unsigned pair = 0; pair < pairs; ++pair) {
    laps[pair].last_ns = drained_ns[pair];
    ++laps[pair].rounds;  // the last batch
  }
  return timing_of(laps, pairs);
}

/// Half of the threads produce: with an odd number of them the last one has no work.
template <class Api>
void run(Session& session) {
  if (!session.enter("cross_thread")) return;
  for (const std::size_t threads : session.threads({2, 8})) {
    const auto pairs = static_cast<unsigned>(threads / 2);
    if (pairs == 0) continue;
    for (const Sizes& sizes : kSizes) {
      const Row row = {.series = series("%s", sizes.name), .threads = 2 * pairs};
      if (!session.wants(row)) continue;
      report_rounds(session, row, run_pairs<Api>(pairs, sizes, session.budget_ns(kRowSeconds)), kBatchBlocks);
    }
  }
}

}  // namespace tarn::bench::cross_thread
