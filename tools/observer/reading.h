// What the parts of the reader share while they make a snapshot: read_snapshot.cc puts them in order.
//
// Whatever was read may be torn: each part checks what it uses against what it already knows, counts what
// cannot be true as bad, and goes on.
// Threads: one.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "observer/image.h"
#include "observer/layout.h"
#include "observer/snapshot.h"

namespace tarn::observer {

struct Reading {
  const Source& source;
  const Layout& layout;
  Image& image;
  Snapshot& snapshot;

  std::vector<Address> span_records;                             // one for each of snapshot.spans
  std::unordered_map<Address, std::uint32_t> owner_at, pool_at;  // by record: index in the snapshot
  std::unordered_set<Address> spare_slabs, spare_pages;          // by record

  std::uint64_t number(Address record, Field field) {
    const std::byte* const bytes = image.view(record + field.offset, field.size);
    return bytes == nullptr ? 0 : number_at(bytes, {0, field.size});
  }

  /// Calls use(record) for each record of a list, up to a bound, and not for one twice in a row.
  template <typename Use>
  void for_each_in_list(Address first, Field next, std::size_t most, Use use) {
    for (Address record = first; record != 0 && most > 0; --most) {
      use(record);
      const Address following = number(record, next);
      if (following == record) break;
      record = following;
    }
  }

  void note_bad_span() { ++snapshot.exactness.bad_spans; }
};

inline std::uint32_t index_in(const std::unordered_map<Address, std::uint32_t>& map, Address record) {
  const auto found = map.find(record);
  return found != map.end() ? found->second : kNone;
}

// The parts, in the order of their calls.

/// Regions, chunks and the tables of pages: free runs, and all spans but their blocks.
void read_pages(Reading& reading);
/// Owners of slabs, with their spare slabs.
void read_owners(Reading& reading);
/// Pools, and the spans of heaps that lie in a caller's buffer.
void read_pools(Reading& reading);
/// The blocks of all spans, sorted by address.
void read_blocks(Reading& reading);
/// What threads and depots have at hand: no longer live.
void read_caches(Reading& reading);
/// Sums over spans, and the library's own figures.
void sum_up(Reading& reading);

}  // namespace tarn::observer
