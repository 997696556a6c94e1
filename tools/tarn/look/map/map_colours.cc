// A colour for each group, or ranges of classes, then the others.
#include "look/map/map_colours.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tarn::tool {
namespace {

using observer::CellGroup;
using observer::kNone;
using observer::PageMap;
using Groups = std::vector<std::uint32_t>;  // indices of PageMap::groups

/// Blue, cyan, green, yellow, orange, red: an order that a reader knows. Then the hues that are left.
constexpr std::array<std::uint32_t, kHues> kOrder = {0, 5, 2, 6, 1, 7, 3, 4, 9, 10, 8, 11};
constexpr std::size_t kMostRanges = 6;

template <typename Predicate>
Groups groups_that(const PageMap& map, Predicate predicate) {
  Groups found;
  for (std::uint32_t i = 0; i < map.groups.size(); ++i)
    if (predicate(map.groups[i])) found.push_back(i);
  return found;
}

/// Cuts classes, sorted by size, into `count` ranges: each takes its share of the bytes that are left, and
/// leaves a class to each range after it.
std::vector<Groups> ranges_of(const PageMap& map, const Groups& classes, std::size_t count) {
  std::uint64_t left = 0;
  for (const std::uint32_t group : classes) left += map.groups[group].bytes;
  std::vector<Groups> ranges;
  for (std::size_t at = 0; count != 0; --count) {
    const std::uint64_t share = left / count;
    std::uint64_t bytes = 0;
    Groups range;
    do {
      bytes += map.groups[classes[at]].bytes;
      range.push_back(classes[at++]);
    } while (at + count <= classes.size() &&
             (count == 1 || bytes + map.groups[classes[at]].bytes / 2 <= share));
    left -= bytes;
    ranges.push_back(std::move(range));
  }
  return ranges;
}

std::string name_of(const PageMap& map, const Groups& groups) {
  const CellGroup &first = map.groups[groups.front()], &last = map.groups[groups.back()];
  if (groups.size() == 1) return first.name;
  if (first.kind != CellGroup::Kind::kClass) return fmt::format("{} others", groups.size());
  return fmt::format("{} – {}, {} sizes", first.name, last.name, groups.size());
}

}  // namespace

void MapColours::add(const PageMap& map, const Groups& groups, std::uint32_t hue) {
  MapColour colour{name_of(map, groups), hue, 0, 0};
  for (const std::uint32_t group : groups) {
    colour.bytes += map.groups[group].bytes;
    colour.live_bytes += map.groups[group].live_bytes;
    of_group[group] = static_cast<std::uint32_t>(colours.size());
  }
  colours.push_back(std::move(colour));
}

MapColours colours_of(const PageMap& map) {
  MapColours result;
  result.of_group.assign(map.groups.size(), kNone);
  const Groups used =
      groups_that(map, [](const CellGroup& group) { return group.kind != CellGroup::Kind::kFree; });
  if (used.size() <= kHues) {
    for (const std::uint32_t group : used) result.add(map, {group}, group);
    return result;
  }

  Groups classes =
      groups_that(map, [](const CellGroup& group) { return group.kind == CellGroup::Kind::kClass; });
  std::ranges::sort(classes, {}, [&map](std::uint32_t group) { return map.groups[group].block_bytes; });
  for (const Groups& range : ranges_of(map, classes, std::min(classes.size(), kMostRanges)))
    result.add(map, range, kOrder[result.colours.size()]);

  Groups others = groups_that(map, [](const CellGroup& group) {
    return group.kind == CellGroup::Kind::kPool || group.kind == CellGroup::Kind::kLarge;
  });
  while (!others.empty()) {
    const bool is_last_hue = result.colours.size() + 1 == kHues;
    const auto end = is_last_hue ? others.end() : others.begin() + 1;
    result.add(map, Groups(others.begin(), end), kOrder[result.colours.size()]);
    others.erase(others.begin(), end);
  }
  return result;
}

}  // namespace tarn::tool
