// Source 004, the typed free list: batches of 1000, 10,000 and 50,000 nodes of 10, 500 and 1000 bytes;
// allocate all, free all; 1, 2 and 4 threads on one pool.
//
// 004_batches        the row's figure is the wall time per node; beside it average, minimum, maximum and
// p99.9 of single
//                    batches in ns per node of one thread. Every pool runs the same number of batches, so
//                    that no one's maximum comes from more of them; a slow one stops when its time is over.
// 004_single_calls   each call timed by the cycle counter: the figure is the average of a pair, beside it
// percentiles
//                    and the maximum of single calls. The counter's own 10 ns or so are in them.
#pragma once
#include "blocks.h"
#include "clock.h"
#include "contestant.h"
#include "histogram.h"

namespace tarn::bench {

inline constexpr double kLongestRowSecondsOf004 = 1.5;

/// Batches of one thread, in ns per batch.
struct BatchTimes {
  Histogram batches;
  std::uint64_t shortest_ns = UINT64_MAX;
  double allocate_ns = 0;
  double free_ns = 0;

  void add(std::uint64_t allocating_ns, std::uint64_t freeing_ns) {
    batches.add(allocating_ns + freeing_ns);
    shortest_ns = std::min(shortest_ns, allocating_ns + freeing_ns);
    allocate_ns += static_cast<double>(allocating_ns);
    free_ns += static_cast<double>(freeing_ns);
  }
  void merge(const BatchTimes& other) {
    batches.merge(other.batches);
    shortest_ns = std::min(shortest_ns, other.shortest_ns);
    allocate_ns += other.allocate_ns;
    free_ns += other.free_ns;
  }
};

/// A count of batches at the session's scale.
inline std::uint64_t scaled_count(const Session& session, std::uint64_t count) {
  const double scale = session.budget_ns(1e-9);
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(static_cast<double>(count) * scale));
}

inline Extra fields_of(const BatchTimes& times, std::size_t nodes) {
  const auto per_batch = static_cast<double>(nodes);
  const double all = static_cast<double>(times.batches.total()) * per_batch;
  return extra_fields(
      ",\"batches\":%llu,\"allocate_ns\":%.3f,\"free_ns\":%.3f,\"min_ns\":%.3f,\"max_ns\":%.3f,\"p99.9_ns\":%"
      ".3f",
      static_cast<unsigned long long>(times.batches.total()), times.allocate_ns / all, times.free_ns / all,
      static_cast<double>(times.shortest_ns) / per_batch,
      static_cast<double>(times.batches.largest()) / per_batch,
      static_cast<double>(times.batches.percentile(0.999)) / per_batch);
}

/// The nodes of one thread, and the two loops over them.
template <class Pool, std::size_t Bytes>
class Nodes {
 public:
  Nodes(Pool& pool, std::size_t count) : pool_(pool), slots_(count) {}

  void verify(Worker& worker) {
    allocate_all();
    verify_slots(slots_, worker);
    free_all();
  }
  [[gnu::noinline]] void allocate_all() {
    for (FixedSlot<Bytes>& slot : slots_) slot.block = used<Writing::kFirstWord>(pool_.allocate(Bytes));
  }
  [[gnu::noinline]] void free_all() {
    for (const FixedSlot<Bytes>& slot : slots_) pool_.deallocate(slot.block, Bytes);
  }

  Pool& pool() { return pool_; }
  Table<FixedSlot<Bytes>>& slots() { return slots_; }

 private:
  Pool& pool_;
  Table<FixedSlot<Bytes>> slots_;
};

template <class Pool, std::size_t Bytes>
Lap run_batches(Nodes<Pool, Bytes>& nodes, std::uint64_t batches, double longest_ns, BatchTimes& times) {
  Lap lap;
  lap.first_ns = lap.last_ns = now_ns();
  while (lap.rounds < batches && static_cast<double>(lap.last_ns - lap.first_ns) < longest_ns) {
    const std::uint64_t start_ns = now_ns();
    nodes.allocate_all();
    const std::uint64_t middle_ns = now_ns();
    nodes.free_all();
    lap.last_ns = now_ns();
    times.add(middle_ns - start_ns, lap.last_ns - middle_ns);
    ++lap.rounds;
  }
  return lap;
}

