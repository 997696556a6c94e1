// Leaks as text for a terminal and as JSON.
#pragma once
#include <string>

#include "look/heap/heap_report.h"
#include "look/leaks/find_leaks.h"
#include "observer/leaks/leaks.h"
#include "observer/snapshot/snapshot.h"
#include "report/results.h"

namespace tarn::tool {

std::string leak_report(const observer::Snapshot& snapshot, const LeakLooks& looks,
                        const observer::LeaksByClass& leaks, const ReportShape& shape);

Json leak_document(const observer::Snapshot& snapshot, const LeakLooks& looks,
                   const observer::LeaksByClass& leaks);

}  // namespace tarn::tool
