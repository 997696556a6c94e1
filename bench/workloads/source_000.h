// Source 000, a size-class pool: eight sizes, 100,000 iterations split over the threads.
//
// basic   allocate N, free N, and N pairs of allocate and free; single and 16 threads
// stress  allocate N, free every third, allocate those again, free all
// mixed   a random size of the eight; free about 30 % at random; refill; free all
//
// Figures are per iteration; beside them the phases, as the source prints them. With 16 threads a phase of
// one thread is shorter than a time slice, so those rows are the whole (allocate N and free N) by the wall
// clock.
#pragma once
#include "block_size.h"
#include "contestant.h"
#include "phase_times.h"
#include "random.h"
#include "table.h"
#include "timed_row.h"
#include "use.h"
#include "verify.h"

namespace tarn::bench::source_000 {

inline constexpr std::size_t kIterations = 100'000;
inline constexpr std::size_t kManyThreads = 16;
inline constexpr double kRowSeconds = 0.02;
inline constexpr double kMixedSeconds = 0.1;
inline constexpr std::uint32_t kSizes[] = {32, 64, 128, 256, 512, 1024, 2048, 4096};
inline constexpr const char* kWholePhases[] = {"allocate", "free"};
inline constexpr const char* kStressPhases[] = {"allocate", "free_some", "refill", "free_all"};

/// Calls `body` with each size that is asked for.
template <class Body>
void for_each_size(const Session& session, Body body) {
  for (const std::size_t bytes : session.sizes({32, 64, 128, 256, 512, 1024, 2048, 4096}))
    with_size<32, 64, 128, 256, 512, 1024, 2048, 4096>(bytes, body);
}

/// N blocks of one size, and the loops over them.
template <class Api, class Size>
class Blocks {
 public:
  Blocks(Size bytes, std::size_t count, PhaseTimes& times) : bytes_(bytes), blocks_(count), times_(times) {}

  void verify(Worker& worker) {
    allocate_all();
    verify_blocks<Api>(
        blocks_, [this](std::size_t) { return std::size_t{bytes_}; }, worker);
    free_all();
  }
  void forget_times() { times_ = {}; }

 protected:
  void allocate_all() {
    for (void*& block : blocks_) block = allocate_used<Api>(bytes_);
  }
  void free_all() {
    for (void* block : blocks_) Api::deallocate(block, bytes_);
  }

  Size bytes_;
  Table<void*> blocks_;
  PhaseTimes& times_;
};

template <class Api, class Size>
struct Whole : Blocks<Api, Size> {
  using Blocks<Api, Size>::Blocks;
  void round() {
    this->times_.start();
    this->allocate_all();
    this->times_.end_phase();
    this->free_all();
    this->times_.end_phase();
  }
};

template <class Api, class Size>
struct Pairs : Blocks<Api, Size> {
  using Blocks<Api, Size>::Blocks;
  void round() {
    for (std::size_t i = 0; i < this->blocks_.size(); ++i)
      Api::deallocate(allocate_used<Api>(this->bytes_), this->bytes_);
  }
};

template <class Api, class Size>
struct Stress : Blocks<Api, Size> {
  using Blocks<Api, Size>::Blocks;
  void round() {
    this->times_.start();
    this->allocate_all();
    this->times_.end_phase();
    for (std::size_t i = 0; i < this->blocks_.size(); i += 3) Api::deallocate(this->blocks_[i], this->bytes_);
    this->times_.end_phase();
    for (std::size_t i = 0; i < this->blocks_.size(); i += 3)
      this->blocks_[i] = allocate_used<Api>(this->bytes_);
    this->times_.end_phase();
    this->free_all();
    this->times_.end_phase();
  }
};

/// The mixed test; what is random is drawn before the clock starts.
template <class Api>
class Mixed {
 public:
  Mixed(std::size_t iterations, unsigned index, PhaseTimes& times)
      : blocks_(iterations), sizes_(iterations), plans_(iterations), times_(times) {
    Random random(index + 1);
    for (Plan& plan : plans_) {
      plan.first_bytes = kSizes[random.between(0, std::size(kSizes) - 1)];
      plan.refill_bytes = kSizes[random.between(0, std::size(kSizes) - 1)];
      plan.is_freed_early = random.between(1, 100) <= 30;
    }
  }

  void verify(Worker& worker) {
    fill();
    free_some();
    refill();
    verify_blocks<Api>(
        blocks_, [this](std::size_t i) { return std::size_t{sizes_[i]}; }, worker);
    free_all();
  }
  void forget_times() { times_ = {}; }

  void round() {
    times_.start();
    fill();
    times_.end_phase();
    free_some();
    times_.end_phase();
    refill();
    times_.end_phase();
    free_all();
    times_.end_phase();
  }

 private:
  struct Plan {
    std::uint32_t first_bytes;
    std::uint32_t refill_bytes;
    bool is_freed_early;
  };

