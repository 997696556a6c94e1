// What is wrong with a program's memory, in plain words: a finding says what is the case with the figure
// behind it, and what to do. `tarn doctor` prints them.
//
// The idea: each check looks at the same evidence and adds one finding, also when all is well, so that a
// reader knows what was looked at. A check whose figures are absent adds none. Thresholds are named in the
// checks.
//
// A pure function: tests make the evidence by hand.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "observer/findings/system_facts.h"
#include "observer/findings/watches.h"
#include "observer/leaks/leaks.h"
#include "observer/process/residency.h"
#include "observer/snapshot/snapshot.h"

namespace tarn::observer {

enum class Severity : std::uint8_t { kBad, kNote, kOk };
std::string_view name_of(Severity severity);  // "bad", "note", "ok"

struct Finding {
  std::string_view id;  // stable, for scripts: "fragmentation", "pool_full", ...
  Severity severity = Severity::kOk;
  std::uint64_t bytes = 0;  // at stake; 0 where it is not about an amount
  std::string what;
  std::string advice;  // "" when there is nothing to do
};

struct Evidence {
  const Snapshot& snapshot;
  const Residency* residency;  // nullptr: not known (a core file)
  const SystemFacts& system;
  const Snapshot* earlier;  // of the same process; nullptr: none
  WatchWords watched = {};
  const LeakSum* leaks = nullptr;  // nullptr: nobody looked for them
};

/// The bad ones first, of equal severity the one with most bytes at stake.
std::vector<Finding> findings_of(const Evidence& evidence);

bool has_bad(const std::vector<Finding>& findings);

}  // namespace tarn::observer
