// Roots in memory.
#include "observer/leaks/roots.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/leak_rules.h"
#include "observer/records/layout.h"
#include "observer/records/locate.h"

namespace tarn::observer {
namespace {

/// Memory without a file that can only be read was written before.
bool may_hold_pointers(const Mapping& mapping) {
  return mapping.is_writable || (mapping.is_readable && mapping.path.empty());
}

/// Adds what is left of a range when others are taken out of it. `next` is the first of them that may matter;
/// it moves on, as ranges come by ascending addresses.
void add_rest(AddressRange range, const std::vector<AddressRange>& without, std::size_t& next,
              std::vector<AddressRange>& rest) {
  while (next < without.size() && without[next].end <= range.start) ++next;
  for (std::size_t i = next; i < without.size() && without[i].start < range.end; ++i) {
    if (without[i].start > range.start) rest.push_back({range.start, without[i].start});
    range.start = std::max(range.start, std::min(without[i].end, range.end));
  }
  if (range.start < range.end) rest.push_back(range);
}

/// Adds the globals of the library, but for the context of the program's callback, which may be the only word
/// that names a block.
void add_globals(const Layout& layout, AddressRange globals, std::vector<AddressRange>& ranges) {
  const Address kept = layout.root("memory_limit"), kept_bytes = layout.root_bytes("memory_limit");
  if (globals.start <= kept && kept < globals.end && kept_bytes <= globals.end - kept) {
    ranges.push_back({globals.start, kept});
    globals.start = kept + kept_bytes;
  }
  ranges.push_back(globals);
}

/// The data of the library's own file; of a program that is linked with the archive, what the library tells.
std::vector<AddressRange> ranges_of_globals(const Source& source, const Snapshot& snapshot) {
  std::vector<AddressRange> ranges;
  const std::optional<Located> located = locate(source);
  if (!located) return ranges;
  const Layout layout = Layout::read(source, located->descriptor);
  if (located->library.find("libtarn") != std::string::npos) {
    for (const RecordRange& range : snapshot.records)
      if (range.what == RecordRange::What::kData)
        add_globals(layout, {range.start, range.start + range.bytes}, ranges);
  } else {
    layout.for_each_root([&](Address root, std::uint64_t bytes) {
      constexpr std::uint64_t kMostBytes = 1 << 20;
      if (bytes <= kMostBytes && root + bytes > root) add_globals(layout, {root, root + bytes}, ranges);
    });
  }
  return ranges;
}

bool starts_before(const AddressRange& a, const AddressRange& b) { return a.start < b.start; }

}  // namespace

std::vector<AddressRange> heap_ranges(const Snapshot& snapshot) {
  std::vector<AddressRange> ranges;
  for (const Span& span : snapshot.spans)
    if (span.use != SpanUse::kOther) ranges.push_back({span.start, span.end()});
  for (const FreeRun& run : snapshot.free_runs) ranges.push_back({run.start, run.start + run.bytes});
  for (const RecordRange& range : snapshot.records)
    if (range.what != RecordRange::What::kData) ranges.push_back({range.start, range.start + range.bytes});
  std::sort(ranges.begin(), ranges.end(), starts_before);
  return ranges;
}

Roots memory_roots(const Source& source, const Snapshot& snapshot) {
  std::vector<AddressRange> heap = heap_ranges(snapshot);
  std::ranges::copy(ranges_of_globals(source, snapshot), std::back_inserter(heap));
  std::sort(heap.begin(), heap.end(), starts_before);
  Roots roots;
  std::size_t next = 0;
  for (const Mapping& mapping : source.mappings()) {
    if (!may_hold_pointers(mapping)) continue;
    if (internal::is_mapped_device(mapping.path))
      roots.device_bytes += mapping.bytes();
    else
      add_rest({mapping.start, mapping.end}, heap, next, roots.ranges);
  }
  return roots;
}

}  // namespace tarn::observer
