// Source 003, requests larger than a block: n blocks of 64 bytes side by side, and their free.
//
// n COUNT   runs of COUNT blocks, 10,000 blocks in all: allocate all, free all in random order
// batch N   runs of 1 to 16 blocks, N blocks in all: allocate all, free all in random order
// churn N   runs of 1 to 16 blocks; N blocks live and about N free and scattered: free one, allocate another
//
// An operation is a run allocated and freed. Pools whose free is O(N) take seconds per batch: a row ends with
// the first batch that goes beyond its time.
//
// A pool offers allocate_run(count) and deallocate_run(run, count).
#pragma once
#include "contestant.h"
#include "planned_batches.h"

namespace tarn::bench::contiguous {

inline constexpr std::size_t kBlockBytes = 64;
inline constexpr std::size_t kLongestRun = 16;
inline constexpr double kRowSeconds = 0.012;

/// `bytes` is what the look for overlaps needs; `count` what the pool is told.
struct RunSlot {
  void* block;
  std::size_t bytes;
  std::size_t count;
};

inline RunSlot slot_of(std::size_t count) { return {nullptr, count * kBlockBytes, count}; }

struct RunLengths {
  std::size_t shortest;
  std::size_t longest;
};

struct Calls {
  template <class Pool>
  static void* allocate(Pool& pool, const RunSlot& slot) {
    return pool.allocate_run(slot.count);
  }
  template <class Pool>
  static void deallocate(Pool& pool, const RunSlot& slot) {
    pool.deallocate_run(slot.block, slot.count);
  }
};

template <class Pool>
class RunBatches : public PlannedBatches<Pool, RunSlot, Calls> {
 public:
  RunBatches(std::size_t blocks, RunLengths lengths, PhaseTimes& times)
      : PlannedBatches<Pool, RunSlot, Calls>(runs_in(blocks, lengths), FreeOrder::kRandom, times) {
    Random random(blocks);
    for (RunSlot& slot : this->slots()) slot = slot_of(random.between(lengths.shortest, lengths.longest));
  }

  static std::size_t runs_in(std::size_t blocks, RunLengths lengths) {
    return 2 * blocks / (lengths.shortest + lengths.longest);
  }
};

/// One round replaces a few hundred runs, chosen beforehand.
template <class Pool>
class RunChurn {
 public:
  explicit RunChurn(std::size_t blocks)
      : live_(2 * blocks / (1 + kLongestRun)), replacements_(kReplacements), random_(blocks) {
    for (Replacement& replacement : replacements_)
      replacement = {random_.between(0, live_.size() - 1), random_.between(1, kLongestRun)};
  }
  ~RunChurn() {
    for (const RunSlot& slot : live_) pool_.deallocate_run(slot.block, slot.count);
  }
  RunChurn(const RunChurn&) = delete;
  RunChurn& operator=(const RunChurn&) = delete;

  /// Twice as many runs as will be live, of which a random half is freed again.
  void verify(Worker& worker) {
    Table<RunSlot> all(2 * live_.size());
    for (RunSlot& slot : all) {
      slot = slot_of(random_.between(1, kLongestRun));
      slot.block = pool_.allocate_run(slot.count);
    }
    verify_slots(all, worker);
    const FreePlan plan(FreeOrder::kRandom, all.size(), 7);
    for (std::size_t i = 0; i < live_.size(); ++i) live_[i] = all[plan[i]];
    for (std::size_t i = live_.size(); i < all.size(); ++i)
      pool_.deallocate_run(all[plan[i]].block, all[plan[i]].count);
  }

  void round() {
    for (std::size_t i = 0; i < kReplacementsPerRound; ++i, ++next_) {
      const Replacement& replacement = replacements_[next_ % kReplacements];
      RunSlot& slot = live_[replacement.victim];
      pool_.deallocate_run(slot.block, slot.count);
      slot.count = replacement.count;
      slot.block = used(pool_.allocate_run(slot.count));
    }
  }

  static constexpr std::size_t kReplacementsPerRound = 256;

 private:
  static constexpr std::size_t kReplacements = 16'384;
  struct Replacement {
    std::size_t victim;
    std::size_t count;
  };

  Pool pool_;
  Table<RunSlot> live_;
  Table<Replacement> replacements_;
  std::size_t next_ = 0;
  Random random_;
};

template <class Pool>
void run_batch_row(Session& session, const SeriesName& name, std::size_t blocks, RunLengths lengths) {
  const Row row = {.series = name, .bytes = kBlockBytes};
  if (!session.wants(row)) return;
  PhaseTimes times;
  const Timing timing = time_rounds(1, session.budget_ns(kRowSeconds),
                                    [&](unsigned) { return RunBatches<Pool>(blocks, lengths, times); });
  report_planned(session, row, times, effort_of(timing, RunBatches<Pool>::runs_in(blocks, lengths)));
}

template <class Pool>
void run_churn_row(Session& session, std::size_t blocks) {
  run_timed_row(session, {.series = series("churn %zu", blocks), .bytes = kBlockBytes}, kRowSeconds,
                RunChurn<Pool>::kReplacementsPerRound, [&](unsigned) { return RunChurn<Pool>(blocks); });
}

template <class Pool>
void run(Session& session) {
  if (!session.enter("003_contiguous")) return;
  for (const std::size_t count : session.values({1, 2, 4, 8, 16}))
    run_batch_row<Pool>(session, series("n %zu", count), 10'000, {count, count});
  for (const std::size_t blocks : session.values({1000, 10'000, 40'000}))
    run_batch_row<Pool>(session, series("batch %zu", blocks), blocks, {1, kLongestRun});
  for (const std::size_t blocks : session.values({1000, 10'000, 40'000}))
    run_churn_row<Pool>(session, blocks);
}

}  // namespace tarn::bench::contiguous
