// The regions of a program's heap: which pages spans have, and which are free.
#include <algorithm>
#include <optional>

#include "observer/records/large_memory.h"
#include "observer/snapshot/reading.h"

namespace tarn::observer {
namespace {

constexpr std::uint32_t kMostRegions = 1024;
constexpr std::uint64_t kDense = 1;  // of a chunk: the system was asked for huge pages
constexpr std::uint64_t kMostPages = std::uint64_t{1} << 26;  // of a region: 4 TiB

/// Where the fields of a region and of a chunk lie.
struct PageFields {
  const Layout& layout;
  std::uint32_t region_bytes = layout.size_of("region");
  std::uint32_t chunk_record = layout.size_of("chunk");
  Field start = layout.field("region.start");
  Field bytes = layout.field("region.bytes");
  Field spans = layout.field("region.spans");
  Field chunks = layout.field("region.chunks");
  Field committed = layout.field("region.committed");
  Field free_mask = layout.field("chunk.free_mask");
  Field dirty_mask = layout.field("chunk.dirty_mask");
  Field density = layout.field("chunk.density");
};

struct Region {
  Address start = 0;
  std::uint64_t chunk_count = 0;
  Bytes chunks;  // chunk_count records
  Bytes spans;   // an address for each page; 0: none
};

class RegionReader {
 public:
  RegionReader(Reading& reading, const PageFields& fields)
      : reading_(reading),
        fields_(fields),
        page_bytes_(reading.snapshot.page_bytes),
        pages_per_chunk_(reading.snapshot.chunk_bytes / page_bytes_) {}

  void read(Bytes record) {
    const std::optional<Region> region = find(record);
    if (!region) return;
    const std::uint64_t pages = region->chunk_count * pages_per_chunk_;
    reading_.bounds.spend_steps(pages);
    make_room_for_spans(*region, pages);
    for (std::uint64_t page = 0; page < pages;) {
      const Address span = span_of(*region, page);
      std::uint64_t end = page + 1;
      while (end < pages && span_of(*region, end) == span) ++end;
      if (span != 0) {
        add_span(*region, page, end, span);
      } else {
        add_free(*region, page, end);
      }
      page = end;
    }
  }

 private:
  std::optional<Region> find(Bytes record) {
    Region region;
    region.start = number_at(record, fields_.start);
    const std::uint64_t bytes = number_at(record, fields_.bytes);
    region.chunk_count = number_at(record, fields_.committed);
    if (region.start % page_bytes_ != 0 || region.start + bytes < region.start) return std::nullopt;
    if (region.chunk_count > bytes / reading_.snapshot.chunk_bytes ||
        region.chunk_count * pages_per_chunk_ > kMostPages)
      return std::nullopt;
    const std::uint64_t spans = region.chunk_count * pages_per_chunk_ * sizeof(Address);
    const std::uint64_t chunks = region.chunk_count * fields_.chunk_record;
    region.spans = table(number_at(record, fields_.spans), spans);
    region.chunks = table(number_at(record, fields_.chunks), chunks);
    if (region.spans.empty() || region.chunks.empty()) return std::nullopt;
    return region;
  }

  /// \why not as spans come: a vector that grows writes its pages again and again.
  void make_room_for_spans(const Region& region, std::uint64_t pages) {
    std::size_t spans = 0;
    Address last = 0;
    for (std::uint64_t page = 0; page < pages; ++page) {
      const Address span = span_of(region, page);
      spans += span != last && span != 0 ? 1 : 0;
      last = span;
    }
    make_room(reading_.snapshot.spans, spans);
    make_room(reading_.span_records, spans);
  }

  Bytes table(Address start, std::uint64_t bytes) {
    if (bytes == 0) return {};
    reading_.image.load(start, bytes);
    reading_.add(reading_.snapshot.records, {start, bytes, RecordRange::What::kTables});
    return reading_.image.view(start, bytes);
  }

  static Address span_of(const Region& region, std::uint64_t page) {
    return entry_of<Address>(region.spans, page);
  }

  Bytes chunk(const Region& region, std::uint64_t page) const {
    return region.chunks.subspan(page / pages_per_chunk_ * fields_.chunk_record, fields_.chunk_record);
  }

  void add_span(const Region& region, std::uint64_t page, std::uint64_t end, Address record) {
    Span span;
    span.start = region.start + page * page_bytes_;
    span.bytes = (end - page) * page_bytes_;
    span.is_dense = number_at(chunk(region, page), fields_.density) == kDense;
    reading_.add_span(span, {record, false});
  }

  bool is_dirty(const Region& region, std::uint64_t page) const {
    const std::uint64_t bit = std::uint64_t{1} << page % pages_per_chunk_;
    const bool is_free = (number_at(chunk(region, page), fields_.free_mask) & bit) != 0;
    // What is neither free nor a span's is on its way to the system.
    return !is_free || (number_at(chunk(region, page), fields_.dirty_mask) & bit) != 0;
  }

  void add_free(const Region& region, std::uint64_t page, std::uint64_t end) {
    while (page < end) {
      const bool dirty = is_dirty(region, page);
      const std::uint64_t first = page++;
      while (page < end && is_dirty(region, page) == dirty) ++page;
      reading_.add(reading_.snapshot.free_runs,
                   {region.start + first * page_bytes_, (page - first) * page_bytes_, dirty});
    }
  }

  Reading& reading_;
  const PageFields& fields_;
  const std::uint64_t page_bytes_, pages_per_chunk_;
};

}  // namespace

void read_pages(Reading& reading) {
  const PageFields fields{reading.layout};
  const Address map = reading.layout.root("page_map");
  const auto count = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(reading.number_of(map, "page_map.region_count"), kMostRegions));
  const Address first = map + reading.layout.value("page_map.regions");
  RegionReader reader(reading, fields);
  for (std::uint32_t i = 0; i < count; ++i) {
    const Bytes region =
        reading.image.view(first + std::uint64_t{i} * fields.region_bytes, fields.region_bytes);
    if (region.empty()) return;
    reader.read(region);
  }
}

}  // namespace tarn::observer
