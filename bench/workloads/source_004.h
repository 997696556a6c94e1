// Source 004, the typed free list: batches of 1000, 10,000 and 50,000 nodes of 10, 500 and 1000 bytes;
// allocate all, free all; 1, 2 and 4 threads on one pool.
//
// 004_batches        the row's figure is the wall time per node; beside it, as the source has them, average,
//                    minimum and maximum of allocating and of freeing a batch, and the percentiles of both
//                    that so many batches tell, in ns per node of one thread. Every contestant runs the same
//                    number of batches, so that no one's maximum comes from more of them; a slow one stops
//                    when its time is over.
//
// 004_single_calls   each call timed by the cycle counter: the figure is the average of a pair, beside it
//                    percentiles and the maximum of single calls, the counter's own 10 ns or so included
#pragma once
#include "block_size.h"
#include "clock.h"
#include "contestant.h"
#include "percentiles.h"
#include "pool_blocks.h"

namespace tarn::bench::source_004 {

inline constexpr double kLongestRowSeconds = 0.1;

/// One phase of one thread's batches, in ns a batch.
struct BatchTimes {
  std::uint64_t shortest_ns = UINT64_MAX;
  std::uint64_t longest_ns = 0;
  double sum_ns = 0;

  void add(std::uint64_t ns) {
    shortest_ns = std::min(shortest_ns, ns);
    longest_ns = std::max(longest_ns, ns);
    sum_ns += static_cast<double>(ns);
  }
  void merge(const BatchTimes& other) {
    shortest_ns = std::min(shortest_ns, other.shortest_ns);
    longest_ns = std::max(longest_ns, other.longest_ns);
    sum_ns += other.sum_ns;
  }
};

struct ThreadTimes {
  BatchTimes allocating;
  BatchTimes freeing;
  Histogram both;

