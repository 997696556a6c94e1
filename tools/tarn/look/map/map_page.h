// The map of pages as one HTML file that needs nothing else.
#pragma once
#include <string>

#include "observer/pages/page_cells.h"

namespace tarn::tool {

std::string map_page(const observer::PageMap& map, const observer::Snapshot& snapshot,
                     const observer::Residency* residency);

}  // namespace tarn::tool
