// A census as text for a terminal.
#pragma once
#include <string>
#include <vector>

#include "look/heap/heap_document.h"
#include "observer/objects/census.h"
#include "observer/snapshot/snapshot.h"
#include "report/table.h"

namespace tarn::tool {

struct ReportShape {
  std::size_t rows = 0;  // the most that a table has; 0: all
  std::size_t width = 80;
  Colour colour = Colour::kOff;
};

std::string heap_report(const observer::Snapshot& snapshot, const observer::Census& census,
                        observer::Contents contents, const ReportShape& shape);

/// \p seconds: between the two censuses
std::string growth_report(const observer::Snapshot& snapshot, const std::vector<observer::Growth>& growth,
                          double seconds, const ReportShape& shape);

}  // namespace tarn::tool
