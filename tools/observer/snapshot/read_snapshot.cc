// The reader: from a program's memory to a snapshot.
#include <fmt/format.h>

#include <chrono>
#include <new>

#include "observer/records/locate.h"
#include "observer/snapshot/pulse.h"
#include "observer/snapshot/reading.h"
#include "observer/watch/sampling.h"

namespace tarn::observer {
namespace {

constexpr std::uint32_t kMostClasses = 32768;
constexpr std::uint32_t kMostRanges = 4096;
constexpr std::uint64_t kLeastPageBytes = 4096, kMostPageBytes = 1 << 20;

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

[[noreturn]] void refuse(const char* what) {
  throw ObserveError(
      fmt::format("the library's descriptor cannot be read: its {} have no size that tarn knows", what));
}

bool is_between(std::uint64_t value, std::uint64_t least, std::uint64_t most) {
  return value >= least && value <= most;
}

/// Whatever else is read is measured in these.
void read_constants(const Layout& layout, Snapshot& snapshot) {
  const std::uint64_t page = layout.value("page_bytes"), chunk = layout.value("chunk_bytes");
  if (!is_between(page, kLeastPageBytes, kMostPageBytes)) refuse("pages");
  if (chunk % page != 0 || !is_between(chunk / page, 1, 64)) refuse("chunks");
  if (!is_between(layout.value("buffer.unit_bytes"), kLeastPageBytes, kMostPageBytes)) refuse("buffers");
  if (!is_between(layout.value("bin_count"), 1, kMostClasses) ||
      !is_between(layout.value("per_class.in_block"), 1, kMostClasses))
    refuse("size classes");
  snapshot.page_bytes = page;
  snapshot.chunk_bytes = chunk;
}

/// Copies all records at once.
void load_records(Reading& reading) {
  const Layout& layout = reading.layout;
  const Address metadata = layout.root("metadata");
  const Field ranges = layout.field("metadata.ranges"), start = layout.field("range.start"),
              end = layout.field("range.end");
  const std::uint64_t count = reading.number_of(metadata, "metadata.range_count");
  for (std::uint64_t i = 0; i < count && i < kMostRanges; ++i) {
    const Address range = metadata + ranges.offset + i * ranges.size;
    const Address from = reading.number(range, start), to = reading.number(range, end);
    if (from >= to) continue;
    reading.image.load(from, to - from);
    reading.add(reading.snapshot.records, {from, to - from, RecordRange::What::kRecords});
  }
}

Address geometry_of_private(Reading& reading, std::uint32_t size_class) {
  const Layout& layout = reading.layout;
  const Address record = private_class(reading, size_class);
  const Address owner = record == 0 ? 0 : reading.number_of(record, "private_class.owner");
  const Address geometries = owner == 0 ? 0 : reading.number_of(owner, "owner.geometries");
  const std::uint64_t first = owner == 0 ? 0 : reading.number_of(owner, "owner.first_class");
  return geometries == 0 || first > size_class
             ? 0
             : geometries + (size_class - first) * layout.size_of("geometry");
}

void read_classes(Reading& reading) {
  const Layout& layout = reading.layout;
  const std::uint32_t count = count_of_classes(reading.source, layout), bins = layout.value("bin_count");
  reading.bounds.spend_bytes(count * sizeof(ClassUse));
  reading.snapshot.classes.resize(count);
  for (std::uint32_t i = 1; i < count; ++i) {
    const Address geometry = i < bins
                                 ? layout.root("geometry") + std::uint64_t{i} * layout.size_of("geometry")
                                 : geometry_of_private(reading, i);
    if (geometry == 0) continue;
    reading.snapshot.classes[i].block_bytes = reading.number_of(geometry, "geometry.block_bytes");
    reading.snapshot.classes[i].stride = reading.number_of(geometry, "geometry.stride");
  }
}

bool has_root(const Layout& layout, const Mapping& mapping) {
  bool has = false;
  layout.for_each_root([&](Address root, std::uint64_t) { has = has || mapping.contains(root); });
  return has;
}

/// The writable memory of the library's own file is its records too, and the index of pages. Where the
/// library is linked into the program, its data lies among the program's, and counts there.
void add_library_ranges(Reading& reading) {
  const std::string& library = reading.snapshot.library;
  const Layout& layout = reading.layout;
  const Address index = reading.number_of(layout.root("page_map"), "page_map.index");
  const bool has_own_file = library.find("libtarn") != std::string::npos;
  for (const SamplingRange& range : sampling_ranges(reading.source, layout))
    reading.add(reading.snapshot.records, {range.start, range.bytes, RecordRange::What::kRecords});
  for (const Mapping& mapping : reading.source.mappings()) {
    if (index != 0 && mapping.contains(index)) {
      reading.add(reading.snapshot.records, {mapping.start, mapping.bytes(), RecordRange::What::kIndex});
    } else if (has_own_file && mapping.is_writable &&
               (mapping.path == library || (mapping.path.empty() && has_root(layout, mapping)))) {
      reading.add(reading.snapshot.records, {mapping.start, mapping.bytes(), RecordRange::What::kData});
    }
  }
}

Located locate_or_refuse(const Source& source) {
  if (const auto located = locate(source)) return *located;
  throw ObserveError(fmt::format(
      "{} ({}) does not use tarn, or a version that cannot be looked into: start it with `tarn run`",
      source.program(), source.pid()));
}

/// The parts in their order. \returns what they compared meanwhile.
Exactness read_parts(const Source& source, const Layout& layout, Snapshot& snapshot) {
  Bounds bounds;
  Image image(source, bounds);
  Reading reading{source, layout, bounds, image, snapshot};
  const Pulse before = Pulse::read(source, layout, bounds);
  load_records(reading);
  read_classes(reading);
  read_pages(reading);
  read_owners(reading);
  read_pools(reading);
  read_blocks(reading);
  read_caches(reading);
  sum_up(reading);
  add_library_ranges(reading);
  return compare(before, reading.pulse, Pulse::read(source, layout, bounds));
}

}  // namespace

Snapshot read_snapshot(const Source& source) try {
  const Located located = locate_or_refuse(source);
  const Layout layout = Layout::read(source, located.descriptor);
  Snapshot snapshot;
  snapshot.pid = source.pid();
  snapshot.program = source.program();
  snapshot.library = located.library;
  snapshot.library_version = layout.version();
  snapshot.time = seconds_since_1970();
  read_constants(layout, snapshot);
  Exactness exactness = read_parts(source, layout, snapshot);
  exactness.bad_spans = snapshot.exactness.bad_spans;
  if (exactness.bad_spans != 0) exactness.is_exact = false;
  snapshot.exactness = exactness;
  return snapshot;
} catch (const std::bad_alloc&) {
  throw ObserveError(
      "there is no memory left to look with: end what needs it, or look at a core file elsewhere");
}

}  // namespace tarn::observer
