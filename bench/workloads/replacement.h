// A thread's work that replaces random ones of its live blocks by blocks of random sizes. The requests are
// drawn ahead, so that the clock runs over calls of the allocator alone.
#pragma once
#include "contestant.h"
#include "random.h"
#include "table.h"
#include "timed_row.h"
#include "use.h"
#include "verify.h"

namespace tarn::bench {

struct ReplacementPlan {
  std::size_t live;           // blocks of each thread
  std::size_t largest_bytes;  // the smallest has 16
};

template <class Api>
class Replacements {
 public:
  static constexpr std::size_t kPerRound = 1024;

  Replacements(const ReplacementPlan& plan, unsigned index) : live_(plan.live), next_ones_(kDrawn) {
    Random random(index + 1);
    for (Replacement& one : next_ones_)
      one = {static_cast<std::uint32_t>(random.between(0, plan.live - 1)),
             static_cast<std::uint32_t>(random.between(kSmallest, plan.largest_bytes))};
    for (LiveBlock& block : live_) block = make(random.between(kSmallest, plan.largest_bytes));
  }
  ~Replacements() {
    for (const LiveBlock& block : live_) Api::deallocate(block.block, block.bytes);
  }
  Replacements(const Replacements&) = delete;
  Replacements& operator=(const Replacements&) = delete;

  void verify(Worker& worker) {
    for (std::size_t i = 0; i < kDrawn / kPerRound; ++i) round();
    verify_blocks(live_, Alignment::kMalloc, worker);
  }
  void round() {
    for (std::size_t i = 0; i < kPerRound; ++i, ++next_) {
      const Replacement& one = next_ones_[next_ % kDrawn];
      LiveBlock& block = live_[one.victim];
      Api::deallocate(block.block, block.bytes);
      block = make(one.bytes);
    }
  }

 private:
  static constexpr std::size_t kSmallest = 16;
  static constexpr std::size_t kDrawn = 16'384;  // used in turn

  struct Replacement {
    std::uint32_t victim;
    std::uint32_t bytes;
  };

  static LiveBlock make(std::size_t bytes) { return {allocate_used<Api>(bytes), bytes}; }

  Table<LiveBlock> live_;
  Table<Replacement> next_ones_;
  std::size_t next_ = 0;
};

/// The row's wall time per replacement, all threads together.
template <class Api>
void report_replacements(Session& session, const Row& row, const ReplacementPlan& plan, double seconds) {
  run_timed_row(session, row, seconds, Replacements<Api>::kPerRound,
                [&](unsigned index) { return Replacements<Api>(plan, index); });
}

}  // namespace tarn::bench
