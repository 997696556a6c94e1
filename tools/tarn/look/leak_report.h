// Leaks as text for a terminal and as JSON.
#pragma once
#include <string>

#include "look/heap_report.h"
#include "observer/leaks.h"
#include "observer/snapshot.h"
#include "report/results.h"

namespace tarn::tool {

/// How the leaks were looked for.
struct LeakLooks {
  observer::Look last;
  unsigned count = 1;
  double seconds_between = 0;
  bool has_registers = false;  // of all threads
};

std::string leak_report(const observer::Snapshot& snapshot, const LeakLooks& looks,
                        const observer::LeakReport& leaks, const ReportShape& shape);

Json leak_document(const observer::Snapshot& snapshot, const LeakLooks& looks,
                   const observer::LeakReport& leaks);

}  // namespace tarn::tool
