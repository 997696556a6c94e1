// What the parts of the reader share while they make a snapshot: read_snapshot.cc puts them in order.
//
// Whatever was read may be torn or forged: each part checks what it uses against what it already knows,
// counts what cannot be true as bad, and goes on. What it keeps, and loops whose length it has read, are
// paid from the bounds.
// Threads: one.
#pragma once
#include <cstdint>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "observer/records/bounds.h"
#include "observer/records/image.h"
#include "observer/records/layout.h"
#include "observer/snapshot/pulse.h"
#include "observer/snapshot/snapshot.h"

namespace tarn::observer {

/// The record of a span of the snapshot.
struct SpanRecord {
  Address address = 0;
  bool lies_in_buffer = false;  // of a heap; no table of pages has it
};

/// What only the reader needs to know of a pool.
struct PoolDetail {
  std::uint64_t record_kind = 0;  // PoolRecord
};

struct Reading {
  const Source& source;
  const Layout& layout;
  Bounds& bounds;
  Image& image;
  Snapshot& snapshot;

  std::vector<SpanRecord> span_records{};  // one for each of snapshot.spans
  std::vector<PoolDetail> pool_details{};  // one for each of snapshot.pools
  std::vector<Span> spans_in_blocks{};     // of heaps whose buffer is a block of the general pool
  std::unordered_map<Address, std::uint32_t> owner_at{}, pool_at{};  // by record: index in the snapshot
  std::unordered_map<Address, std::uint32_t> cached_span_owner{};    // by record of a freed large block
  std::unordered_set<Address> spare_slabs{}, spare_pages{};          // by record
  Pulse pulse{};                                                     // as the records say that were copied

  std::uint64_t number(Address record, Field field) {
    return number_at(image.view(record + field.offset, std::min<std::uint64_t>(field.size, 8)),
                     {0, field.size});
  }

  std::uint64_t number_of(Address record, std::string_view field) {
    return number(record, layout.field(field));
  }

  /// \returns the element of a class in an array at `array`; 0 where nobody has made it. \param behind where
  /// the pointers to the blocks of later classes are.
  Address element(Address array, Address behind, std::uint32_t size_class, std::uint32_t size) {
    const std::uint32_t in_block = layout.value("per_class.in_block");
    if (size_class < in_block) return array + std::uint64_t{size_class} * size;
    const Address pointer = behind + (std::uint64_t{size_class / in_block} - 1) * sizeof(Address);
    const Address block = number(pointer, {0, sizeof(Address)});
    return block == 0 ? 0 : block + std::uint64_t{size_class % in_block} * size;
  }

  /// Adds an entry to a part of the snapshot.
  template <typename Entry>
  void add(std::vector<Entry>& entries, const std::type_identity_t<Entry>& entry) {
    bounds.spend_bytes(sizeof entry);
    entries.push_back(entry);
  }
  void add(std::unordered_set<Address>& records, Address record) {
    constexpr std::uint64_t kNodeBytes = 64;
    bounds.spend_bytes(kNodeBytes);
    records.insert(record);
  }
  void add_span(const Span& span, const SpanRecord& record) {
    add(snapshot.spans, span);
    add(span_records, record);
  }

  /// Calls use(record) for each record of a list. A list that runs in a circle ends soon after its first
  /// turn.
  template <typename Use>
  void for_each_in_list(Address first, Field next, Use use) {
    CircleWatch circle;
    for (Address record = first; record != 0 && !circle.has_closed(record); record = number(record, next)) {
      bounds.spend_steps(kStepsOfARecord);
      use(record);
    }
  }
  static constexpr std::uint64_t kStepsOfARecord = 16;

  void note_bad_span() { ++snapshot.exactness.bad_spans; }
};

/// \returns the record of a pool's class; 0 where there is none.
inline Address private_class(Reading& reading, std::uint32_t size_class) {
  const Address classes = reading.layout.root("private_classes");
  return reading.element(classes, classes + reading.layout.field("private_classes.behind").offset, size_class,
                         reading.layout.size_of("private_class"));
}

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
/// What threads and depots have cached: no longer live.
void read_caches(Reading& reading);
/// Sums over spans, and the library's own figures.
void sum_up(Reading& reading);

}  // namespace tarn::observer
