#include "observer/pages/sheet.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "observer/pages/page_cells.h"

namespace tarn::observer {
namespace {

struct Range {
  Address start, end;
};

template <typename Ranges>
std::vector<Range> sorted_ranges(const Ranges& ranges) {
  std::vector<Range> sorted;
  sorted.reserve(ranges.size());
  for (const auto& range : ranges) sorted.push_back({range.start, range.start + range.bytes});
  std::sort(sorted.begin(), sorted.end(), [](Range a, Range b) { return a.start < b.start; });
  return sorted;
}

/// \why tables of the library lie in ranges of records, and no byte may count twice.
std::vector<Range> merged(const std::vector<Range>& sorted) {
  std::vector<Range> apart;
  for (const Range range : sorted) {
    if (!apart.empty() && range.start <= apart.back().end)
      apart.back().end = std::max(apart.back().end, range.end);
    else
      apart.push_back(range);
  }
  return apart;
}

std::uint64_t resident_in(const std::vector<Range>& sorted, const Residency& residency) {
  std::size_t run = 0;
  std::uint64_t bytes = 0;
  for (const Range range : sorted)
    residency.for_each_in_next(range.start, range.end, run,
                               [&](Address start, Address end) { bytes += end - start; });
  return bytes;
}

// -- Spans -----------------------------------------------------------------------------------------------

bool is_kept_whole(SpanUse use) {
  return use == SpanUse::kSpareSlab || use == SpanUse::kCachedLarge || use == SpanUse::kSparePage;
}

bool is_sparse(const Span& span) {
  return span.stride != 0 && span.live != 0 && 2 * std::uint64_t{span.live} < span.block_count;
}

std::uint64_t share_of(std::uint64_t whole, std::uint64_t part, std::uint64_t of) {
  return of == 0 ? 0
                 : static_cast<std::uint64_t>(std::llround(
                       static_cast<double>(whole) * (static_cast<double>(part) / static_cast<double>(of))));
}

/// Sums the parts of all spans.
class SpanSums {
 public:
  SpanSums(const Snapshot& snapshot, Sheet& sheet)
      : snapshot_(snapshot), sheet_(sheet), cached_of_class_(snapshot.classes.size() + 1) {
    sheet_.survivors_of_class.resize(snapshot.classes.size());
    sheet_.bytes_of_pool.resize(snapshot.pools.size());
  }

  void add_all(const Residency& residency);

 private:
  void add(Part part, std::uint64_t bytes) { sheet_.bytes[static_cast<std::size_t>(part)] += bytes; }
  void add(const Span& span, const SpanParts& parts);
  void add_survivors(const Span& span, const SpanParts& parts, std::uint64_t pinned);
  void add_cached();
  /// kNone: of no pool. \why the slabs of a typed pool are known by their class.
  std::uint32_t pool_of(const Span& span) const {
    return span.pool == kNone && has_class(span) ? snapshot_.classes[span.size_class].pool : span.pool;
  }
  bool has_class(const Span& span) const {
    return span.size_class != 0 && span.size_class < snapshot_.classes.size();
  }

