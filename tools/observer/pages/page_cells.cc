// Parts, then their cells, then the sums of groups.
#include "observer/pages/page_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "observer/pages/pinners.h"
#include "observer/text/words.h"

namespace tarn::observer {
namespace {

constexpr std::uint64_t kOsPageBytes = 4096;
/// A hostile program may claim any size; a map of a hundredth of this is no use to anybody.
constexpr std::uint64_t kMostCells = std::uint64_t{1} << 24;

using GroupKey = std::pair<CellGroup::Kind, std::uint32_t>;

bool is_large(SpanUse use) { return use == SpanUse::kLarge || use == SpanUse::kCachedLarge; }

GroupKey key_of(const Span& span) {
  if (span.pool != kNone) return {CellGroup::Kind::kPool, span.pool};
  if (is_large(span.use)) return {CellGroup::Kind::kLarge, 0};
  return {CellGroup::Kind::kClass, span.size_class};
}

std::string name_of_group(const Snapshot& snapshot, const GroupKey& key) {
  switch (key.first) {
    case CellGroup::Kind::kClass:
      return key.second == 0 ? "other" : name_of_class(snapshot, key.second);
    case CellGroup::Kind::kPool:
      return name_of_pool(snapshot, key.second);
    case CellGroup::Kind::kLarge:
      return "large blocks";
    case CellGroup::Kind::kFree:
      break;
  }
  return "free pages";
}

/// Bits of a live word at and above a place, and below one.
std::uint64_t count_bits(const std::vector<std::uint64_t>& words, std::uint64_t first_word,
                         std::uint64_t from, std::uint64_t to) {
  std::uint64_t count = 0;
  for (std::uint64_t word = from / 64; word * 64 < to; ++word) {
    std::uint64_t bits = words[first_word + word];
    if (word == from / 64) bits &= ~std::uint64_t{0} << from % 64;
    if (to - word * 64 < 64) bits &= (std::uint64_t{1} << to % 64) - 1;
    count += static_cast<std::uint64_t>(__builtin_popcountll(bits));
  }
  return count;
}

std::uint64_t overlap(Address start, Address end, Address other_start, Address other_end) {
  const Address from = std::max(start, other_start), to = std::min(end, other_end);
  return from < to ? to - from : 0;
}

/// The one block of a span without bits that tell more.
std::uint64_t live_bytes_of_one(const Span& span, Address start, Address end) {
  return overlap(start, end, span.first_block, span.first_block + span.live_bytes);
}

class MapBuilder {
 public:
  MapBuilder(const Snapshot& snapshot, const Residency* residency)
      : snapshot_(snapshot), residency_(residency) {
    map_.page_bytes = snapshot.page_bytes;
    map_.is_residency_known = residency != nullptr;
  }

  PageMap build() {
    add_parts();
    for (std::uint32_t part = 0; part < map_.parts.size(); ++part) add_cells_of(part);
    sort_groups();
    return std::move(map_);
  }

 private:
  std::uint32_t group_of(const GroupKey& key) {
    const auto [place, is_new] = group_numbers_.try_emplace(key, map_.groups.size());
    if (is_new) map_.groups.push_back({key.first, key.second, name_of_group(snapshot_, key), 0, 0, 0, 0});
    return place->second;
  }

  void add_parts() {
    for (std::uint32_t i = 0; i < snapshot_.spans.size(); ++i) {
      const Span& span = snapshot_.spans[i];
      map_.parts.push_back({span.start, span.bytes, i, kNone, group_of(key_of(span)), 0, 0});
    }
    for (std::uint32_t i = 0; i < snapshot_.free_runs.size(); ++i) {
      const FreeRun& run = snapshot_.free_runs[i];
      map_.parts.push_back({run.start, run.bytes, kNone, i, group_of({CellGroup::Kind::kFree, 0}), 0, 0});
    }
    std::sort(map_.parts.begin(), map_.parts.end(),
              [](const MapPart& a, const MapPart& b) { return a.start < b.start; });
  }

