// Pools that several threads use at once: 1, 2 and 4 threads, blocks of 64, 256 and 1024 bytes.
//
// batch/BYTES/threads/T     each thread allocates 1000 blocks and frees them in an order of its own
// pairs/BYTES/threads/T     each thread allocates a block and frees it
// handover/BYTES/threads/T  each thread frees what its neighbour allocated, 10,000 at a time
//
// The figure is wall time per block, all threads together.
#pragma once
#include "blocks.h"
#include "clock.h"
#include "contestant.h"

namespace tarn::bench {

inline constexpr double kRowSecondsOfShared = 0.06;
inline constexpr std::size_t kBlocksOfShared = 1000;
inline constexpr std::size_t kBlocksOfHandover = 10'000;

template <class Pool, std::size_t Bytes>
class SharedBatch {
 public:
  SharedBatch(Pool& pool, unsigned index)
      : pool_(pool), slots_(kBlocksOfShared), plan_(FreeOrder::kRandom, kBlocksOfShared, index) {}

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
    for (FixedSlot<Bytes>& slot : slots_) slot.block = used<Writing::kFirstWord>(pool_.allocate(Bytes));
  }
  [[gnu::noinline]] void free_all() {
    for (std::size_t i = 0; i < kBlocksOfShared; ++i) pool_.deallocate(slots_[plan_[i]].block, Bytes);
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
    Table<FixedSlot<Bytes>> slots(kBlocksOfShared);
    for (FixedSlot<Bytes>& slot : slots) slot.block = pool_.allocate(Bytes);
    verify_slots(slots, worker);
    for (const FixedSlot<Bytes>& slot : slots) pool_.deallocate(slot.block, Bytes);
  }
  [[gnu::noinline]] void round() {
    for (std::size_t i = 0; i < kBlocksOfShared; ++i)
      pool_.deallocate(used<Writing::kFirstWord>(pool_.allocate(Bytes)), Bytes);
  }

 private:
  Pool& pool_;
};

template <class Pool, std::size_t Bytes, template <class, std::size_t> class Work>
void run_shared_row(Session& session, const char* pattern, unsigned threads) {
  const RowName name = row_name("%s/%zu/threads/%u", pattern, Bytes, threads);
  if (!session.wants(name)) return;
  Pool pool;
  const Timing timing = time_rounds(threads, session.budget_ns(kRowSecondsOfShared),
                                    [&](unsigned index) { return Work<Pool, Bytes>(pool, index); });
  const std::uint64_t operations = timing.rounds * kBlocksOfShared;
  session.report(name, timing.wall_ns / static_cast<double>(operations), operations);
}

/// Allocates one's own blocks and frees the neighbour's; returns when all threads have.
template <class Pool, std::size_t Bytes>
void hand_over(Pool& pool, FixedSlot<Bytes>* own, const FixedSlot<Bytes>* neighbours, Worker& worker) {
  for (std::size_t i = 0; i < kBlocksOfHandover; ++i)
    own[i].block = used<Writing::kFirstWord>(pool.allocate(Bytes));
  worker.meet();
  for (std::size_t i = 0; i < kBlocksOfHandover; ++i) pool.deallocate(neighbours[i].block, Bytes);
  worker.meet();
}

template <class Pool, std::size_t Bytes>
void run_handover_row(Session& session, unsigned threads) {
  constexpr std::uint64_t kRounds = 16;
  const RowName name = row_name("handover/%zu/threads/%u", Bytes, threads);
  if (!session.wants(name)) return;
  Pool pool;
  Table<FixedSlot<Bytes>> slots(threads * kBlocksOfHandover);
  Laps laps;
  run_on_threads(threads, [&](Worker& worker) {
    FixedSlot<Bytes>* const own = slots.begin() + worker.index() * kBlocksOfHandover;
    FixedSlot<Bytes>* const neighbours = slots.begin() + (worker.index() + 1) % threads * kBlocksOfHandover;
    SharedBatch<Pool, Bytes>(pool, worker.index()).verify(worker);
    hand_over(pool, own, neighbours, worker);
    Lap& lap = laps[worker.index()];
    lap.first_ns = now_ns();
    for (; lap.rounds < kRounds; ++lap.rounds) hand_over(pool, own, neighbours, worker);
    lap.last_ns = now_ns();
  });
  const Timing timing = timing_of(laps, threads);
  const std::uint64_t operations = timing.rounds * kBlocksOfHandover;
  session.report(name, timing.wall_ns / static_cast<double>(operations), operations);
}

template <class Pool, std::size_t Bytes>
void run_shared_rows(Session& session) {
  for (const unsigned threads : {1u, 2u, 4u}) {
    run_shared_row<Pool, Bytes, SharedBatch>(session, "batch", threads);
    run_shared_row<Pool, Bytes, SharedPairs>(session, "pairs", threads);
  }
  for (const unsigned threads : {2u, 4u}) run_handover_row<Pool, Bytes>(session, threads);
}

template <template <std::size_t> class Pool>
void run_shared(Session& session) {
  static_assert(Pool<64>::kSharing == Sharing::kAnyThread);
  run_shared_rows<Pool<64>, 64>(session);
  run_shared_rows<Pool<256>, 256>(session);
  run_shared_rows<Pool<1024>, 1024>(session);
}

}  // namespace tarn::bench