struct Shape004 {
  std::size_t nodes;
  std::uint64_t batches;  // of all threads together
};
inline constexpr Shape004 kShapesOf004[] = {{1000, 16'000}, {10'000, 2400}, {50'000, 320}};

template <class Pool, std::size_t Bytes>
void run_row_004(Session& session, const Shape004& shape, unsigned threads) {
  const RowName name = row_name("%zux%zu/threads/%u", shape.nodes, Bytes, threads);
  if (!session.wants(name)) return;
  Table<BatchTimes> times(threads);
  for (BatchTimes& of_thread : times) of_thread.shortest_ns = UINT64_MAX;
  Laps laps;
  Pool pool;
  run_on_threads(threads, [&](Worker& worker) {
    Nodes<Pool, Bytes> nodes(pool, shape.nodes);
    nodes.verify(worker);
    worker.meet();
    laps[worker.index()] = run_batches(nodes, scaled_count(session, shape.batches / threads),
                                       session.budget_ns(kLongestRowSecondsOf004), times[worker.index()]);
    worker.meet();
  });
  const Timing timing = timing_of(laps, threads);
  for (unsigned i = 1; i < threads; ++i) times[0].merge(times[i]);
  const std::uint64_t operations = timing.rounds * shape.nodes;
  session.report(name, timing.wall_ns / static_cast<double>(operations), operations, Temperature::kWarm,
                 fields_of(times[0], shape.nodes));
}

/// Pools of one thread run rows of one thread; MostNodes spares a pool with O(N) frees the batches of
/// minutes.
template <template <std::size_t> class Pool, std::size_t MostNodes = SIZE_MAX>
void run_004_batches(Session& session) {
  for (const unsigned threads : {1u, 2u, 4u}) {
    if (threads > 1 && Pool<10>::kSharing == Sharing::kOneThread) continue;
    for (const Shape004& shape : kShapesOf004) {
      if (shape.nodes > MostNodes) continue;
      run_row_004<Pool<10>, 10>(session, shape, threads);
      run_row_004<Pool<500>, 500>(session, shape, threads);
      run_row_004<Pool<1000>, 1000>(session, shape, threads);
    }
  }
}

struct CallTimes {
  Histogram allocations;
  Histogram frees;

  void merge(const CallTimes& other) {
    allocations.merge(other.allocations);
    frees.merge(other.frees);
  }
};

template <class Pool, std::size_t Bytes>
void run_timed_batch(Nodes<Pool, Bytes>& nodes, CallTimes& times) {
  for (FixedSlot<Bytes>& slot : nodes.slots()) {
    const std::uint64_t first = cycles();
    slot.block = used<Writing::kFirstWord>(nodes.pool().allocate(Bytes));
    times.allocations.add(cycles() - first);
  }
  for (const FixedSlot<Bytes>& slot : nodes.slots()) {
    const std::uint64_t first = cycles();
    nodes.pool().deallocate(slot.block, Bytes);
    times.frees.add(cycles() - first);
  }
}

inline Extra fields_of(const CallTimes& times) {
  const double ns = ns_per_cycle();
  const auto in_ns = [ns](std::uint64_t count) { return static_cast<double>(count) * ns; };
  return extra_fields(
      ",\"allocate_p50_ns\":%.1f,\"allocate_p99.9_ns\":%.1f,\"allocate_max_ns\":%.0f,"
      "\"free_p50_ns\":%.1f,\"free_p99.9_ns\":%.1f,\"free_max_ns\":%.0f",
      in_ns(times.allocations.percentile(0.5)), in_ns(times.allocations.percentile(0.999)),
      in_ns(times.allocations.largest()), in_ns(times.frees.percentile(0.5)),
      in_ns(times.frees.percentile(0.999)), in_ns(times.frees.largest()));
}

template <class Pool, std::size_t Bytes>
void run_single_calls_row(Session& session, unsigned threads) {
  constexpr std::size_t kNodes = 10'000;
  constexpr std::uint64_t kBatches = 40;
  const RowName name = row_name("%zux%zu/threads/%u", kNodes, Bytes, threads);
  if (!session.wants(name)) return;
  Table<CallTimes> times(threads);
  Laps laps;
  Pool pool;
  run_on_threads(threads, [&](Worker& worker) {
    Nodes<Pool, Bytes> nodes(pool, kNodes);
    nodes.verify(worker);
    worker.meet();
    Lap& lap = laps[worker.index()];
    lap.first_ns = now_ns();
    const std::uint64_t batches = scaled_count(session, kBatches);
    for (; lap.rounds < batches; ++lap.rounds) run_timed_batch(nodes, times[worker.index()]);
    lap.last_ns = now_ns();
    worker.meet();
  });
  const Timing timing = timing_of(laps, threads);
  for (unsigned i = 1; i < threads; ++i) times[0].merge(times[i]);
  const std::uint64_t operations = timing.rounds * kNodes;
  session.report(name, timing.wall_ns / static_cast<double>(operations), operations, Temperature::kWarm,
                 fields_of(times[0]));
}

template <template <std::size_t> class Pool>
void run_004_single_calls(Session& session) {
  for (const unsigned threads : {1u, 2u, 4u}) {
    if (threads > 1 && Pool<10>::kSharing == Sharing::kOneThread) continue;
    run_single_calls_row<Pool<10>, 10>(session, threads);
    run_single_calls_row<Pool<500>, 500>(session, threads);
    run_single_calls_row<Pool<1000>, 1000>(session, threads);
  }
}

}  // namespace tarn::bench
