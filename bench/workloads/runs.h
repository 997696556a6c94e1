// Runs in churn: some hundred or thousand runs of random lengths are live, and a random one is freed and
// another allocated, as a server does that takes contiguous blocks for its larger requests (source 003). A
// pool has a cap: the live runs are 50 or 75 % of its blocks. Other allocators get a run as one block.
//
// 1-N, COUNT live, PERCENT %   runs of 1 to N blocks of `bytes`; an operation is one replacement
//
// A pool is made for the most blocks that it may have, and offers allocate_run(count) and
// deallocate_run(run, count). After a refusal half the length is tried.
#pragma once
#include "block_size.h"
#include "contestant.h"
#include "contiguous.h"

namespace tarn::bench::runs {

inline constexpr double kRowSeconds = 0.02;
inline constexpr std::size_t kLongestRun = 64;
inline constexpr std::size_t kMostBytes = std::size_t{128} << 20;  // of a pool; larger ones are left out

struct Plan {
  std::size_t longest;  // blocks
  std::size_t live;     // runs
  std::size_t percent;

  std::size_t most_blocks() const { return live * (1 + longest) / 2 * 100 / percent; }
  std::size_t held() const { return live * 100 / percent * 9 / 10; }
};

template <class Pool, std::size_t Bytes>
class Churn {
 public:
  static constexpr std::size_t kPerRound = 1024;

  /// Nine tenths of what the pool may have are allocated; random ones stay live.
  explicit Churn(const Plan& plan)
      : pool_(plan.most_blocks() + plan.longest), live_(plan.live), replacements_(kDrawn) {
    Random random(plan.live + plan.longest);
    const std::size_t held_count = plan.held() < plan.live ? plan.live : plan.held();
    Table<contiguous::RunSlot> held(held_count), mixed(held_count);
    for (contiguous::RunSlot& slot : held) allocate(slot, random.between(1, plan.longest));
    FreePlan(FreeOrder::kRandom, held_count, held_count).arrange(held, mixed);
    for (std::size_t i = 0; i < held_count; ++i) {
      if (i < plan.live)
        live_[i] = mixed[i];
      else
        pool_.deallocate_run(mixed[i].block, mixed[i].count);
    }
    for (Replacement& replacement : replacements_)
      replacement = {static_cast<std::uint32_t>(random.between(0, plan.live - 1)),
                     static_cast<std::uint32_t>(random.between(1, plan.longest))};
  }
  ~Churn() {
    for (const contiguous::RunSlot& slot : live_) pool_.deallocate_run(slot.block, slot.count);
  }
  Churn(const Churn&) = delete;
  Churn& operator=(const Churn&) = delete;

  void verify(Worker& worker) {
    for (std::size_t i = 0; i < kDrawn / kPerRound; ++i) round();
    verify_slots(live_, worker);
  }
  void round() {
    for (std::size_t i = 0; i < kPerRound; ++i, ++next_) {
      const Replacement& replacement = replacements_[next_ % kDrawn];
      contiguous::RunSlot& slot = live_[replacement.victim];
      pool_.deallocate_run(slot.block, slot.count);
      allocate(slot, replacement.count);
    }
  }

 private:
  static constexpr std::size_t kDrawn = 65'536;  // used in turn
  struct Replacement {
    std::uint32_t victim;
    std::uint32_t count;
  };

  void allocate(contiguous::RunSlot& slot, std::size_t count) {
    void* run = pool_.allocate_run(count);
    while (run == nullptr) run = pool_.allocate_run(count = (count + 1) / 2);
    slot = {used(run), count * Bytes, count};
  }

  Pool pool_;
  Table<contiguous::RunSlot> live_;
  Table<Replacement> replacements_;
  std::size_t next_ = 0;
};

template <class Pool, std::size_t Bytes>
void run_row(Session& session, const Plan& plan) {
  const Row row = {.series = series("1-%zu, %zu live, %zu %%", plan.longest, plan.live, plan.percent),
                   .bytes = Bytes};
  if (plan.most_blocks() * Bytes > kMostBytes) return;
  using Work = Churn<Pool, Bytes>;
  run_timed_row(session, row, kRowSeconds, Work::kPerRound, [&](unsigned) { return Work(plan); });
}

template <template <std::size_t> class Pool>
void run(Session& session) {
  if (!session.enter("003_runs")) return;
  for (const std::size_t bytes : session.sizes_among({64, 1000})) {
    with_known_size<64, 1000>(bytes, [&](auto known) {
      for (const std::size_t percent : {std::size_t{50}, std::size_t{75}}) {
        for (const std::size_t longest : {std::size_t{4}, kLongestRun})
          run_row<Pool<known>, known>(session, {longest, 1000, percent});
        for (const std::size_t live : session.values({100, 1000, 10'000}))
          run_row<Pool<known>, known>(session, {16, live, percent});
      }
    });
  }
}

}  // namespace tarn::bench::runs
