// The page's data, put into its frame. map_page/ holds the frame, its style and its script.
#include "look/map/map_page.h"

#include "look/map/map_document.h"
#include "map_page_assets.h"
#include "observer/text/page_text.h"

namespace tarn::tool {

std::string map_page(const observer::PageMap& map, const observer::Snapshot& snapshot,
                     const observer::Residency* residency) {
  return observer::page_text({kMapPageFrame, kMapPageStyle, kMapPageScript},
                             map_page_data(map, snapshot, residency));
}

}  // namespace tarn::tool