  void allocate_at(std::size_t i, std::uint32_t bytes) {
    blocks_[i] = allocate_used<Api>(bytes);
    sizes_[i] = bytes;
  }
  void fill() {
    for (std::size_t i = 0; i < blocks_.size(); ++i) allocate_at(i, plans_[i].first_bytes);
  }
  void free_some() {
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      if (plans_[i].is_freed_early) Api::deallocate(blocks_[i], sizes_[i]);
    }
  }
  void refill() {
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      if (plans_[i].is_freed_early) allocate_at(i, plans_[i].refill_bytes);
    }
  }
  void free_all() {
    for (std::size_t i = 0; i < blocks_.size(); ++i) Api::deallocate(blocks_[i], sizes_[i]);
  }

  Table<void*> blocks_;
  Table<std::uint32_t> sizes_;
  Table<Plan> plans_;
  PhaseTimes& times_;
};

/// One row on all of its threads; `make_work(iterations, index, times)` gives a thread's work.
template <std::size_t Phases, class MakeWork>
void run_row(Session& session, const Row& row, double seconds, const char* const (&phases)[Phases],
             MakeWork make_work) {
  if (!session.wants(row)) return;
  const std::size_t iterations = kIterations / row.threads;
  Table<PhaseTimes> times(row.threads);
  const Timing timing = time_rounds(row.threads, session.budget_ns(seconds), [&](unsigned index) {
    return make_work(iterations, index, times[index]);
  });
  const auto operations = static_cast<double>(timing.rounds * iterations);
  report_rounds(session, row, timing, iterations, phase_fields(sum_of(times), phases, operations));
}

template <class Api, class Size>
void run_pairs(Session& session, Size bytes, unsigned threads) {
  const std::size_t iterations = kIterations / threads;
  PhaseTimes unused;
  run_timed_row(session, {.series = series("pairs"), .bytes = bytes, .threads = threads}, kRowSeconds,
                iterations, [&](unsigned) { return Pairs<Api, Size>(bytes, iterations, unused); });
}

/// Two rows: the two phases of the same rounds.
template <class Api, class Size>
void run_phases(Session& session, Size bytes) {
  const Row allocate_row = {.series = series("allocate"), .bytes = bytes};
  const Row free_row = {.series = series("free"), .bytes = bytes};
  const bool wants_allocate = session.wants(allocate_row);
  const bool wants_free = session.wants(free_row);
  if (!wants_allocate && !wants_free) return;
  PhaseTimes times;
  const Timing timing = time_rounds(1, session.budget_ns(2 * kRowSeconds),
                                    [&](unsigned) { return Whole<Api, Size>(bytes, kIterations, times); });
  const Effort effort = effort_of(timing, kIterations);
  session.report(allocate_row, times.ns(0) / static_cast<double>(effort.operations), effort);
  session.report(free_row, times.ns(1) / static_cast<double>(effort.operations), effort);
}

/// The first round of a fresh process: every page is touched for the first time.
template <class Api>
void run_cold(Session& session) {
  for (const std::size_t asked : session.sizes_among({64, 512, 4096})) {
    with_known_size<64, 512, 4096>(asked, [&](auto bytes) {
      const Row row = {.bytes = bytes, .temperature = Temperature::kCold};
      if (!session.wants(row)) return;
      PhaseTimes times;
      Whole<Api, decltype(bytes)>(bytes, kIterations, times).round();
      session.report(row, (times.ns(0) + times.ns(1)) / kIterations, {kIterations},
                     phase_fields(times, kWholePhases, kIterations));
    });
  }
}

template <class Api>
void run_single(Session& session) {
  if (!session.enter("000_single")) return;
  for_each_size(session, [&](auto bytes) {
    run_phases<Api>(session, bytes);
    run_pairs<Api>(session, bytes, 1);
  });
  run_cold<Api>(session);
}

template <class Api>
void run_multi(Session& session) {
  if (!session.enter("000_multi")) return;
  for (const std::size_t asked : session.threads({kManyThreads})) {
    const auto threads = static_cast<unsigned>(asked);
    for_each_size(session, [&](auto bytes) {
      run_row(session, {.series = series("whole"), .bytes = bytes, .threads = threads}, kRowSeconds,
              kWholePhases, [&](std::size_t iterations, unsigned, PhaseTimes& times) {
                return Whole<Api, decltype(bytes)>(bytes, iterations, times);
              });
      run_pairs<Api>(session, bytes, threads);
    });
  }
}

template <class Api>
void run_stress(Session& session, unsigned threads) {
  for_each_size(session, [&](auto bytes) {
    run_row(session, {.bytes = bytes, .threads = threads}, kRowSeconds, kStressPhases,
            [&](std::size_t iterations, unsigned, PhaseTimes& times) {
              return Stress<Api, decltype(bytes)>(bytes, iterations, times);
            });
  });
}

template <class Api>
void run_mixed(Session& session, unsigned threads) {
  run_row(session, {.threads = threads}, kMixedSeconds, kStressPhases,
          [](std::size_t iterations, unsigned index, PhaseTimes& times) {
            return Mixed<Api>(iterations, index, times);
          });
}

template <class Api>
void run(Session& session) {
  run_single<Api>(session);
  run_multi<Api>(session);
  if (session.enter("000_stress_single")) run_stress<Api>(session, 1);
  if (session.enter("000_stress_multi"))
    for (const std::size_t threads : session.threads({kManyThreads}))
      run_stress<Api>(session, static_cast<unsigned>(threads));
  if (session.enter("000_mixed"))
    for (const std::size_t threads : session.threads({1, kManyThreads}))
      run_mixed<Api>(session, static_cast<unsigned>(threads));
}

}  // namespace tarn::bench::source_000
