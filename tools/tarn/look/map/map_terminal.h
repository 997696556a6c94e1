// The map of pages as text: rows of cells behind the address of their first, a legend, and who pins what.
//
// A cell has its group's colour, the brighter the more of it is live: ▒ where most of it is free but
// resident, · where it was given back. Without colours it is a letter of the group: a capital where at least
// half is live. Maps of more cells than rows have room for are reduced: a cell then stands for several pages.
#pragma once
#include <string>

#include "observer/pages/page_cells.h"
#include "system/terminal/terminal.h"

namespace tarn::tool {

struct MapLook {
  std::size_t width = 80;  // characters in a line
  std::size_t most_rows = 40;
  ColourDepth depth = ColourDepth::kNone;
};

std::string map_text(const observer::PageMap& map, const observer::Snapshot& snapshot, const MapLook& look);

/// A table of the size classes, pools and owners that keep most free memory resident.
/// \param most of each of the three; 0: all
std::string pinners_text(const observer::Snapshot& snapshot, const observer::Residency* residency,
                         std::size_t most, Colour colour);

}  // namespace tarn::tool
