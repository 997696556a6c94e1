#include "profile/documents/call_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace tarn::profile {
namespace {

std::string file_and_line(const Frame& frame) {
  if (frame.file.empty()) return {};
  return fmt::format("{}:{}", frame.file.substr(frame.file.rfind('/') + 1), frame.line);
}

/// The part of the whole that a node has, of live or of allocated bytes: whichever is more.
double share_of(const CallNode& node, const CallNode& root) {
  const auto part = [](double some, double all) { return all > 0 ? some / all : 0; };
  return std::max(part(node.live.bytes, root.live.bytes), part(node.allocated.bytes, root.allocated.bytes));
}

std::vector<CallNode> whole_tree(const NamedProfile& profile) {
  std::vector<CallNode> nodes{{.name = "all"}};
  std::map<std::pair<std::size_t, std::string>, std::size_t> children;
  for (const NamedStack& stack : profile.stacks()) {
    std::size_t at = 0;
    nodes[0].live += stack.live;
    nodes[0].allocated += stack.allocated;
    for (const Frame& frame : outermost_first(stack)) {
      const auto [entry, is_new] =
          children.try_emplace({at, frame.function + '\n' + frame.file}, nodes.size());
      if (is_new) nodes.push_back({.parent = at, .name = frame.function, .place = file_and_line(frame)});
      at = entry->second;
      nodes[at].live += stack.live;
      nodes[at].allocated += stack.allocated;
    }
  }
  return nodes;
}

/// Which nodes are the `most` greatest. Of equal ones the first is, so that a parent, which has no less than
/// its child and stands before it, is kept whenever the child is.
std::vector<bool> greatest(const std::vector<CallNode>& nodes, std::size_t most) {
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < nodes.size(); ++i) order.emplace_back(-share_of(nodes[i], nodes[0]), i);
  std::sort(order.begin(), order.end());
  std::vector<bool> are_kept(nodes.size(), false);
  for (std::size_t i = 0; i < std::min(most, order.size()); ++i) are_kept[order[i].second] = true;
  are_kept[0] = true;
  return are_kept;
}

}  // namespace

std::vector<CallNode> call_tree_of(const NamedProfile& profile, std::size_t most_nodes) {
  std::vector<CallNode> nodes = whole_tree(profile), kept;
  const std::vector<bool> are_kept = greatest(nodes, most_nodes);
  std::vector<std::size_t> new_number(nodes.size(), 0);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!are_kept[i]) continue;
    new_number[i] = kept.size();
    nodes[i].parent = new_number[nodes[i].parent];
    kept.push_back(std::move(nodes[i]));
  }
  return kept;
}

}  // namespace tarn::profile
