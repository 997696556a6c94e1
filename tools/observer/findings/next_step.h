// The one command to look with next: what names who it is that takes the memory.
//
// A pure function of two looks, so that tests make the evidence by hand.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "observer/findings/findings.h"
#include "observer/process/source.h"

namespace tarn::observer {

/// Figures of a process at a moment.
struct Moment {
  double seconds = 0;      // of a clock that is never set
  double cpu_seconds = 0;  // that it has taken until then
  std::uint64_t live_bytes = 0;
};
/// \pre the source is a process
Moment moment_of(const Source& process, const Snapshot& snapshot);

struct NextStep {
  std::string command, why;  // empty: there is little to look at
};

/// \param moments of the same process, one after the other; two at least. It grows where it does from each to
/// the next.
NextStep next_step(int pid, const std::vector<Finding>& findings, std::span<const Moment> moments);

}  // namespace tarn::observer
