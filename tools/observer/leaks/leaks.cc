// Leaks: two looks, what they agree on, and who keeps whom.
#include "observer/leaks/leaks.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "observer/objects/census.h"
#include "observer/objects/joined_reader.h"

namespace tarn::observer {
namespace {

constexpr std::uint32_t kNobody = UINT32_MAX;

void read_heads(const Source& source, std::vector<Suspect>& suspects) {
  const auto take_head = [&](std::size_t index, const std::byte* content, std::size_t bytes) {
    std::memcpy(suspects[index].head.data(), content, bytes);
    suspects[index].head_bytes = bytes;
  };
  JoinedReader<std::size_t, decltype(take_head)> reader(source, take_head);
  for (std::size_t i = 0; i < suspects.size(); ++i)
    reader.want(suspects[i].block.address, std::min<std::size_t>(suspects[i].block.bytes, kHeadBytes), i);
  reader.flush();
}

std::vector<Suspect> suspects_of(const Source& source, const BlockTable& table, const Reach& reach) {
  std::vector<Suspect> suspects;
  for (const BlockTable::Place place : reach.unreachable()) suspects.push_back({table.block_at(place)});
  read_heads(source, suspects);
  return suspects;
}

bool is_before(const Suspect& a, const Suspect& b) { return a.block.address < b.block.address; }

bool is_same(const Suspect& a, const Suspect& b) {
  return a.block.address == b.block.address && a.block.bytes == b.block.bytes &&
         a.head_bytes == b.head_bytes && a.head == b.head;
}

/// \returns those of the second list that the first has too. \pre both are sorted by address
std::vector<Suspect> in_both(const std::vector<Suspect>& first, const std::vector<Suspect>& second) {
  std::vector<Suspect> both;
  auto earlier = first.begin();
  for (const Suspect& suspect : second) {
    while (earlier != first.end() && is_before(*earlier, suspect)) ++earlier;
    if (earlier != first.end() && is_same(*earlier, suspect)) both.push_back(suspect);
  }
  return both;
}

/// Which leaks point to which, by their indices.
class Graph {
 public:
  Graph(const Source& source, const std::vector<Suspect>& leaks);

  bool is_pointed_to(std::uint32_t leak) const { return is_pointed_to_[leak]; }
  template <typename Visit>
  void for_each_target(std::uint32_t leak, Visit visit) const {
    for (std::size_t i = first_[leak]; i < first_[leak + 1]; ++i) visit(targets_[i]);
  }

 private:
  struct Edge {
    std::uint32_t from, to;
  };
  /// \returns kNobody of what is inside of no leak.
  static std::uint32_t leak_at(const std::vector<Suspect>& leaks, Address address);
  void index(std::vector<Edge> edges);

