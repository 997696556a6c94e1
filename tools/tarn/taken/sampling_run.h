// Takes a heap profile of a process that runs: switches sampling on in its memory, waits, reads, and switches
// it off again whatever happens.
#pragma once
#include <cstdint>
#include <optional>

#include "observer/process/source.h"
#include "observer/watch/sampling.h"
#include "profile/symbols/heap_profile.h"
#include "system/terminal/progress.h"

namespace tarn::tool {

/// When the program's threads are stopped for some microseconds, so that each notices the switch.
enum class StopThreads : std::uint8_t {
  kIfNeeded,  // no slow call has told all threads within a second, or a tenth of the time
  kAtOnce,
  kNever,
};

struct SamplingPlan {
  double seconds = 30;
  std::uint64_t interval = 0;  // bytes; 0: one that fits, chosen as it runs
  StopThreads stop = StopThreads::kIfNeeded;
  bool needs_live = true;                     // an interval that fits has a thousand live samples
  std::optional<observer::Lives> lives = {};  // what is to be told of how long blocks live
  bool at_peak = false;                       // what was live when that was most, looked at every 100 ms
  bool has_looks = false;                     // also what was live over the time
  bool has_early = false;                     // also as it was after a tenth of the time
};

struct TakenProfiles {
  std::optional<profile::HeapProfile> early;
  profile::HeapProfile last;
};

/// Waits, and ends early by a signal. A profile that is on already stays on, at its interval. Names come
/// later: they take long, and the program need not be watched meanwhile. \throws ObserveError
TakenProfiles take_profiles(observer::Source& source, const SamplingPlan& plan, Progress& progress);

/// What a program or core file has that samples by itself. \throws ObserveError where it has no samples, or
/// does not tell `lives`
profile::HeapProfile profile_that_is_there(const observer::Source& source,
                                           std::optional<observer::Lives> lives = {});

}  // namespace tarn::tool
