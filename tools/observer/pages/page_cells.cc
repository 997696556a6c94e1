// Parts, then their cells, then the sums of groups.
#include "observer/pages/page_cells.h"

#include <algorithm>
#include <bit>
#include <map>

#include "observer/pages/pinners.h"

namespace tarn::observer {
namespace {

/// A hostile program may claim any size; a map of a hundredth of this is no use to anybody.
constexpr std::uint64_t kMostCells = std::uint64_t{1} << 24;

using CellKey = std::pair<CellGroup::Kind, std::uint32_t>;

bool is_large(SpanUse use) { return use == SpanUse::kLarge || use == SpanUse::kCachedLarge; }

CellKey key_of(const Span& span) {
  if (span.pool != kNone) return {CellGroup::Kind::kPool, span.pool};
  if (is_large(span.use)) return {CellGroup::Kind::kLarge, 0};
  return {CellGroup::Kind::kClass, span.size_class};
}

std::string name_of_group(const Snapshot& snapshot, const CellKey& key) {
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

std::uint64_t block_bytes_of(const Snapshot& snapshot, const CellKey& key) {
  const bool is_class = key.first == CellGroup::Kind::kClass && key.second != 0;
  return is_class ? snapshot.classes[key.second].block_bytes : 0;
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
  std::uint32_t group_of(const CellKey& key) {
    const auto [place, is_new] = group_numbers_.try_emplace(key, map_.groups.size());
    if (is_new)
      map_.groups.push_back({.kind = key.first,
                             .index = key.second,
                             .name = name_of_group(snapshot_, key),
                             .block_bytes = block_bytes_of(snapshot_, key)});
    return place->second;
  }

  void add_parts() {
    for (std::uint32_t i = 0; i < snapshot_.spans.size(); ++i) {
      const Span& span = snapshot_.spans[i];
      map_.parts.push_back({span.start, span.bytes, i, kNone, group_of(key_of(span))});
    }
    for (std::uint32_t i = 0; i < snapshot_.free_runs.size(); ++i) {
      const FreeRun& run = snapshot_.free_runs[i];
      map_.parts.push_back({run.start, run.bytes, kNone, i, group_of({CellGroup::Kind::kFree, 0})});
    }
    std::sort(map_.parts.begin(), map_.parts.end(),
              [](const MapPart& a, const MapPart& b) { return a.start < b.start; });
  }

  void add_cells_of(std::uint32_t number) {
    const MapPart& part = map_.parts[number];
    Address at = part.start;
    while (at < part.end() && map_.cells.size() < kMostCells) {
      const Address end = std::min(part.end(), (at / map_.page_bytes + 1) * map_.page_bytes);
      if (!shares_last_page(at)) map_.cells.push_back({at, number, 0, part.group, 0, 0, 0, 0});
      add_to_cell(map_.cells.back(), part, at, end);
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
    return is_whole ? std::min(span.live_bytes, span.bytes) : parts_of(snapshot_, span, start, end).live;
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
  std::map<CellKey, std::uint32_t> group_numbers_;
};

// -- What a span's bytes are for -------------------------------------------------------------------------

std::uint64_t overlap(Address start, Address end, Address other_start, Address other_end) {
  const Address from = std::max(start, other_start), to = std::min(end, other_end);
  return from < to ? to - from : 0;
}

/// The blocks of a span that has them at equal distances.
class BlockRow {
 public:
  BlockRow(const Snapshot& snapshot, const Span& span)
      : snapshot_(snapshot),
        span_(span),
        stride_(span.block_count == 1 ? span.end() - span.first_block : span.stride),
        block_bytes_(std::min(span.block_bytes, stride_)) {}

  /// The live and free bytes from `start` to `end`.
  SpanParts parts_in(Address start, Address end) const;

 private:
  Address start_of(std::uint64_t block) const { return span_.first_block + block * stride_; }
  std::uint64_t live_in(std::uint64_t first, std::uint64_t end) const;
  SpanParts whole_blocks(std::uint64_t first, std::uint64_t end) const;
  SpanParts cut_block(std::uint64_t block, Address start, Address end) const;

  const Snapshot& snapshot_;
  const Span& span_;
  std::uint64_t stride_, block_bytes_;
};

/// How many of the blocks first..end-1 are live.
std::uint64_t BlockRow::live_in(std::uint64_t first, std::uint64_t end) const {
  if (first == 0 && end == span_.block_count) return span_.live;
  std::uint64_t live = 0;
  while (first < end) {
    const std::uint64_t count = std::min(end - first, 64 - first % 64);
    const std::uint64_t mask = (count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1)
                               << first % 64;
    live +=
        static_cast<std::uint64_t>(std::popcount(snapshot_.live_words[span_.first_word + first / 64] & mask));
    first += count;
  }
  return live;
}

SpanParts BlockRow::whole_blocks(std::uint64_t first, std::uint64_t end) const {
  const std::uint64_t live = live_in(first, end);
  return {.live = live * block_bytes_,
          .rounding = live * (stride_ - block_bytes_),
          .free = (end - first - live) * stride_};
}

SpanParts BlockRow::cut_block(std::uint64_t block, Address start, Address end) const {
  const Address at = start_of(block);
  const std::uint64_t whole = overlap(start, end, at, at + stride_);
  if (live_in(block, block + 1) == 0) return {.free = whole};
  const std::uint64_t live = overlap(start, end, at, at + block_bytes_);
  return {.live = live, .rounding = whole - live};
}

SpanParts BlockRow::parts_in(Address start, Address end) const {
  start = std::max(start, span_.first_block);
  end = std::min(end, start_of(span_.block_count));
  if (start >= end) return {};
  const std::uint64_t from = start - span_.first_block, to = end - span_.first_block;
  const std::uint64_t first_whole = (from + stride_ - 1) / stride_, end_whole = to / stride_;
  if (first_whole > end_whole) return cut_block(end_whole, start, end);  // all of it in one block
  SpanParts parts = whole_blocks(first_whole, end_whole);
  if (from % stride_ != 0) parts += cut_block(first_whole - 1, start, end);
  if (to % stride_ != 0) parts += cut_block(end_whole, start, end);
  return parts;
}

SpanParts mixed_parts(const Snapshot& snapshot, const Span& span, Address start, Address end) {
  SpanParts parts;
  parts.live = snapshot.mixed_bytes_in(span, start, end);
  parts.free = end - start - std::min(parts.live, end - start);
  return parts;
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

PageMap page_map_of(const Snapshot& snapshot, const Residency* residency) {
  return MapBuilder(snapshot, residency).build();
}

SpanParts& SpanParts::operator+=(const SpanParts& other) {
  live += other.live;
  rounding += other.rounding;
  free += other.free;
  return *this;
}

SpanParts parts_of(const Snapshot& snapshot, const Span& span, Address start, Address end) {
  if (span.use == SpanUse::kMixedPage) return mixed_parts(snapshot, span, start, end);
  if (span.block_count == 0 || (span.stride == 0 && span.block_count != 1)) return {.free = end - start};
  SpanParts parts = BlockRow(snapshot, span).parts_in(start, end);
  parts.rounding = end - start - std::min(end - start, parts.live + parts.free);
  return parts;
}

}  // namespace tarn::observer