  void add(std::uint64_t allocating_ns, std::uint64_t freeing_ns) {
    allocating.add(allocating_ns);
    freeing.add(freeing_ns);
    both.add(allocating_ns + freeing_ns);
  }
  void merge(const ThreadTimes& other) {
    allocating.merge(other.allocating);
    freeing.merge(other.freeing);
    both.merge(other.both);
  }
};

inline Extra fields_of(const ThreadTimes& times, std::size_t nodes) {
  const auto per_node = [nodes](auto ns) { return static_cast<double>(ns) / static_cast<double>(nodes); };
  const auto count = static_cast<double>(times.both.total());
  const BatchTimes& allocating = times.allocating;
  const BatchTimes& freeing = times.freeing;
  return extra_fields(
      ",\"batches\":%llu,\"allocate_ns\":%.3f,\"allocate_min_ns\":%.3f,\"allocate_max_ns\":%.3f,"
      "\"free_ns\":%.3f,\"free_min_ns\":%.3f,\"free_max_ns\":%.3f%s",
      static_cast<unsigned long long>(times.both.total()), per_node(allocating.sum_ns / count),
      per_node(allocating.shortest_ns), per_node(allocating.longest_ns), per_node(freeing.sum_ns / count),
      per_node(freeing.shortest_ns), per_node(freeing.longest_ns),
      percentile_fields("", times.both, per_node(1)).text);
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
  void round() {
    allocate_all();
    free_all();
  }
  [[gnu::noinline]] void allocate_all() {
    for (FixedSlot<Bytes>& slot : slots_) slot.block = used(pool_.allocate(Bytes));
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

/// \param batches at most; fewer, but no fewer than kLeastRounds, where they take longer than `longest_ns`
template <class Pool, std::size_t Bytes>
Lap run_batches(Nodes<Pool, Bytes>& nodes, std::uint64_t batches, double longest_ns, ThreadTimes& times) {
  Lap lap;
  lap.first_ns = lap.last_ns = now_ns();
  while (lap.rounds < batches && needs_more(lap, longest_ns)) {
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

inline constexpr std::uint64_t kNodesPerRow = 400'000;  // of all threads and batches, at scale 1

template <class Pool, std::size_t Bytes>
void run_row(Session& session, std::size_t count, unsigned threads) {
  const Row row = {.series = series("%zu nodes", count), .bytes = Bytes, .threads = threads};
  if (!session.wants(row)) return;
  Table<ThreadTimes> times(threads);
  for (ThreadTimes& of_thread : times) of_thread = ThreadTimes();
  Laps laps;
  {
    Pool pool;
    run_on_threads(threads, [&](Worker& worker) {
      Nodes<Pool, Bytes> nodes(pool, count);
      nodes.verify(worker);
      warm_up(nodes);
      worker.meet();
      const std::uint64_t batches = session.scaled(kNodesPerRow / count) / threads + 1;
      laps[worker.index()] = run_batches(nodes, std::max(batches, kLeastRounds),
                                         session.budget_ns(kLongestRowSeconds), times[worker.index()]);
      worker.meet();
    });
  }
  const Timing timing = timing_of(laps, threads);
  for (unsigned i = 1; i < threads; ++i) times[0].merge(times[i]);
  report_rounds(session, row, timing, count, fields_of(times[0], count));
}

/// The first batch of a fresh process.
template <class Pool, std::size_t Bytes>
void run_cold(Session& session, std::size_t count) {
  const Row row = {.series = series("%zu nodes", count), .bytes = Bytes, .temperature = Temperature::kCold};
  if (!session.wants(row)) return;
  ThreadTimes times;
  {
    Pool pool;
    Nodes<Pool, Bytes> nodes(pool, count);
    run_batches(nodes, 1, session.budget_ns(kLongestRowSeconds), times);
  }
  const double ns = (times.allocating.sum_ns + times.freeing.sum_ns) / static_cast<double>(count);
  session.report(row, ns, {count}, fields_of(times, count));
}

/// What the numbers of threads are for a pool: one of one thread runs rows of one thread.
template <class Pool>
Axis threads_of(const Session& session) {
  Axis axis;
  for (const std::size_t threads : session.threads({1, 2, 4}))
    if (threads == 1 || Pool::kSharing == Sharing::kAnyThread) axis.add(threads);
  return axis;
}

/// MostNodes spares a pool with O(N) frees the batches of minutes.
template <template <std::size_t> class Pool, std::size_t MostNodes = SIZE_MAX>
void run_all_batches(Session& session) {
  if (!session.enter("004_batches")) return;
  const Axis sizes = session.sizes_among({10, 500, 1000});
  for (const std::size_t threads : threads_of<Pool<10>>(session)) {
    for (const std::size_t count : session.values({1000, 10'000, 50'000})) {
      if (count > MostNodes) continue;
      for (const std::size_t asked : sizes)
        with_known_size<10, 500, 1000>(asked, [&](auto bytes) {
          run_row<Pool<bytes>, bytes>(session, count, static_cast<unsigned>(threads));
        });
    }
  }
  if constexpr (MostNodes >= 50'000) {
    run_cold<Pool<10>, 10>(session, 50'000);
    run_cold<Pool<1000>, 1000>(session, 50'000);
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
    slot.block = used(nodes.pool().allocate(Bytes));
    times.allocations.add(cycles() - first);
  }
  for (const FixedSlot<Bytes>& slot : nodes.slots()) {
    const std::uint64_t first = cycles();
    nodes.pool().deallocate(slot.block, Bytes);
    times.frees.add(cycles() - first);
  }
}

inline Extra fields_of(const CallTimes& times) {
  return extra_fields("%s%s", percentile_fields("allocate_", times.allocations, ns_per_cycle()).text,
                      percentile_fields("free_", times.frees, ns_per_cycle()).text);
}

template <class Pool, std::size_t Bytes>
void run_single_calls_row(Session& session, unsigned threads) {
  constexpr std::size_t kNodes = 10'000;
  constexpr std::uint64_t kBatches = 10;
  const Row row = {.series = series("%zu nodes", kNodes), .bytes = Bytes, .threads = threads};
  if (!session.wants(row)) return;
  Table<CallTimes> times(threads);
  Laps laps;
  {
    Pool pool;
    run_on_threads(threads, [&](Worker& worker) {
      Nodes<Pool, Bytes> nodes(pool, kNodes);
      nodes.verify(worker);
      warm_up(nodes);
      worker.meet();
      Lap& lap = laps[worker.index()];
      lap.first_ns = now_ns();
      const std::uint64_t batches = std::max(session.scaled(kBatches), kLeastRounds);
      for (; lap.rounds < batches; ++lap.rounds) run_timed_batch(nodes, times[worker.index()]);
      lap.last_ns = now_ns();
      worker.meet();
    });
  }
  const Timing timing = timing_of(laps, threads);
  for (unsigned i = 1; i < threads; ++i) times[0].merge(times[i]);
  report_rounds(session, row, timing, kNodes, fields_of(times[0]));
}

template <template <std::size_t> class Pool>
void run_single_calls(Session& session) {
  if (!session.enter("004_single_calls")) return;
  for (const std::size_t threads : threads_of<Pool<10>>(session))
    for (const std::size_t asked : session.sizes_among({10, 500, 1000}))
      with_known_size<10, 500, 1000>(asked, [&](auto bytes) {
        run_single_calls_row<Pool<bytes>, bytes>(session, static_cast<unsigned>(threads));
      });
}

}  // namespace tarn::bench::source_004
