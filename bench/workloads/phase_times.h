// Time spent in the phases of a workload, as the sources tell it: per phase, summed over threads.
#pragma once
#include <array>
#include <cstdint>
#include <cstdio>

#include "clock.h"
#include "session.h"
#include "table.h"

namespace tarn::bench {

/// One thread's. A round is start(), then end_phase() after each phase, in order.
class PhaseTimes {
 public:
  static constexpr std::size_t kMaxPhases = 4;

  void start() {
    last_ns_ = now_ns();
    phase_ = 0;
  }
  void end_phase() {
    const std::uint64_t now = now_ns();
    spent_ns_[phase_++] += now - last_ns_;
    last_ns_ = now;
  }
  void merge(const PhaseTimes& other) {
    for (std::size_t i = 0; i < kMaxPhases; ++i) spent_ns_[i] += other.spent_ns_[i];
  }
  double ns(std::size_t phase) const { return static_cast<double>(spent_ns_[phase]); }

 private:
  std::array<std::uint64_t, kMaxPhases> spent_ns_{};
  std::uint64_t last_ns_ = 0;
  std::size_t phase_ = 0;
};

inline PhaseTimes sum_of(const Table<PhaseTimes>& of_threads) {
  PhaseTimes sum;
  for (const PhaseTimes& times : of_threads) sum.merge(times);
  return sum;
}

/// The phases that have a name as JSON members, each in ns per operation.
template <std::size_t Count>
Extra phase_fields(const PhaseTimes& times, const char* const (&names)[Count], double operations) {
  static_assert(Count <= PhaseTimes::kMaxPhases);
  Extra fields = {};
  std::size_t length = 0;
  for (std::size_t i = 0; i < Count; ++i) {
    if (names[i] == nullptr) continue;
    length += static_cast<std::size_t>(std::snprintf(fields.text + length, sizeof fields.text - length,
                                                     ",\"%s_ns\":%.3f", names[i], times.ns(i) / operations));
  }
  return fields;
}

}  // namespace tarn::bench