  void add_cells_of(std::uint32_t number) {
    MapPart& part = map_.parts[number];
    Address at = part.start;
    if (shares_last_page(at)) {
      part.first_cell = static_cast<std::uint32_t>(map_.cells.size() - 1);
    } else {
      part.first_cell = static_cast<std::uint32_t>(map_.cells.size());
    }
    while (at < part.end() && map_.cells.size() < kMostCells) {
      const Address end = std::min(part.end(), (at / map_.page_bytes + 1) * map_.page_bytes);
      if (!shares_last_page(at)) map_.cells.push_back({at, number, 0, part.group, 0, 0, 0, 0});
      add_to_cell(map_.cells.back(), part, at, end);
      ++part.cell_count;
      at = end;
    }
    ++map_.groups[part.group].parts;
  }

  bool shares_last_page(Address address) const {
    return !map_.cells.empty() && map_.cells.back().start / map_.page_bytes == address / map_.page_bytes;
  }

  void add_to_cell(PageCell& cell, const MapPart& part, Address start, Address end) {
    const auto bytes = static_cast<std::uint32_t>(end - start);
    if (bytes > cell.bytes) cell.group = part.group;
    cell.bytes += bytes;
    ++cell.part_count;
    CellGroup& group = map_.groups[part.group];
    const auto live = static_cast<std::uint32_t>(live_in(part, start, end));
    const auto resident = static_cast<std::uint32_t>(resident_in(part, start, end));
    cell.live_bytes += live;
    cell.cached_bytes += cached_in(part, bytes - std::min(bytes, live), bytes);
    cell.resident_bytes += resident;
    group.bytes += bytes;
    group.live_bytes += live;
    group.resident_bytes += resident;
  }

  std::uint64_t live_in(const MapPart& part, Address start, Address end) const {
    if (part.span == kNone) return 0;
    const Span& span = snapshot_.spans[part.span];
    const bool is_whole = start == span.start && end == span.end();
    return is_whole ? std::min(span.live_bytes, span.bytes) : live_bytes_in(snapshot_, part.span, start, end);
  }

  /// \why it is not known which free blocks are cached: they are spread evenly over the pages. A large block
  /// that was freed is no cached block but idle memory.
  std::uint32_t cached_in(const MapPart& part, std::uint32_t at_most, std::uint32_t bytes) const {
    if (part.span == kNone) return 0;
    const Span& span = snapshot_.spans[part.span];
    if (span.use == SpanUse::kCachedLarge) return 0;
    const double all = static_cast<double>(span.cached) * static_cast<double>(span.block_bytes);
    const double share = all * bytes / static_cast<double>(span.bytes);
    return std::min(at_most, static_cast<std::uint32_t>(share));
  }

  std::uint64_t resident_in(const MapPart& part, Address start, Address end) const {
    if (residency_ != nullptr) return residency_->bytes_in(start, end);
    const bool is_gone = part.free_run != kNone && !snapshot_.free_runs[part.free_run].is_dirty;
    return is_gone ? 0 : end - start;
  }

  void sort_groups() {
    std::vector<std::uint32_t> order(map_.groups.size()), place(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) {
      const CellGroup &one = map_.groups[a], &other = map_.groups[b];
      const bool is_free = one.kind == CellGroup::Kind::kFree,
                 is_other_free = other.kind == CellGroup::Kind::kFree;
      return is_free != is_other_free ? is_other_free : one.bytes > other.bytes;
    });
    std::vector<CellGroup> sorted;
    for (const std::uint32_t group : order) {
      place[group] = static_cast<std::uint32_t>(sorted.size());
      sorted.push_back(std::move(map_.groups[group]));
    }
    map_.groups = std::move(sorted);
    for (MapPart& part : map_.parts) part.group = place[part.group];
    for (PageCell& cell : map_.cells) cell.group = place[cell.group];
  }

