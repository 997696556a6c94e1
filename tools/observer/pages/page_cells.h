// A snapshot as a map: one cell for each page of the library's, in address order. What the terminal and the
// page of `tarn map` draw.
//
// The idea: spans and free runs, which do not overlap, are the parts of the map. A part as long as a page or
// longer is as many cells; parts shorter than a page (a heap's pages in a caller's buffer) share one. Groups
// are what cells have one colour for: a size class, a pool, large blocks, free pages.
//
// Invariant: cells are sorted by address, each lies in one page; the cells of a part follow each other.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "observer/process/residency.h"
#include "observer/snapshot/snapshot.h"

namespace tarn::observer {

/// A span or a free run.
struct MapPart {
  Address start = 0;
  std::uint64_t bytes = 0;
  std::uint32_t span = kNone;      // in Snapshot::spans
  std::uint32_t free_run = kNone;  // in Snapshot::free_runs; one of the two is kNone
  std::uint32_t group = 0;         // in PageMap::groups

  Address end() const { return start + bytes; }
};

struct PageCell {
  Address start = 0;             // of the page, or of the first part in it
  std::uint32_t first_part = 0;  // in PageMap::parts
  std::uint32_t part_count = 0;
  std::uint32_t group = 0;  // of the part with most bytes in it
  std::uint32_t bytes = 0;  // of parts
  std::uint32_t live_bytes = 0, cached_bytes = 0;
  std::uint32_t resident_bytes = 0;  // without a residency: all that is not known to have gone back

  /// Resident, but neither live nor cached.
  std::uint32_t idle_bytes() const {
    const std::uint32_t used = live_bytes + cached_bytes;
    return resident_bytes > used ? resident_bytes - used : 0;
  }
  /// Hollow: given back, or never written.
  bool is_given_back() const { return resident_bytes == 0; }
  /// Hatched: most of what is resident is free.
  bool is_mostly_idle() const {
    return resident_bytes != 0 && 2 * std::uint64_t{idle_bytes()} >= resident_bytes;
  }
  double fill() const { return bytes == 0 ? 0 : static_cast<double>(live_bytes) / bytes; }
};

struct CellGroup {
  enum class Kind : std::uint8_t { kClass, kPool, kLarge, kFree } kind = Kind::kClass;
  std::uint32_t index = 0;  // of the class or pool in the snapshot
  std::string name;
  std::uint64_t block_bytes = 0;  // of a class; 0: they differ
  std::uint64_t parts = 0, bytes = 0, live_bytes = 0, resident_bytes = 0;
};

struct PageMap {
  std::uint64_t page_bytes = 0;
  bool is_residency_known = false;
  std::vector<MapPart> parts;
  std::vector<PageCell> cells;
  std::vector<CellGroup> groups;  // largest first; free pages come last

  std::uint64_t idle_bytes() const;
  std::uint64_t resident_bytes() const;
};

/// \pre snapshot.page_bytes is no less than 4096
/// \cost about 10 ms for 100,000 pages
PageMap page_map_of(const Snapshot& snapshot, const Residency* residency);

/// What the bytes of a span are, of those that are resident.
struct SpanParts {
  std::uint64_t live = 0;
  std::uint64_t rounding = 0;  // around live blocks, and what no block has
  std::uint64_t free = 0;      // blocks that are free or cached, whole

  SpanParts& operator+=(const SpanParts& other);
};

/// Of the bytes from `start` to `end`. \pre they lie in the span.
/// \cost a few steps for the whole span, a step per 64 blocks for a part.
SpanParts parts_of(const Snapshot& snapshot, const Span& span, Address start, Address end);

}  // namespace tarn::observer