  const Snapshot& snapshot_;
  Sheet& sheet_;
  std::vector<std::uint64_t> cached_of_class_;  // the last: of spans without a class
};

void SpanSums::add_all(const Residency& residency) {
  std::size_t run = 0;
  for (const Span& span : snapshot_.spans) {
    SpanParts parts;
    residency.for_each_in_next(span.start, span.end(), run, [&](Address start, Address end) {
      parts += parts_of(snapshot_, span, start, end);
    });
    add(span, parts);
  }
  add_cached();
}

void SpanSums::add(const Span& span, const SpanParts& parts) {
  if (const std::uint32_t pool = pool_of(span); pool < sheet_.bytes_of_pool.size())
    sheet_.bytes_of_pool[pool] += parts.live + parts.rounding + parts.free;
  if (span.use == SpanUse::kHandleSlots) {
    add(Part::kMetadata, parts.live + parts.rounding + parts.free);
    return;
  }
  if (is_kept_whole(span.use)) {
    add(Part::kFreeInSlabs, parts.live + parts.rounding + parts.free);
    return;
  }
  const std::uint64_t cached = share_of(parts.free, span.cached, std::uint64_t{span.block_count} - span.live);
  add(Part::kLive, parts.live);
  add(Part::kRounding, parts.rounding);
  add(Part::kFreeInSlabs, parts.free - cached);
  cached_of_class_[has_class(span) ? span.size_class : snapshot_.classes.size()] += cached;
  if (is_sparse(span)) add_survivors(span, parts, parts.free - cached);
}

void SpanSums::add_survivors(const Span& span, const SpanParts& parts, std::uint64_t pinned) {
  const auto add_to = [&](Survivors& survivors) {
    survivors.blocks += span.live;
    survivors.slab_bytes += parts.live + parts.rounding + parts.free;
    survivors.pinned_bytes += pinned;
  };
  add_to(sheet_.survivors);
  if (has_class(span)) add_to(sheet_.survivors_of_class[span.size_class]);
}

/// Spans tell how many blocks are cached, classes where.
void SpanSums::add_cached() {
  for (std::size_t i = 0; i < snapshot_.classes.size(); ++i) {
    const ClassUse& use = snapshot_.classes[i];
    const std::uint64_t in_depots = share_of(cached_of_class_[i], use.parked, use.cached());
    add(Part::kDepot, in_depots);
    add(Part::kCached, cached_of_class_[i] - in_depots);
  }
  add(Part::kCached, cached_of_class_.back());
}

// -- What is not the library's -----------------------------------------------------------------------------

/// The chunks at the ends of ranges that the page cache cut; all between the ends is the range's.
std::vector<Address> own_chunks(const Snapshot& snapshot) {
  std::vector<Address> chunks;
  const auto add = [&](Address start, std::uint64_t bytes) {
    chunks.push_back(start / snapshot.chunk_bytes);
    chunks.push_back((start + bytes - 1) / snapshot.chunk_bytes);
  };
  if (snapshot.chunk_bytes == 0) return chunks;
  for (const Span& span : snapshot.spans)
    if (span.pool == kNone && span.bytes != 0) add(span.start, span.bytes);
  for (const FreeRun& run : snapshot.free_runs)
    if (run.bytes != 0) add(run.start, run.bytes);
  std::sort(chunks.begin(), chunks.end());
  chunks.erase(std::unique(chunks.begin(), chunks.end()), chunks.end());
  return chunks;
}

/// Sums the resident bytes between the library's ranges.
class Outside {
 public:
  explicit Outside(const Snapshot& snapshot)
      : chunk_bytes_(snapshot.chunk_bytes), own_chunks_(own_chunks(snapshot)) {}

  void add(Address start, Address end);

  std::uint64_t other = 0, unnamed = 0;

 private:
  const std::uint64_t chunk_bytes_;
  const std::vector<Address> own_chunks_;
};

void Outside::add(Address start, Address end) {
  auto chunk = own_chunks_.begin();
  if (chunk_bytes_ != 0)
    chunk = std::lower_bound(own_chunks_.begin(), own_chunks_.end(), start / chunk_bytes_);
  other += end - start;
  for (; chunk != own_chunks_.end() && *chunk * chunk_bytes_ < end; ++chunk) {
    const std::uint64_t own =
        std::min(end, (*chunk + 1) * chunk_bytes_) - std::max(start, *chunk * chunk_bytes_);
    other -= own;
    unnamed += own;
  }
}

void add_outside(const Snapshot& snapshot, const Residency& residency, Sheet& sheet) {
  std::vector<Range> ranges = sorted_ranges(snapshot.spans);
  const auto add_ranges = [&](const std::vector<Range>& more) {
    const auto middle = static_cast<std::ptrdiff_t>(ranges.size());
    ranges.insert(ranges.end(), more.begin(), more.end());
    std::inplace_merge(ranges.begin(), ranges.begin() + middle, ranges.end(),
                       [](Range a, Range b) { return a.start < b.start; });
  };
  add_ranges(sorted_ranges(snapshot.free_runs));
  add_ranges(sorted_ranges(snapshot.records));
  ranges.push_back({UINT64_MAX, UINT64_MAX});
  Outside outside(snapshot);
  std::size_t run = 0;
  Address gap = 0;
  for (const Range range : ranges) {
    if (range.start > gap)
      residency.for_each_in_next(gap, range.start, run,
                                 [&](Address start, Address end) { outside.add(start, end); });
    gap = std::max(gap, range.end);
  }
  sheet.bytes[static_cast<std::size_t>(Part::kOther)] = outside.other;
  sheet.unnamed_bytes = outside.unnamed;
}

void fill_resident(const Snapshot& snapshot, const Residency& residency, Sheet& sheet) {
  SpanSums(snapshot, sheet).add_all(residency);
  sheet.bytes[static_cast<std::size_t>(Part::kFreePages)] =
      resident_in(sorted_ranges(snapshot.free_runs), residency);
  sheet.bytes[static_cast<std::size_t>(Part::kMetadata)] +=
      resident_in(merged(sorted_ranges(snapshot.records)), residency);
  add_outside(snapshot, residency, sheet);
  sheet.rss_bytes = residency.rss_bytes();
  sheet.huge_bytes = residency.huge_bytes();
}

/// \why tables of records are mapped far beyond what is used of them, and clean pages have no memory.
void fill_mapped(const Snapshot& snapshot, Sheet& sheet) {
  sheet.basis = Basis::kMapped;
  SpanSums(snapshot, sheet).add_all(Residency({{0, UINT64_MAX}}, 0, 0));
  sheet.bytes[static_cast<std::size_t>(Part::kFreePages)] = snapshot.totals.free_dirty_bytes;
  sheet.bytes[static_cast<std::size_t>(Part::kMetadata)] += snapshot.totals.record_bytes;
}

// -- Rates -------------------------------------------------------------------------------------------------

/// Of a counter that only grows; one that is smaller than before began anew.
double events(std::uint64_t before, std::uint64_t now, double seconds) {
  return static_cast<double>(now >= before ? now - before : now) / seconds;
}

double change(std::uint64_t before, std::uint64_t now, double seconds) {
  return (static_cast<double>(now) - static_cast<double>(before)) / seconds;
}

/// What the earlier snapshot has of each element, found by a key.
template <typename Element, typename Key>
class Earlier {
 public:
  Earlier(const std::vector<Element>& elements, Key key) : key_(key) {
    for (const Element& element : elements) by_key_.emplace(key(element), &element);
  }
  /// \returns one without figures for what is new.
  const Element& of(const Element& now) const {
    const auto found = by_key_.find(key_(now));
    return found != by_key_.end() ? *found->second : none_;
  }

