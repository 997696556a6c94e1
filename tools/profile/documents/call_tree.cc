#include "profile/documents/call_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/leak_rules.h"

namespace tarn::profile {
namespace {

std::string file_and_line(const Frame& frame) {
  if (frame.file.empty()) return {};
  return fmt::format("{}:{}", frame.file.substr(frame.file.rfind('/') + 1), frame.line);
}

/// The part of the whole that a node has, of bytes or blocks by a measure that is shown: whichever is most.
double share_of(const CallNode& node, const CallNode& root, const std::vector<Measure>& shown) {
  const auto part = [](double some, double all) { return all > 0 ? some / all : 0; };
  double most = 0;
  for (const Measure measure : shown) {
    const Amount &own = node.of(measure), &all = root.of(measure);
    most = std::max({most, part(own.bytes, all.bytes), part(own.blocks, all.blocks)});
  }
  return most;
}

class TreeBuilder {
 public:
  explicit TreeBuilder(std::string root) { nodes_.emplace_back().name = std::move(root); }

  /// \param path from the root on
  void add(const NamedStack& stack, const std::vector<Frame>& path) {
    std::size_t at = 0;
    nodes_[0] += stack;
    for (const Frame& frame : path) {
      const auto [entry, is_new] =
          children_.try_emplace({at, frame.function + '\n' + frame.file}, nodes_.size());
      if (is_new) {
        CallNode& node = nodes_.emplace_back();
        node.parent = at;
        node.name = frame.function;
        node.place = file_and_line(frame);
        node.role = frame.role;
      }
      at = entry->second;
      nodes_[at] += stack;
    }
  }
  std::vector<CallNode> take() { return std::move(nodes_); }

 private:
  std::vector<CallNode> nodes_;
  std::map<std::pair<std::size_t, std::string>, std::size_t> children_;
};

/// Which nodes are the `most` greatest. Of equal ones the first is, so that a parent, which has no less than
/// its child and stands before it, is kept whenever the child is.
std::vector<bool> greatest(const std::vector<CallNode>& nodes, std::size_t most,
                           const std::vector<Measure>& shown) {
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < nodes.size(); ++i) order.emplace_back(-share_of(nodes[i], nodes[0], shown), i);
  std::sort(order.begin(), order.end());
  std::vector<bool> are_kept(nodes.size(), false);
  for (std::size_t i = 0; i < std::min(most, order.size()); ++i) are_kept[order[i].second] = true;
  are_kept[0] = true;
  return are_kept;
}

std::vector<CallNode> greatest_of(std::vector<CallNode> nodes, std::size_t most_nodes,
                                  const std::vector<Measure>& shown) {
  std::vector<CallNode> kept;
  const std::vector<bool> are_kept = greatest(nodes, most_nodes, shown);
  std::vector<std::size_t> new_number(nodes.size(), 0);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!are_kept[i]) continue;
    new_number[i] = kept.size();
    nodes[i].parent = new_number[nodes[i].parent];
    kept.push_back(std::move(nodes[i]));
  }
  return kept;
}

}  // namespace

std::vector<CallNode> call_tree_of(const NamedProfile& profile, std::size_t most_nodes,
                                   const std::vector<Measure>& shown) {
  TreeBuilder tree("all");
  for (const NamedStack& stack : profile.stacks()) tree.add(stack, outermost_first(stack));
  return greatest_of(tree.take(), most_nodes, shown);
}

std::vector<CallNode> callers_tree_of(const NamedProfile& profile, const std::string& pattern,
                                      std::size_t most_nodes, const std::vector<Measure>& shown) {
  TreeBuilder tree("callers of " + pattern);
  for (const NamedStack& stack : profile.stacks()) {
    std::vector<Frame> frames = stack.frames();
    const auto found = std::ranges::find_if(
        frames, [&](const Frame& frame) { return internal::is_leak_match(pattern, frame.function); });
    if (found == frames.end()) continue;
    frames.erase(frames.begin(), found);
    tree.add(stack, frames);
  }
  return greatest_of(tree.take(), most_nodes, shown);
}

}  // namespace tarn::profile
