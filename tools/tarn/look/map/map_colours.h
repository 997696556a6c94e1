// Which groups of a map share a colour. There are as many hues as can be told apart; where there are more
// groups, size classes share them by ranges of size with about equal bytes, in the order of the rainbow, and
// pools and large blocks keep hues of their own, the largest first, as far as those go.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "observer/pages/page_cells.h"

namespace tarn::tool {

inline constexpr std::uint32_t kHues = 12;

struct MapColour {
  std::string name;       // of the group, of a range, or how many others share it
  std::uint32_t hue = 0;  // in the palettes of terminal and page
  std::uint64_t bytes = 0, live_bytes = 0;
};

struct MapColours {
  std::vector<MapColour> colours;       // in the order of a legend
  std::vector<std::uint32_t> of_group;  // in `colours`; kNone of free pages

  void add(const observer::PageMap& map, const std::vector<std::uint32_t>& groups, std::uint32_t hue);
};

MapColours colours_of(const observer::PageMap& map);

}  // namespace tarn::tool