 private:
  Key key_;
  std::unordered_map<std::uint64_t, const Element*> by_key_;
  Element none_;
};

void rate_classes(const Snapshot& before, const Snapshot& now, Rates& rates) {
  for (std::size_t i = 0; i < now.classes.size(); ++i) {
    const bool is_same =
        i < before.classes.size() && before.classes[i].block_bytes == now.classes[i].block_bytes;
    const std::uint64_t live = is_same ? before.classes[i].live : 0;
    rates.live_of_class.push_back(change(live, now.classes[i].live, rates.seconds));
  }
}

void rate_threads(const Snapshot& before, const Snapshot& now, Rates& rates) {
  const Earlier earlier(before.threads, [](const Thread& thread) { return thread.record; });
  rates.owners.resize(now.owners.size());
  for (const Thread& thread : now.threads) {
    const Thread& then = earlier.of(thread);
    const Rates::OfThread rate{events(then.refills, thread.refills, rates.seconds),
                               events(then.flushes, thread.flushes, rates.seconds)};
    rates.threads.push_back(rate);
    if (thread.owner >= rates.owners.size()) continue;
    rates.owners[thread.owner].refills += rate.refills;
    rates.owners[thread.owner].flushes += rate.flushes;
  }
}

void rate_owners(const Snapshot& before, const Snapshot& now, Rates& rates) {
  const Earlier earlier(before.owners, [](const Owner& owner) { return owner.record; });
  for (std::size_t i = 0; i < now.owners.size(); ++i)
    rates.owners[i].remote_batches =
        events(earlier.of(now.owners[i]).remote_batches, now.owners[i].remote_batches, rates.seconds);
}

void rate_pools(const Snapshot& before, const Snapshot& now, Rates& rates) {
  const Earlier earlier(before.pools, [](const Pool& pool) { return pool.number; });
  for (const Pool& pool : now.pools)
    rates.live_of_pool.push_back(change(earlier.of(pool).live, pool.live, rates.seconds));
}

Rates no_rates(const Snapshot& now) {
  Rates none;
  none.live_of_class.resize(now.classes.size());
  none.threads.resize(now.threads.size());
  none.owners.resize(now.owners.size());
  none.live_of_pool.resize(now.pools.size());
  return none;
}

}  // namespace

std::uint64_t Sheet::sum() const { return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0}); }

double Sheet::error() const {
  if (rss_bytes == 0) return 0;
  return std::abs(static_cast<double>(sum()) / static_cast<double>(rss_bytes) - 1);
}

Sheet make_sheet(const Snapshot& snapshot, const Residency* residency) {
  Sheet sheet;
  if (residency != nullptr)
    fill_resident(snapshot, *residency, sheet);
  else
    fill_mapped(snapshot, sheet);
  return sheet;
}

Rates rates(const Snapshot& before, const Snapshot& now) {
  Rates result;
  result.seconds = now.time - before.time;
  if (!(result.seconds > 0)) return no_rates(now);
  rate_classes(before, now, result);
  rate_threads(before, now, result);
  rate_owners(before, now, result);
  rate_pools(before, now, result);
  return result;
}

}  // namespace tarn::observer
