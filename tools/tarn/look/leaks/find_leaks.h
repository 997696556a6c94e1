// Leaks of a program: looks that must agree, as `tarn leaks` and `tarn doctor` take them.
#pragma once
#include <string>
#include <vector>

#include "observer/leaks/leaks.h"
#include "observer/process/source.h"
#include "observer/snapshot/snapshot.h"

namespace tarn::tool {

/// How the leaks were looked for.
struct LeakLooks {
  observer::Look last;
  unsigned count = 1;
  double seconds_between = 0;
  bool has_registers = false;  // of all threads
};

struct HowToLook {
  std::string core_file = {};  // "": none
  double wait = 1;             // seconds between two looks
  bool stops_threads = false;  // each for some microseconds, to read its registers
};

struct FoundLeaks {
  observer::Snapshot snapshot;  // of the last look
  LeakLooks looks;
  std::vector<observer::Suspect> leaks;  // by address
};

FoundLeaks find_leaks(observer::Source& source, const HowToLook& how);

}  // namespace tarn::tool
