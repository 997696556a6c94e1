// A pool near its end: of all blocks that it holds none, a few, or half are free, and the program goes on
// replacing a random one, as a server with a capped pool does. Source 003's pool searches for a free block
// from where it stands. "pair" is the other end: one block is live at a time.
#pragma once
#include "block_size.h"
#include "contestant.h"
#include "pool_blocks.h"

namespace tarn::bench::near_full {

inline constexpr double kRowSeconds = 0.05;
inline constexpr std::size_t kMostBytes = std::size_t{64} << 20;  // of a pool; larger ones are left out

struct Plan {
  std::size_t held;  // blocks that the pool has had at once
  std::size_t live;
};

template <class Pool, std::size_t Bytes>
class Replacements {
 public:
  static constexpr std::size_t kPerRound = 1024;

  explicit Replacements(const Plan& plan) : live_(plan.live), victims_(kDrawn) {
    Random random(plan.held);
    Table<FixedSlot<Bytes>> held(plan.held), mixed(plan.held);
    for (FixedSlot<Bytes>& slot : held) slot.block = used(pool_.allocate(Bytes));
    FreePlan(FreeOrder::kRandom, plan.held, plan.held).arrange(held, mixed);
    for (std::size_t i = 0; i < plan.held; ++i) {
      if (i < plan.live)
        live_[i] = mixed[i];
      else
        pool_.deallocate(mixed[i].block, Bytes);
    }
    for (std::uint32_t& victim : victims_)
      victim = static_cast<std::uint32_t>(random.between(0, plan.live - 1));
  }
  ~Replacements() {
    for (const FixedSlot<Bytes>& slot : live_) pool_.deallocate(slot.block, Bytes);
  }
  Replacements(const Replacements&) = delete;
  Replacements& operator=(const Replacements&) = delete;

  void verify(Worker& worker) {
    for (std::size_t i = 0; i < kDrawn / kPerRound; ++i) round();
    verify_slots(live_, worker);
  }
  void round() {
    for (std::size_t i = 0; i < kPerRound; ++i, ++next_) {
      FixedSlot<Bytes>& slot = live_[victims_[next_ % kDrawn]];
      pool_.deallocate(slot.block, Bytes);
      slot.block = used(pool_.allocate(Bytes));
    }
  }

 private:
  static constexpr std::size_t kDrawn = 65'536;  // used in turn

  Pool pool_;
  Table<FixedSlot<Bytes>> live_;
  Table<std::uint32_t> victims_;
  std::size_t next_ = 0;
};

template <class Pool, std::size_t Bytes>
void run_row(Session& session, const SeriesName& name, const Plan& plan) {
  const Row row = {.series = name, .bytes = Bytes};
  if (plan.held * Bytes > kMostBytes) return;
  using Work = Replacements<Pool, Bytes>;
  run_timed_row(session, row, kRowSeconds, Work::kPerRound, [&](unsigned) { return Work(plan); });
}

template <template <std::size_t> class Pool>
void run(Session& session) {
  if (!session.enter("near_full")) return;
  for (const std::size_t bytes : session.sizes_among({64, 1000})) {
    with_known_size<64, 1000>(bytes, [&](auto known) {
      run_row<Pool<known>, known>(session, series("pair"), {1, 1});
      for (const std::size_t held : session.values({1000, 20'000, 1'000'000}))
        for (const std::size_t percent : session.values({50, 90, 98, 100}))
          run_row<Pool<known>, known>(session, series("%zu %% of %zu", percent, held),
                                      {held, held / 100 * percent});
    });
  }
}

}  // namespace tarn::bench::near_full
