// Calls in a loop, timed by Google Benchmark, which chooses how often: a pair of allocate and free of one
// size, where everything is as near as it can be. What the entry points themselves cost, without a workload
// around them.
//
// Programs of their own, so that the library's memory is not in the other workloads' processes.
#pragma once
#include <benchmark/benchmark.h>

#include <vector>

#include "contestant.h"
#include "pool_blocks.h"
#include "source_002.h"

namespace tarn::bench::micro {

inline constexpr double kRowSeconds = 0.03;

struct Timed {
  double ns = 0;
  std::uint64_t iterations = 0;
};

/// Keeps the figures of the one benchmark that runs, and prints nothing.
class Keeper : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs)
      timed_ = {run.GetAdjustedRealTime(), static_cast<std::uint64_t>(run.iterations)};
  }
  const Timed& timed() const { return timed_; }

 private:
  Timed timed_;
};

template <class Loop>
Timed time_loop(const Row& row, double seconds, Loop loop) {
  benchmark::ClearRegisteredBenchmarks();
  benchmark::RegisterBenchmark(row.name().text, [&](benchmark::State& state) { loop(state); })
      ->MinTime(seconds)
      ->UseRealTime()
      ->Unit(benchmark::kNanosecond);
  Keeper keeper;
  benchmark::RunSpecifiedBenchmarks(&keeper);
  return keeper.timed();
}

template <class Loop>
void run_row(Session& session, const Row& row, Loop loop) {
  constexpr int kTries = 10;
  Timed timed;
  // An iteration that loses the processor for the whole of the row's time would be all that there is.
  for (int i = 0; i < kTries && timed.iterations < kLeastRounds; ++i)
    timed = time_loop(row, session.budget_ns(kRowSeconds) * 1e-9, loop);
  session.report(row, timed.ns, {timed.iterations, timed.iterations});
}

/// Pairs on any malloc.
template <class Api>
void run(Session& session) {
  if (!session.enter("micro")) return;
  for (const std::size_t bytes : session.sizes({8, 16, 64, 256, 1024, 4096, 32'768, 262'144})) {
    const Row row = {.series = series("pair"), .bytes = bytes};
    if (!session.wants(row)) continue;
    Worker only(0, nullptr);
    source_002::verify_sizes<Api>([bytes](std::size_t) { return bytes; }, only);
    run_row(session, row, [bytes](benchmark::State& state) {
      for ([[maybe_unused]] auto unused : state) Api::deallocate(allocate_used<Api>(bytes), bytes);
    });
  }
}

template <std::size_t Bytes, class Pool>
void verify_pool(Pool& pool) {
  Worker only(0, nullptr);
  Table<FixedSlot<Bytes>> slots(source_002::kVerifiedBlocks);
  for (FixedSlot<Bytes>& slot : slots) slot.block = pool.allocate(Bytes);
  verify_slots(slots, only);
  for (const FixedSlot<Bytes>& slot : slots) pool.deallocate(slot.block, Bytes);
}

/// Pairs on a pool of blocks.
template <template <std::size_t> class Pool>
void run_pool(Session& session) {
  if (!session.enter("micro")) return;
  for (const std::size_t asked : session.sizes_among({16, 64, 256, 1024, 4096})) {
    with_known_size<16, 64, 256, 1024, 4096>(asked, [&](auto bytes) {
      const Row row = {.series = series("pair"), .bytes = bytes};
      if (!session.wants(row)) return;
      Pool<bytes> pool;
      verify_pool<bytes>(pool);
      run_row(session, row, [&](benchmark::State& state) {
        for ([[maybe_unused]] auto unused : state) pool.deallocate(used(pool.allocate(bytes)), bytes);
      });
    });
  }
}

}  // namespace tarn::bench::micro
