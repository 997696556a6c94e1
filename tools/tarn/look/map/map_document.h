// The map as data: JSON for other programs, with a member for each thing, and the compact form that the page
// carries.
#pragma once
#include <string>

#include "observer/pages/page_cells.h"
#include "report/results.h"

namespace tarn::tool {

/// What docs/look/map.md describes.
Json map_json(const observer::PageMap& map, const observer::Snapshot& snapshot,
              const observer::Residency* residency);

/// What map_page/data.js reads: columns of numbers, in which a negative number -n repeats the one before n
/// times.
Json map_page_data(const observer::PageMap& map, const observer::Snapshot& snapshot,
                   const observer::Residency* residency);

/// One HTML file that needs nothing else.
std::string map_page(const observer::PageMap& map, const observer::Snapshot& snapshot,
                     const observer::Residency* residency);

}  // namespace tarn::tool
