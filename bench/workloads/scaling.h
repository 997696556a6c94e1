// Scaling over threads: each thread replaces random ones of its 1000 live blocks of 16 to 512 bytes. The
// figure is the wall time per replacement, all threads together: with enough cores it halves with each
// doubling of the threads, and stays where it is when they have run out.
#pragma once
#include <sched.h>

#include "contestant.h"
#include "random.h"
#include "table.h"
#include "threads.h"
#include "use.h"
#include "verify.h"

namespace tarn::bench::scaling {

inline constexpr std::size_t kLive = 1000;
inline constexpr std::size_t kPlanned = 16'384;  // replacements drawn ahead, used in turn
inline constexpr std::size_t kPerRound = 1024;
inline constexpr double kRowSeconds = 0.1;

template <class Api>
class Churn {
 public:
  explicit Churn(unsigned index) : live_(kLive), plan_(kPlanned) {
    Random random(index + 1);
    for (Replacement& one : plan_)
      one = {static_cast<std::uint16_t>(random.between(0, kLive - 1)),
             static_cast<std::uint16_t>(random.between(16, 512))};
    for (LiveBlock& block : live_) block = make(random.between(16, 512));
  }
  ~Churn() {
    for (const LiveBlock& block : live_) Api::deallocate(block.block, block.bytes);
  }
  Churn(const Churn&) = delete;
  Churn& operator=(const Churn&) = delete;

  void verify(Worker& worker) {
    for (std::size_t i = 0; i < kPlanned / kPerRound; ++i) round();
    verify_blocks(live_, Alignment::kMalloc, worker);
  }
  void round() {
    for (std::size_t i = 0; i < kPerRound; ++i, ++next_) {
      const Replacement& one = plan_[next_ % kPlanned];
      LiveBlock& block = live_[one.victim];
      Api::deallocate(block.block, block.bytes);
      block = make(one.bytes);
    }
  }

 private:
  struct Replacement {
    std::uint16_t victim;
    std::uint16_t bytes;
  };

  static LiveBlock make(std::size_t bytes) { return {allocate_used<Api>(bytes), bytes}; }

  Table<LiveBlock> live_;
  Table<Replacement> plan_;
  std::size_t next_ = 0;
};

/// Powers of two up to twice the cores, and at least to 8.
inline Axis usual_threads() {
  cpu_set_t cores;
  const int count = sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 1;
  Axis axis;
  for (std::size_t threads = 1; threads <= 8 || threads <= 2 * static_cast<std::size_t>(count); threads *= 2)
    if (threads <= kMaxThreads) axis.add(threads);
  return axis;
}

template <class Api>
void run(Session& session) {
  if (!session.enter("scaling")) return;
  for (const std::size_t threads : session.threads(usual_threads())) {
    const Row row = {.threads = static_cast<unsigned>(threads)};
    if (!session.wants(row)) continue;
    const Timing timing = time_rounds(row.threads, session.budget_ns(kRowSeconds),
                                      [](unsigned index) { return Churn<Api>(index); });
    const std::uint64_t operations = timing.rounds * kPerRound;
    session.report(row, timing.wall_ns / static_cast<double>(operations), operations);
  }
}

}  // namespace tarn::bench::scaling