  std::vector<bool> is_pointed_to_;
  std::vector<std::uint32_t> targets_;
  std::vector<std::size_t> first_;  // of each leak's targets
};

std::uint32_t Graph::leak_at(const std::vector<Suspect>& leaks, Address address) {
  if (leaks.empty() || address < leaks.front().block.address) return kNobody;
  const auto behind = std::upper_bound(leaks.begin(), leaks.end(), address,
                                       [](Address a, const Suspect& leak) { return a < leak.block.address; });
  const Block& block = behind[-1].block;
  if (address - block.address >= block.bytes) return kNobody;
  return static_cast<std::uint32_t>(behind - leaks.begin() - 1);
}

Graph::Graph(const Source& source, const std::vector<Suspect>& leaks) : is_pointed_to_(leaks.size()) {
  std::vector<Edge> edges;
  const auto find_edges = [&](std::uint32_t from, const std::byte* content, std::size_t bytes) {
    for_each_word(content, bytes, [&](Address word) {
      const std::uint32_t to = leak_at(leaks, word);
      if (to != kNobody && to != from) edges.push_back({from, to});
    });
  };
  JoinedReader<std::uint32_t, decltype(find_edges)> reader(source, find_edges);
  constexpr std::uint64_t kPiece = decltype(reader)::kPieceBytes;
  for (std::uint32_t i = 0; i < leaks.size(); ++i)
    for (std::uint64_t at = 0; at < leaks[i].block.bytes; at += kPiece)
      reader.want(leaks[i].block.address + at, std::min(leaks[i].block.bytes - at, kPiece), i);
  reader.flush();
  index(std::move(edges));
}

/// \pre edges are sorted by where they come from
void Graph::index(std::vector<Edge> edges) {
  first_.assign(is_pointed_to_.size() + 1, 0);
  targets_.reserve(edges.size());
  for (const Edge& edge : edges) {
    ++first_[edge.from + 1];
    targets_.push_back(edge.to);
    is_pointed_to_[edge.to] = true;
  }
  for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
}

/// Gives all that a leak reaches, and that nobody keeps yet, to it.
void keep_all_behind(const Graph& graph, std::uint32_t leak, std::vector<std::uint32_t>& keepers) {
  std::vector<std::uint32_t> waiting = {leak};
  keepers[leak] = leak;
  while (!waiting.empty()) {
    const std::uint32_t from = waiting.back();
    waiting.pop_back();
    graph.for_each_target(from, [&](std::uint32_t to) {
      if (keepers[to] != kNobody) return;
      keepers[to] = leak;
      waiting.push_back(to);
    });
  }
}

using LeakKey = std::tuple<std::string, std::uint64_t, std::string>;

/// Without its sums.
LeakGroup group_of(const Snapshot& snapshot, const Suspect& leak, ClassNames& names) {
  LeakGroup group;
  Address word = 0;
  if (leak.head_bytes >= sizeof word) std::memcpy(&word, leak.head.data(), sizeof word);
  const Span& span = snapshot.spans[leak.block.span];
  group.class_name = names.name_of(word);
  if (group.class_name.empty()) group.block_bytes = counted_size(span, leak.block.bytes);
  group.pool = pool_label(snapshot, span.pool);
  group.example = leak;
  return group;
}

std::uint64_t weight_of(const LeakGroup& group) { return group.direct.bytes + group.kept.bytes; }

}  // namespace

Look look_for_leaks(const Source& source, const Snapshot& snapshot, std::vector<Address> words,
                    const std::function<void(std::uint64_t)>& watch) {
  const std::optional<WrittenPages> written = read_written_pages(source);
  const BlockTable table(snapshot);
  Roots roots = memory_roots(source, snapshot);
  roots.words = std::move(words);
  Reach reach(source, table, written ? &written->pages : nullptr);
  reach.mark(roots, watch);
  Look look;
  look.suspects = suspects_of(source, table, reach);
  look.read_bytes = reach.read_bytes();
  look.unread_bytes = reach.unread_bytes() + roots.device_bytes + (written ? written->unread_bytes : 0);
  look.sensitive_bytes = reach.sensitive_bytes();
  for (const Span& span : snapshot.spans) {
    look.live_blocks += span.live;
    look.live_bytes += span.live_bytes;
  }
  return look;
}

std::vector<Suspect> confirmed(const std::vector<Suspect>& earlier, const Look& look) {
  return in_both(earlier, look.suspects);
}

std::vector<Suspect> still_live(const Source& source, const Snapshot& later,
                                const std::vector<Suspect>& suspects) {
  std::vector<Suspect> live;
  for (const Suspect& suspect : suspects) {
    const Block block = later.live_block_of(suspect.block.address);
    if (block.span != kNone) live.push_back({block});
  }
  read_heads(source, live);
  return in_both(suspects, live);
}

std::vector<std::uint32_t> keepers_of(const Source& source, const std::vector<Suspect>& leaks) {
  const Graph graph(source, leaks);
  std::vector<std::uint32_t> keepers(leaks.size(), kNobody);
  for (std::uint32_t i = 0; i < leaks.size(); ++i)
    if (!graph.is_pointed_to(i)) keep_all_behind(graph, i, keepers);
  for (std::uint32_t i = 0; i < leaks.size(); ++i)  // what is left are circles
    if (keepers[i] == kNobody) keep_all_behind(graph, i, keepers);
  return keepers;
}

LeaksByClass group_leaks(const Source& source, const Snapshot& snapshot, const std::vector<Suspect>& leaks,
                         ClassNames& names) {
  const std::vector<std::uint32_t> keepers = keepers_of(source, leaks);
  LeaksByClass report;
  std::map<LeakKey, LeakGroup> groups;
  std::vector<LeakGroup*> group_of_leak;
  for (std::uint32_t i = 0; i < leaks.size(); ++i) {
    LeakGroup group = group_of(snapshot, leaks[i], names);
    LeakGroup& total =
        groups.try_emplace({group.class_name, group.block_bytes, group.pool}, group).first->second;
    group_of_leak.push_back(&total);
    const bool is_direct = keepers[i] == i;
    (is_direct ? total.direct : total.indirect).add(leaks[i].block.bytes);
    (is_direct ? report.direct : report.indirect).add(leaks[i].block.bytes);
  }
  for (std::uint32_t i = 0; i < leaks.size(); ++i)
    if (keepers[i] != i) group_of_leak[keepers[i]]->kept.add(leaks[i].block.bytes);
  for (auto& [key, group] : groups) report.groups.push_back(std::move(group));
  std::stable_sort(report.groups.begin(), report.groups.end(), [](const LeakGroup& a, const LeakGroup& b) {
    return std::pair(weight_of(a), a.indirect.bytes) > std::pair(weight_of(b), b.indirect.bytes);
  });
  return report;
}

}  // namespace tarn::observer
