// The lines of /proc/PID/maps, and of /proc/PID/smaps, which has figures behind each.
//
// A text may be torn or forged (a minidump holds one): a line that is none is left out, and mappings come out
// sorted and without overlaps.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "observer/process/source.h"

namespace tarn::observer {

std::optional<Mapping> parse_mapping(std::string_view line);
std::vector<Mapping> parse_maps(std::string_view text);

/// A mapping and what smaps says of it.
struct MappingUse {
  Mapping mapping;
  std::uint64_t rss_bytes = 0, swap_bytes = 0, huge_bytes = 0;
  bool is_hugetlb = false;  // of the pool of huge pages, which RSS leaves out
};
std::vector<MappingUse> parse_smaps(std::string_view text);

/// The range that holds an address, of ranges that are sorted and do not overlap; nullptr: none.
template <typename Range>
const Range* find_range(const std::vector<Range>& ranges, Address address) {
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), address,
                                      [](Address at, const Range& range) { return at < range.start; });
  return after == ranges.begin() || address >= std::prev(after)->end ? nullptr : &*std::prev(after);
}

/// Where the first range behind an address starts; the largest number: there is none.
template <typename Range>
Address next_start(const std::vector<Range>& ranges, Address address) {
  const auto next = std::upper_bound(ranges.begin(), ranges.end(), address,
                                     [](Address at, const Range& range) { return at < range.start; });
  return next == ranges.end() ? UINT64_MAX : next->start;
}

/// Sorts ranges of addresses that have an offset in some file, and takes from each what one before it has.
template <typename Range>
void sort_and_separate(std::vector<Range>& ranges) {
  std::stable_sort(ranges.begin(), ranges.end(),
                   [](const Range& a, const Range& b) { return a.start < b.start; });
  std::size_t kept = 0;
  Address end = 0;
  for (Range& range : ranges) {
    if (range.end <= range.start || range.end <= end) continue;
    if (range.start < end) {
      range.offset += end - range.start;
      range.start = end;
    }
    end = range.end;
    Range& place = ranges[kept++];
    if (&place != &range) place = std::move(range);
  }
  ranges.resize(kept);
}

}  // namespace tarn::observer
