// Pools that several threads use at once: 1, 2 and 4 threads, blocks of 64, 256 and 1024 bytes.
//
// batch     each thread allocates 1000 blocks and frees them in an order of its own
// pairs     each thread allocates a block and frees it
// handover  each thread frees what its neighbour allocated, 10,000 at a time
//
// The figure is wall time per block, all threads together.
#pragma once
#include "block_size.h"
#include "clock.h"
#include "contestant.h"
#include "pool_blocks.h"

namespace tarn::bench::shared {

inline constexpr double kRowSeconds = 0.02;
inline constexpr std::size_t kBlocks = 1000;
inline constexpr std::size_t kBlocksOfHandover = 10'000;

template <class Pool, std::size_t Bytes>
class SharedBatch {
 public:
  SharedBatch(Pool& pool, unsigned index)
      : pool_(pool), slots_(kBlocks), plan_(FreeOrder::kRandom, kBlocks, index) {}

  void verify(Worker& worker) {
    allocate_all();
    verify_slots(slots_, worker);
    free_all();
  }
  void round() {
    allocate_all();
    free_all();
  }

 private:
  [[gnu::noinline]] void allocate_all() {
    for (FixedSlot<Bytes>& slot : slots_) slot.block = used(pool_.allocate(Bytes));
  }
  [[gnu::noinline]] void free_all() {
    for (std::size_t i = 0; i < kBlocks; ++i) pool_.deallocate(slots_[plan_[i]].block, Bytes);
  }

  Pool& pool_;
  Table<FixedSlot<Bytes>> slots_;
  FreePlan plan_;
};

template <class Pool, std::size_t Bytes>
class SharedPairs {
 public:
  SharedPairs(Pool& pool, unsigned) : pool_(pool) {}

  void verify(Worker& worker) {
    Table<FixedSlot<Bytes>> slots(kBlocks);
    for (FixedSlot<Bytes>& slot : slots) slot.block = pool_.allocate(Bytes);
    verify_slots(slots, worker);
    for (const FixedSlot<Bytes>& slot : slots) pool_.deallocate(slot.block, Bytes);
  }
  [[gnu::noinline]] void round() {
    for (std::size_t i = 0; i < kBlocks; ++i) pool_.deallocate(used(pool_.allocate(Bytes)), Bytes);
  }

 private:
  Pool& pool_;
};

template <class Pool, std::size_t Bytes, template <class, std::size_t> class Work>
void run_row(Session& session, const char* pattern, unsigned threads) {
  const Row row = {.series = series("%s", pattern), .bytes = Bytes, .threads = threads};
  if (!session.wants(row)) return;
  Timing timing;
  {
    Pool pool;
    timing = time_rounds(threads, session.budget_ns(kRowSeconds),
                         [&](unsigned index) { return Work<Pool, Bytes>(pool, index); });
  }
  report_rounds(session, row, timing, kBlocks);
}

/// Allocates one's own blocks and frees the neighbour's; returns when all threads have.
template <class Pool, std::size_t Bytes>
void hand_over(Pool& pool, FixedSlot<Bytes>* own, const FixedSlot<Bytes>* neighbours, Worker& worker) {
  for (std::size_t i = 0; i < kBlocksOfHandover; ++i) own[i].block = used(pool.allocate(Bytes));
  worker.meet();
  for (std::size_t i = 0; i < kBlocksOfHandover; ++i) pool.deallocate(neighbours[i].block, Bytes);
  worker.meet();
}

template <class Pool, std::size_t Bytes>
void run_handover_row(Session& session, unsigned threads) {
  constexpr std::uint64_t kRounds = 8;
  const Row row = {.series = series("handover"), .bytes = Bytes, .threads = threads};
  if (!session.wants(row)) return;
  Table<FixedSlot<Bytes>> slots(threads * kBlocksOfHandover);
  Laps laps;
  {
    Pool pool;
    run_on_threads(threads, [&](Worker& worker) {
      FixedSlot<Bytes>* const own = slots.begin() + worker.index() * kBlocksOfHandover;
      FixedSlot<Bytes>* const neighbours = slots.begin() + (worker.index() + 1) % threads * kBlocksOfHandover;
      SharedBatch<Pool, Bytes>(pool, worker.index()).verify(worker);
      hand_over(pool, own, neighbours, worker);
      const std::uint64_t rounds = std::max(session.scaled(kRounds), kLeastRounds);
      Lap& lap = laps[worker.index()];
      lap.first_ns = now_ns();
      for (; lap.rounds < rounds; ++lap.rounds) hand_over(pool, own, neighbours, worker);
      lap.last_ns = now_ns();
    });
  }
  report_rounds(session, row, timing_of(laps, threads), kBlocksOfHandover);
}

template <template <std::size_t> class Pool>
void run(Session& session) {
  static_assert(Pool<64>::kSharing == Sharing::kAnyThread);
  if (!session.enter("shared")) return;
  for (const std::size_t asked : session.sizes_among({64, 256, 1024})) {
    with_known_size<64, 256, 1024>(asked, [&](auto bytes) {
      for (const std::size_t count : session.threads({1, 2, 4})) {
        const auto threads = static_cast<unsigned>(count);
        run_row<Pool<bytes>, bytes, SharedBatch>(session, "batch", threads);
        run_row<Pool<bytes>, bytes, SharedPairs>(session, "pairs", threads);
        if (threads > 1) run_handover_row<Pool<bytes>, bytes>(session, threads);
      }
    });
  }
}

}  // namespace tarn::bench::shared
