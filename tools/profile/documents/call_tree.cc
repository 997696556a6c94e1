#include "profile/documents/call_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <unordered_map>
#include <utility>

#include "base/leak_rules.h"

namespace tarn::profile {
namespace {

/// The part of the whole that some have, of bytes or blocks by a measure that is shown: whichever is most.
double share_of(const Amounts& some, const Amounts& all, const std::vector<Measure>& shown) {
  const auto part = [](double some_of_it, double all_of_it) {
    return all_of_it > 0 ? some_of_it / all_of_it : 0;
  };
  double most = 0;
  for (const Measure measure : shown) {
    const Amount &own = some.of(measure), &whole = all.of(measure);
    most = std::max({most, part(own.bytes, whole.bytes), part(own.blocks, whole.blocks)});
  }
  return most;
}

/// Which of nodes or functions are the `most` greatest; the first of them stands for all, and is kept. Of
/// equal ones the first is, so that a parent, which has no less than its child and stands before it, is kept
/// whenever the child is.
template <class Entries>
std::vector<bool> greatest(const Entries& entries, std::size_t most, const std::vector<Measure>& shown) {
  std::vector<std::pair<double, std::size_t>> order;
  order.reserve(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i)
    order.emplace_back(-share_of(entries[i], entries[0], shown), i);
  if (most < order.size())
    std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(most), order.end());
  std::vector<bool> are_kept(entries.size(), false);
  for (std::size_t i = 0; i < std::min(most, order.size()); ++i) are_kept[order[i].second] = true;
  are_kept[0] = true;
  return are_kept;
}

/// \why names only once for each function, and a frame's function looked up by its address: a profile may
/// have a million stacks, whose tree has millions of nodes.
class TreeBuilder {
 public:
  explicit TreeBuilder(std::string root) { functions_[0].name = std::move(root); }

  /// \param path from the root on; frames that stay where they are
  void add(const NamedStack& stack, const std::vector<const Frame*>& path);
  /// All figures are complete then.
  PageTree take();

 private:
  std::size_t function_of(const Frame& frame);
  std::size_t child_of(std::size_t node, std::size_t function, unsigned line);

  std::vector<PageNode> nodes_ = std::vector<PageNode>(1);
  std::vector<CalledFunction> functions_ = std::vector<CalledFunction>(1);
  std::vector<std::size_t> last_stack_ = {0};  // that a function was in, by the functions
  std::size_t stacks_ = 0;
  std::map<std::pair<std::string, std::string>, std::size_t> function_numbers_;
  std::unordered_map<const Frame*, std::size_t> functions_of_frames_;
  std::vector<std::size_t> recent_children_ = {0};  // by the nodes; most calls have one, or one most often
  std::unordered_map<std::uint64_t, std::size_t> children_;
};

void TreeBuilder::add(const NamedStack& stack, const std::vector<const Frame*>& path) {
  std::size_t at = 0, function = 0;
  functions_[0] += stack;
  ++stacks_;
  for (const Frame* const frame : path) {
    const auto [entry, is_new] = functions_of_frames_.try_emplace(frame);
    if (is_new) entry->second = function_of(*frame);
    function = entry->second;
    at = child_of(at, function, frame->line);
    if (std::exchange(last_stack_[function], stacks_) != stacks_) functions_[function] += stack;
  }
  functions_[function].own += stack;
  nodes_[at] += stack;
}

std::size_t TreeBuilder::function_of(const Frame& frame) {
  const auto [entry, is_new] = function_numbers_.try_emplace({frame.function, frame.file}, functions_.size());
  if (is_new) {
    CalledFunction& function = functions_.emplace_back();
    function.name = frame.function;
    function.file = frame.file.substr(frame.file.rfind('/') + 1);
    function.role = frame.role;
    last_stack_.push_back(0);
  }
  return entry->second;
}

std::size_t TreeBuilder::child_of(std::size_t node, std::size_t function, unsigned line) {
  const std::size_t recent = recent_children_[node];
  if (recent != 0 && nodes_[recent].function == function) return recent;
  const auto [entry, is_new] = children_.try_emplace(node << 32 | function, nodes_.size());
  recent_children_[node] = entry->second;
  if (is_new) {
    recent_children_.push_back(0);
    PageNode& child = nodes_.emplace_back();
    child.parent = node;
    child.function = function;
    child.line = line;
  }
  return entry->second;
}

PageTree TreeBuilder::take() {
  for (std::size_t i = nodes_.size() - 1; i > 0; --i) nodes_[nodes_[i].parent] += nodes_[i];
  return {std::move(nodes_), std::move(functions_)};
}

enum class Smaller : bool { kLeftOut, kSummed };

/// \param smaller what becomes of the other nodes: one below each node that is kept stands for them
std::vector<PageNode> greatest_of(const std::vector<PageNode>& nodes, std::size_t most_nodes,
                                  const std::vector<Measure>& shown, Smaller smaller) {
  const std::vector<bool> are_kept = greatest(nodes, most_nodes, shown);
  std::vector<PageNode> kept, sums;
  std::vector<std::size_t> kept_number(nodes.size());  // of the node, or of the nearest above it
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::size_t parent = kept_number[nodes[i].parent];
    if (are_kept[i]) {
      kept_number[i] = kept.size();
      sums.emplace_back().parent = kept.size();
      kept.push_back(nodes[i]);
      kept.back().parent = parent;
    } else {
      kept_number[i] = parent;
      if (are_kept[nodes[i].parent]) sums[parent] += nodes[i];
      ++sums[parent].line;
    }
  }
  if (smaller == Smaller::kLeftOut) return kept;
  for (PageNode& sum : sums) {
    sum.function = PageNode::kSmaller;
    if (sum.line != 0) kept.push_back(sum);
  }
  return kept;
}

