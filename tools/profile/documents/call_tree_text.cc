#include "profile/documents/call_tree_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "observer/text/printable.h"
#include "observer/text/words.h"
#include "profile/names/function_name.h"

namespace tarn::profile {
namespace {

constexpr std::size_t kDeepestIndent = 40;
constexpr double kNearlyAll = 0.995;

class TreeText {
 public:
  TreeText(const std::vector<CallNode>& nodes, Measure measure, NameForm form, std::size_t columns)
      : nodes_(nodes), measure_(measure), form_(form), columns_(columns), children_(nodes.size()) {
    for (std::size_t i = 1; i < nodes.size(); ++i)
      if (bytes_of(i) >= 0.5) children_[nodes[i].parent].push_back(i);
    for (std::vector<std::size_t>& some : children_)
      std::ranges::stable_sort(some, [&](std::size_t a, std::size_t b) { return bytes_of(a) > bytes_of(b); });
  }

  std::string take() {
    add_all();
    return std::move(text_);
  }

 private:
  double bytes_of(std::size_t node) const { return nodes_[node].of(measure_).bytes; }

  /// A call, the calls that are all of it, and then those that it has several of.
  void add_all() {
    std::vector<std::pair<std::size_t, std::size_t>> left{
        {0, 0}};  // nodes and their indents, the next one last
    while (!left.empty()) {
      auto [node, indent] = left.back();
      left.pop_back();
      add_line(fmt::format("{:>9}  {:>7}  ", observer::short_bytes(bytes_of(node)),
                           observer::share_in_words(bytes_of(node), bytes_of(0))),
               node, indent);
      while (children_[node].size() == 1 && bytes_of(children_[node][0]) >= kNearlyAll * bytes_of(node)) {
        node = children_[node][0];
        add_line(std::string(9 + 2 + 7 + 2, ' '), node, indent);
      }
      for (auto child = children_[node].rbegin(); child != children_[node].rend(); ++child)
        left.emplace_back(*child, std::min(indent + 2, kDeepestIndent));
    }
  }

  void add_line(std::string line, std::size_t node, std::size_t indent) {
    const CallNode& call = nodes_[node];
    line += std::string(indent, ' ') + (node == 0 ? call.name : name_of(call.name, form_));
    const std::string place = call.place.empty() ? "" : "  " + call.place;
    const std::size_t room = columns_ - std::min(columns_, observer::columns_of(place));
    text_ += observer::with_end_cut(line, room) + place + "\n";
  }

  const std::vector<CallNode>& nodes_;
  const Measure measure_;
  const NameForm form_;
  const std::size_t columns_;
  std::vector<std::vector<std::size_t>> children_;
  std::string text_;
};

}  // namespace

std::string call_tree_text(const std::vector<CallNode>& nodes, Measure measure, NameForm form,
                           std::size_t columns) {
  return TreeText(nodes, measure, form, columns).take();
}

}  // namespace tarn::profile
