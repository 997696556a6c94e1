// The page's data, put into its frame. flame_page/ holds the frame, its style and its script.
#include "profile/documents/flame_page.h"

#include "flame_page_assets.h"
#include "observer/text/page_text.h"
#include "profile/documents/call_tree.h"
#include "profile/stacks/json.h"

namespace tarn::profile {
namespace {

constexpr std::size_t kMostNodes = 20'000;

Json page_data(const NamedProfile& profile) {
  Json nodes = Json::array();
  for (const CallNode& node : call_tree_of(profile, kMostNodes))
    nodes.push_back({node.parent, node.name, node.place, whole(node.live.bytes), whole(node.live.blocks),
                     whole(node.allocated.bytes), whole(node.allocated.blocks)});
  return {{"program", profile.program()},
          {"pid", profile.raw().pid},
          {"remarks", profile.remarks()},
          {"nodes", std::move(nodes)}};
}

}  // namespace

std::string flame_page(const NamedProfile& profile) {
  return observer::page_text({kFlamePageFrame, kFlamePageStyle, kFlamePageScript}, page_data(profile));
}

}  // namespace tarn::profile