  const Snapshot& snapshot_;
  const Residency* residency_;
  PageMap map_;
  std::map<GroupKey, std::uint32_t> group_numbers_;
};

std::string blocks_in_words(const Snapshot& snapshot, const Span& span) {
  if (span.use == SpanUse::kMixedPage)
    return fmt::format(
        "{} live of many sizes (fill {})", counted(span.live, "block"),
        percent_in_words(static_cast<double>(span.live_bytes), static_cast<double>(span.bytes)));
  if (span.block_count == 1)
    return fmt::format("one block of {}, {}", bytes_in_words(span.block_bytes),
                       span.live == 1 ? "live" : "free");
  std::string text = fmt::format("{} B × {}, live {} (fill {})", count_in_words(span.block_bytes),
                                 count_in_words(span.block_count), count_in_words(span.live),
                                 percent_in_words(span.live, span.block_count));
  if (span.cached != 0) text += fmt::format(", {} cached", count_in_words(span.cached));
  if (span.pool != kNone) text += ", " + name_of_pool(snapshot, span.pool);
  return text;
}

std::string residency_in_words(const PageCell& cell) {
  return fmt::format("resident {} of {} OS pages", cell.resident_bytes / kOsPageBytes,
                     (cell.bytes + kOsPageBytes - 1) / kOsPageBytes);
}

/// What the page's free memory means to whoever wants it back.
std::string consequence_of(const Span& span, const PageCell& cell) {
  if (cell.idle_bytes() == 0) return "";
  if (span.live == 0) return ": keeps " + bytes_in_words(cell.idle_bytes());
  return is_partly_used(span) ? ": pins " + bytes_in_words(cell.idle_bytes()) : "";
}

std::string explain_span(const PageMap& map, const Snapshot& snapshot, const Span& span,
                         const PageCell& cell) {
  std::string text = fmt::format("{} {}, {}", name_of(span.use), address_in_words(span.start),
                                 blocks_in_words(snapshot, span));
  if (span.owner != kNone) text += ", " + name_of_owner(snapshot, span.owner);
  if (span.bytes > map.page_bytes) text += fmt::format(", {} in all", bytes_in_words(span.bytes));
  if (span.is_dense) text += ", in huge pages";
  if (map.is_residency_known) text += ", " + residency_in_words(cell);
  return text + consequence_of(span, cell);
}

std::string explain_free(const PageMap& map, const FreeRun& run, const PageCell& cell) {
  std::string text = fmt::format("free pages {}, {}, {}", address_in_words(run.start),
                                 bytes_in_words(run.bytes), run.is_dirty ? "kept for reuse" : "given back");
  if (map.is_residency_known) text += ", " + residency_in_words(cell);
  return text;
}

}  // namespace

std::uint64_t PageMap::idle_bytes() const {
  std::uint64_t sum = 0;
  for (const PageCell& cell : cells) sum += cell.idle_bytes();
  return sum;
}

std::uint64_t PageMap::resident_bytes() const {
  std::uint64_t sum = 0;
  for (const PageCell& cell : cells) sum += cell.resident_bytes;
  return sum;
}

std::uint64_t live_bytes_in(const Snapshot& snapshot, std::uint32_t span_index, Address start, Address end) {
  const Span& span = snapshot.spans[span_index];
  if (span.live == 0) return 0;
  if (span.use == SpanUse::kMixedPage) return snapshot.mixed_bytes_in(span, start, end);
  if (span.block_count == 1 || span.stride == 0) return live_bytes_of_one(span, start, end);
  if (end <= span.first_block) return 0;
  const Address from = std::max(start, span.first_block);
  // Blocks that begin before the range reach into it, one at most; so may the last one out of it.
  const std::uint64_t first = (from - span.first_block) / span.stride;
  const std::uint64_t behind =
      std::min<std::uint64_t>((end - span.first_block + span.stride - 1) / span.stride, span.block_count);
  if (first >= behind) return 0;
  std::uint64_t bytes = count_bits(snapshot.live_words, span.first_word, first, behind) * span.block_bytes;
  const auto outside = [&](std::uint64_t index) {
    if (!snapshot.is_live(span, static_cast<std::uint32_t>(index))) return std::uint64_t{0};
    const Address block = span.first_block + index * span.stride;
    return span.block_bytes - overlap(start, end, block, block + span.block_bytes);
  };
  bytes -= outside(first);
  if (behind - 1 != first) bytes -= outside(behind - 1);
  return bytes;
}

PageMap page_map_of(const Snapshot& snapshot, const Residency* residency) {
  return MapBuilder(snapshot, residency).build();
}

std::string explain(const PageMap& map, const Snapshot& snapshot, const PageCell& cell) {
  std::string text;
  for (std::uint32_t i = 0; i < cell.part_count; ++i) {
    const MapPart& part = map.parts[cell.first_part + i];
    if (!text.empty()) text += "; ";
    text += part.span != kNone ? explain_span(map, snapshot, snapshot.spans[part.span], cell)
                               : explain_free(map, snapshot.free_runs[part.free_run], cell);
  }
  return text;
}

}  // namespace tarn::observer