PageTree all_calls(const NamedProfile& profile) {
  const Frame no_stack = {.function = "[no stack]"};
  std::map<std::string, Frame> pools;
  TreeBuilder tree("all");
  std::vector<const Frame*> path;
  for (const NamedStack& stack : profile.stacks()) {
    path.clear();
    for (std::size_t i = stack.calls.size(); i > 0; --i)
      for (const Frame& frame : stack.calls[i - 1].frames() | std::views::reverse) path.push_back(&frame);
    if (path.empty()) path.push_back(&no_stack);
    if (!stack.pool.empty())
      path.push_back(&pools.try_emplace(stack.pool, Frame{.function = "[" + stack.pool + "]"}).first->second);
    tree.add(stack, path);
  }
  return tree.take();
}

std::string place_of(const CalledFunction& function, unsigned line) {
  return function.file.empty() ? std::string() : fmt::format("{}:{}", function.file, line);
}

std::vector<CallNode> in_words(const PageTree& tree, std::size_t most_nodes,
                               const std::vector<Measure>& shown) {
  std::vector<CallNode> nodes;
  for (const PageNode& node : greatest_of(tree.nodes, most_nodes, shown, Smaller::kLeftOut)) {
    const CalledFunction& function = tree.functions[node.function];
    nodes.push_back({node, node.parent, function.name, place_of(function, node.line), function.role});
  }
  return nodes;
}

}  // namespace

std::vector<CallNode> call_tree_of(const NamedProfile& profile, std::size_t most_nodes,
                                   const std::vector<Measure>& shown) {
  return in_words(all_calls(profile), most_nodes, shown);
}

std::vector<CallNode> callers_tree_of(const NamedProfile& profile, const std::string& pattern,
                                      std::size_t most_nodes, const std::vector<Measure>& shown) {
  TreeBuilder tree("callers of " + pattern);
  for (const NamedStack& stack : profile.stacks()) {
    std::vector<const Frame*> path;
    for (std::size_t i = 0; i < stack.calls.size(); ++i)
      for (const Frame& frame : stack.calls[i].frames())
        if (!path.empty() || internal::is_leak_match(pattern, frame.function)) path.push_back(&frame);
    if (!path.empty()) tree.add(stack, path);
  }
  return in_words(tree.take(), most_nodes, shown);
}

PageTree page_tree_of(const NamedProfile& profile, std::size_t most_nodes, std::size_t most_functions) {
  PageTree tree = all_calls(profile);
  tree.nodes = greatest_of(tree.nodes, most_nodes, kEachMeasure, Smaller::kSummed);
  std::vector<bool> are_kept = greatest(tree.functions, most_functions, kEachMeasure);
  for (const PageNode& node : tree.nodes)
    if (node.function != PageNode::kSmaller) are_kept[node.function] = true;
  std::vector<std::size_t> new_number(tree.functions.size());
  std::vector<CalledFunction> kept;
  for (std::size_t i = 0; i < tree.functions.size(); ++i) {
    new_number[i] = kept.size();
    if (are_kept[i]) kept.push_back(std::move(tree.functions[i]));
  }
  for (PageNode& node : tree.nodes)
    if (node.function != PageNode::kSmaller) node.function = new_number[node.function];
  tree.functions = std::move(kept);
  return tree;
}

}  // namespace tarn::profile
