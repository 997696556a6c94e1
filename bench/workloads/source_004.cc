// Source 004, the typed free list: batches of 1000, 10,000 and 50,000 nodes of 10, 500 and 1000 bytes;
// allocate all, free all; 1, 2 and 4 threads.
//
// A row's figure is the wall time per node (allocate and free). Beside it, as the source has them, figures of
// single batches, in ns per node of one thread: average of allocating and of freeing, and minimum, maximum
// and p99.9 of both.
#include "allocator_under_test.h"
#include "clock.h"
#include "groups.h"
#include "histogram.h"
#include "table.h"
#include "threads.h"
#include "verify.h"

namespace tarn::bench {
namespace {

constexpr double kRowSeconds = 0.05;

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

template <std::size_t Bytes>
class Batches {
 public:
  Batches(std::size_t nodes, BatchTimes& times) : blocks_(nodes), times_(times) {}

  void verify(Worker& worker) {
    allocate_all();
    verify_blocks(
        blocks_, [](std::size_t) { return Bytes; }, worker);
    free_all();
  }

  void round() {
    const std::uint64_t first_ns = now_ns();
    allocate_all();
    const std::uint64_t middle_ns = now_ns();
    free_all();
    times_.add(middle_ns - first_ns, now_ns() - middle_ns);
  }

 private:
  void allocate_all() {
    for (void*& block : blocks_) {
      block = allocate_constant<Bytes>();
      touch(block, Bytes);
    }
  }
  void free_all() {
    for (void* block : blocks_) deallocate_constant<Bytes>(block);
  }

  Table<void*> blocks_;
  BatchTimes& times_;
};

Extra batch_fields(const BatchTimes& times, std::size_t nodes) {
  const auto per_batch = static_cast<double>(nodes);
  const double all = static_cast<double>(times.batches.total()) * per_batch;
  return extra_fields(
      ",\"allocate_ns\":%.3f,\"free_ns\":%.3f,\"min_ns\":%.3f,\"max_ns\":%.3f,\"p99.9_ns\":%.3f",
      times.allocate_ns / all, times.free_ns / all, static_cast<double>(times.shortest_ns) / per_batch,
      static_cast<double>(times.batches.largest()) / per_batch,
      static_cast<double>(times.batches.percentile(0.999)) / per_batch);
}

template <std::size_t Bytes>
void run_row(Session& session, std::size_t nodes, unsigned threads) {
  const RowName name = row_name("%zux%zu/threads/%u", nodes, Bytes, threads);
  if (!session.wants(name)) return;
  Table<BatchTimes> times(threads);
  for (BatchTimes& of_thread : times) of_thread.shortest_ns = UINT64_MAX;
  const Timing timing = time_rounds(threads, session.budget_ns(kRowSeconds),
                                    [&](unsigned index) { return Batches<Bytes>(nodes, times[index]); });
  for (unsigned i = 1; i < threads; ++i) times[0].merge(times[i]);
  const std::uint64_t operations = timing.rounds * nodes;
  session.report(name, timing.wall_ns / static_cast<double>(operations), operations, Temperature::kWarm,
                 batch_fields(times[0], nodes));
}

/// The first batch of a fresh process.
template <std::size_t Bytes>
void run_cold(Session& session, std::size_t nodes) {
  const RowName name = row_name("cold/%zux%zu", nodes, Bytes);
  if (!session.wants(name, Temperature::kCold)) return;
  BatchTimes times;
  Batches<Bytes> work(nodes, times);
  work.round();
  const double ns = (times.allocate_ns + times.free_ns) / static_cast<double>(nodes);
  session.report(name, ns, nodes, Temperature::kCold, batch_fields(times, nodes));
}

}  // namespace

void run_004_batches(Session& session) {
  for (const unsigned threads : {1u, 2u, 4u}) {
    for (const std::size_t nodes : {1000u, 10'000u, 50'000u}) {
      run_row<10>(session, nodes, threads);
      run_row<500>(session, nodes, threads);
      run_row<1000>(session, nodes, threads);
    }
  }
  run_cold<10>(session, 50'000);
  run_cold<1000>(session, 50'000);
}

}  // namespace tarn::bench
