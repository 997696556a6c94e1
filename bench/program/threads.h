// Threads of a row, and the clock over them.
//
// A row of one thread runs in the main thread, as a single-threaded program would. With more, every thread
// prepares, warms up, meets the others, and then repeats its round until the row's time is over, at least
// kLeastRounds times: a figure of a single round would be that of whatever disturbed it. The row's wall time
// goes from the first start to the last end, so that a thread waiting for a core or a lock counts.
#pragma once
#include <pthread.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "clock.h"

namespace tarn::bench {

inline constexpr unsigned kMaxThreads = 256;
/// Of each thread, in a warm row; tools/tarn/bench/figures/bench_document.h looks for it in the results.
inline constexpr std::uint64_t kLeastRounds = 5;

/// How many the process may use; at least 1.
unsigned usable_cores();
/// From now on every thread of a row stays on one core, the i-th on the i-th that the process may use, and so
/// on around. The caller's thread is moved to the first.
void pin_threads();
/// Where pin_threads() asked for it, keeps the calling thread on its core.
void stay_on_core(unsigned index);

class Worker {
 public:
  Worker(unsigned index, pthread_barrier_t* barrier) : index_(index), barrier_(barrier) {}
  unsigned index() const { return index_; }
  /// Returns when all threads of the row have come here.
  void meet() {
    if (barrier_ != nullptr) pthread_barrier_wait(barrier_);
  }

 private:
  unsigned index_;
  pthread_barrier_t* barrier_;  // nullptr: the only thread
};

template <class Body>
void run_on_threads(unsigned count, Body body) {
  if (count == 1) {
    Worker only(0, nullptr);
    body(only);
    return;
  }
  struct Start {
    Body* body;
    pthread_barrier_t* barrier;
    unsigned index;
    pthread_t thread;
  };
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, count);
  std::array<Start, kMaxThreads> starts;
  for (unsigned i = 0; i < count; ++i) {
    starts[i] = {&body, &barrier, i, {}};
    const auto entry = [](void* argument) -> void* {
      const Start& start = *static_cast<Start*>(argument);
      stay_on_core(start.index);
      Worker worker(start.index, start.barrier);
      (*start.body)(worker);
      return nullptr;
    };
    if (pthread_create(&starts[i].thread, nullptr, entry, &starts[i]) != 0) {
      std::fputs("bench: cannot start a thread\n", stderr);
      std::_Exit(1);
    }
  }
  for (unsigned i = 0; i < count; ++i) pthread_join(starts[i].thread, nullptr);
  pthread_barrier_destroy(&barrier);
}

/// When one thread's part of a row began and ended.
struct Lap {
  std::uint64_t first_ns = 0;
  std::uint64_t last_ns = 0;
  std::uint64_t rounds = 0;
};

struct Timing {
  double wall_ns = 0;
  std::uint64_t rounds = 0;        // of all threads
  std::uint64_t least_rounds = 0;  // of one
};

using Laps = std::array<Lap, kMaxThreads>;

inline Timing timing_of(const Laps& laps, unsigned threads) {
  std::uint64_t first_ns = laps[0].first_ns;
  std::uint64_t last_ns = laps[0].last_ns;
  Timing timing;
  timing.least_rounds = laps[0].rounds;
  for (unsigned i = 0; i < threads; ++i) {
    first_ns = std::min(first_ns, laps[i].first_ns);
    last_ns = std::max(last_ns, laps[i].last_ns);
    timing.rounds += laps[i].rounds;
    timing.least_rounds = std::min(timing.least_rounds, laps[i].rounds);
  }
  timing.wall_ns = static_cast<double>(last_ns - first_ns);
  return timing;
}

/// Whether a thread must go on with its row.
inline bool needs_more(const Lap& lap, double budget_ns, std::uint64_t least_rounds = kLeastRounds) {
  return lap.rounds < least_rounds || static_cast<double>(lap.last_ns - lap.first_ns) < budget_ns;
}

/// Rounds before the clock starts. \why an allocator finds out in some rounds how much memory a loop needs,
/// and keeps it then; first touch has rows of its own
inline constexpr std::uint64_t kWarmUpRounds = 8;
inline constexpr std::uint64_t kLongestWarmUpNs = 10'000'000;  // then the round that was begun is the last

template <class Work>
void warm_up(Work& work) {
  const std::uint64_t start_ns = now_ns();
  for (std::uint64_t i = 0; i < kWarmUpRounds && now_ns() - start_ns < kLongestWarmUpNs; ++i) work.round();
  if constexpr (requires { work.forget_times(); }) work.forget_times();
}

/// Repeats rounds on every thread for `budget_ns`. `make_work(index)` gives a thread's work: verify(worker)
/// runs once before the clock, round() repeatedly; forget_times() comes before the rounds that count, for
/// work that takes times itself.
template <class MakeWork>
Timing time_rounds(unsigned threads, double budget_ns, MakeWork make_work,
                   std::uint64_t least_rounds = kLeastRounds) {
  Laps laps;
  run_on_threads(threads, [&](Worker& worker) {
    auto work = make_work(worker.index());
    work.verify(worker);
    warm_up(work);
    worker.meet();
    Lap& lap = laps[worker.index()];
    lap.first_ns = lap.last_ns = now_ns();
    while (needs_more(lap, budget_ns, least_rounds)) {
      work.round();
      ++lap.rounds;
      lap.last_ns = now_ns();
    }
    worker.meet();
  });
  return timing_of(laps, threads);
}

}  // namespace tarn::bench
