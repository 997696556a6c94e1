// Batches on a pool of one thread, freed in the order of a plan. Between the two halves the slots are laid
// out in that order, so that the timed loops only walk an array; that is a phase of its own, which no figure
// counts.
//
// `Calls` says how a slot is allocated and freed: allocate(pool, slot), deallocate(pool, slot).
#pragma once
#include "phase_times.h"
#include "pool_blocks.h"

namespace tarn::bench {

/// The phases that are measured, by name; the one between them is not told.
inline constexpr const char* kPlannedPhases[] = {"allocate", nullptr, "free"};

inline void report_planned(Session& session, const Row& row, const PhaseTimes& times, const Effort& effort) {
  const auto count = static_cast<double>(effort.operations);
  session.report(row, (times.ns(0) + times.ns(2)) / count, effort,
                 phase_fields(times, kPlannedPhases, count));
}

template <class Pool, class Slot, class Calls>
class PlannedBatches {
 public:
  PlannedBatches(std::size_t count, FreeOrder order, PhaseTimes& times)
      : allocated_(count), freed_(count), plan_(order, count, kSeed), times_(times) {}

  void verify(Worker& worker) {
    allocate_all();
    verify_slots(allocated_, worker);
    plan_.arrange(allocated_, freed_);
    free_all();
  }

  void forget_times() { times_ = {}; }
  void round() {
    times_.start();
    allocate_all();
    times_.end_phase();
    plan_.arrange(allocated_, freed_);
    times_.end_phase();
    free_all();
    times_.end_phase();
  }

 protected:
  /// For what a slot is to ask for.
  Table<Slot>& slots() { return allocated_; }

 private:
  static constexpr std::uint64_t kSeed = 3;

  [[gnu::noinline]] void allocate_all() {
    for (Slot& slot : allocated_) slot.block = used(Calls::allocate(pool_, slot));
  }
  [[gnu::noinline]] void free_all() {
    for (const Slot& slot : freed_) Calls::deallocate(pool_, slot);
  }

  Pool pool_;
  Table<Slot> allocated_;
  Table<Slot> freed_;
  FreePlan plan_;
  PhaseTimes& times_;
};

}  // namespace tarn::bench
