#include "observer/process/residency.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "observer/files/kernel_text.h"
#include "observer/process/attached_process.h"

namespace tarn::observer {
namespace {

// linux/fs.h of Linux 6.7; written down here, so that the tool can be built with older headers.
struct PageRegion {
  std::uint64_t start, end, categories;
};
struct ScanRequest {
  std::uint64_t size, flags, start, end, walk_end, regions, region_count, most_pages;
  std::uint64_t inverted, required, any_of, returned;
};
constexpr std::uint64_t kIsPresent = 1 << 3, kIsSwapped = 1 << 4, kIsZeroPage = 1 << 5, kIsHuge = 1 << 6;
const unsigned long kScan = _IOWR('f', 16, ScanRequest);

// A second of entries. Larger are the tables of sanitizers, which nobody looks into.
constexpr std::uint64_t kLargestWalk = std::uint64_t{1} << 40;

// Bits of an entry.
constexpr std::uint64_t kEntryPresent = std::uint64_t{1} << 63;
constexpr std::uint64_t kEntrySwapped = std::uint64_t{1} << 62;
constexpr std::uint64_t kEntryFile = std::uint64_t{1} << 61;  // or shared memory, or a huge page of zeros
constexpr std::uint64_t kEntryExclusive = std::uint64_t{1} << 56;  // no other process has it

bool is_of_no_file(const Mapping& mapping) {
  return !mapping.is_shared && (mapping.path.empty() || mapping.path[0] == '[');
}

// The addresses that a process can have mappings at, without the kernel's own page at the top.
Address end_of(std::span<const Mapping> mappings) {
  const auto last = std::find_if(mappings.rbegin(), mappings.rend(),
                                 [](const Mapping& mapping) { return mapping.end <= INT64_MAX; });
  return last == mappings.rend() ? 0 : last->end;
}

/// Calls visit(start, end) for the parts of a range that are in one of the mappings.
template <typename Visit>
void for_each_part(Address start, Address end, std::span<const Mapping> mappings, Visit visit) {
  auto mapping = std::partition_point(mappings.begin(), mappings.end(),
                                      [start](const Mapping& before) { return before.end <= start; });
  for (; mapping != mappings.end() && mapping->start < end; ++mapping)
    visit(*mapping, std::max(start, mapping->start), std::min(end, mapping->end));
}

void add_huge(ResidentPages& pages, const PageRegion& region, std::span<const Mapping> mappings,
              std::span<const Mapping> hugetlb) {
  Address at = region.start;
  for_each_part(region.start, region.end, hugetlb, [&](const Mapping&, Address start, Address end) {
    pages.add(at, start);
    at = end;
  });
  pages.add(at, region.end);
  for_each_part(region.start, region.end, mappings, [&](const Mapping& mapping, Address start, Address end) {
    if (is_of_no_file(mapping)) pages.huge_bytes += end - start;
  });
  for_each_part(region.start, region.end, hugetlb, [&](const Mapping& mapping, Address start, Address end) {
    if (is_of_no_file(mapping)) pages.huge_bytes -= end - start;
  });
}

std::uint64_t own_page_bytes() { return static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)); }

/// Calls visit(region) for what the kernel's scan up to an address finds. \returns false where it has none.
template <typename Visit>
bool scan(const InputFile& pagemap, Address end, ScanRequest request, Visit visit) {
  std::vector<PageRegion> regions(4096);
  request.size = sizeof request;
  request.regions = reinterpret_cast<std::uintptr_t>(regions.data());
  request.region_count = regions.size();
  for (Address at = 0; at < end;) {
    request.start = at, request.end = end;
    const int count = ioctl(pagemap.descriptor(), kScan, &request);
    if (count < 0 || request.walk_end <= at) return false;
    // Where the room for regions ends, the kernel may say that it stopped before what it has told.
    Address told = at;
    for (PageRegion region : std::span(regions).first(static_cast<std::size_t>(count))) {
      region.start = std::max(region.start, told);
      if (region.start >= region.end) continue;
      visit(region);
      told = region.end;
    }
    at = std::max<Address>(request.walk_end, told);
  }
  return true;
}

/// Calls visit(start, end, entry) for the pages of a mapping until it returns false.
template <typename Visit>
void for_each_entry(const InputFile& pagemap, const Mapping& mapping, Visit visit) {
  constexpr std::uint64_t kEntriesAtOnce = 1 << 16;
  const std::uint64_t page_bytes = own_page_bytes();
  std::vector<std::uint64_t> entries;
  for (Address at = mapping.start; at < mapping.end;) {
    entries.resize(std::min(kEntriesAtOnce, (mapping.end - at) / page_bytes));
    entries.resize(pagemap.read(at / page_bytes * 8, entries.data(), entries.size() * 8) / 8);
    if (entries.empty()) return;
    for (const std::uint64_t entry : entries) {
      if (!visit(at, at + page_bytes, entry)) return;
      at += page_bytes;
    }
  }
}

/// The pages of one mapping. Without root an entry does not tell the page of zeros from one that is shared
/// with a forked relative: both belong to no file and to more than one process. So these count only if the
/// mapping's RSS is large enough for all of them.
class MappingPages {
 public:
  explicit MappingPages(const Mapping& mapping)
      : certain_bits_(is_of_no_file(mapping) ? kEntryExclusive : kEntryExclusive | kEntryFile) {}

  void add(Address start, Address end, std::uint64_t entry) {
    if ((entry & kEntryPresent) != 0) all_.add(start, end);
    if ((entry & kEntryPresent) != 0 && (entry & certain_bits_) != 0) certain_.add(start, end);
  }
  bool has_all(std::uint64_t rss_bytes) const { return certain_.bytes >= rss_bytes; }
  const ResidentPages& counted(std::uint64_t rss_bytes) const {
    return all_.bytes <= rss_bytes ? all_ : certain_;
  }

 private:
  std::uint64_t certain_bits_;  // of which an entry has one, if its page is not that of zeros
  ResidentPages all_, certain_;
};

// Parsing smaps costs more than all else here: only a process that has such pages pays for it.
std::vector<Mapping> hugetlb_mappings(const Source& source) {
  std::vector<Mapping> mappings;
  const std::string status = read_kernel_text(kernel_file(source, "status")).value_or("");
  if (bytes_of(status, "HugetlbPages:") == 0) return mappings;
  for (MappingUse& use : parse_smaps(read_kernel_text(kernel_file(source, "smaps")).value_or("")))
    if (use.is_hugetlb) mappings.push_back(std::move(use.mapping));
  return mappings;
}

bool is_of_kernel(const Mapping& mapping) { return mapping.path.starts_with("[v"); }  // [vvar], [vsyscall]

}  // namespace

void ResidentPages::add(Address start, Address end) {
  if (end <= start) return;
  bytes += end - start;
  if (!runs.empty() && runs.back().end == start)
    runs.back().end = end;
  else
    runs.push_back({start, end});
}

std::optional<ResidentPages> scan_pagemap(const InputFile& pagemap, std::span<const Mapping> mappings,
                                          std::span<const Mapping> hugetlb) {
  ResidentPages pages;
  ScanRequest request{};
  request.inverted = kIsZeroPage;
  request.required = kIsPresent | kIsZeroPage;
  request.returned = kIsPresent | kIsHuge;
  const bool is_told = scan(pagemap, end_of(mappings), request, [&](const PageRegion& region) {
    if ((region.categories & kIsHuge) != 0)
      add_huge(pages, region, mappings, hugetlb);
    else
      pages.add(region.start, region.end);
  });
  return is_told ? std::optional(std::move(pages)) : std::nullopt;
}

std::optional<ResidentPages> scan_written(const InputFile& pagemap, std::span<const Mapping> mappings) {
  ResidentPages pages;
  ScanRequest request{};
  request.inverted = request.required = kIsZeroPage;
  request.any_of = kIsPresent | kIsSwapped;
  request.returned = kIsPresent;
  const bool is_told = scan(pagemap, end_of(mappings), request,
                            [&](const PageRegion& region) { pages.add(region.start, region.end); });
  return is_told ? std::optional(std::move(pages)) : std::nullopt;
}

ResidentPages walk_written(const InputFile& pagemap, const std::vector<MappingUse>& uses,
                           std::uint64_t& unread_bytes) {
  ResidentPages pages;
  for (const MappingUse& use : uses) {
    const std::uint64_t written = use.rss_bytes + use.swap_bytes;
    if (written == 0) continue;
    if (use.mapping.bytes() > kLargestWalk) {
      unread_bytes += written;
      continue;
    }
    std::uint64_t certain = 0;  // not the page of zeros
    for_each_entry(pagemap, use.mapping, [&](Address start, Address end, std::uint64_t entry) {
      if ((entry & (kEntryPresent | kEntrySwapped)) != 0) pages.add(start, end);
      if ((entry & (kEntrySwapped | kEntryExclusive | kEntryFile)) != 0) certain += end - start;
      return certain < written;
    });
  }
  return pages;
}

bool is_present(const InputFile& pagemap, Address address) {
  std::uint64_t entry = 0;
  return pagemap.read_all(address / own_page_bytes() * sizeof entry, &entry, sizeof entry) &&
         (entry & kEntryPresent) != 0;
}

ResidentPages walk_pagemap(const InputFile& pagemap, const std::vector<MappingUse>& uses) {
  ResidentPages pages;
  for (const MappingUse& use : uses) {
    pages.huge_bytes += use.huge_bytes;
    const Mapping& mapping = use.mapping;
    if (use.rss_bytes == 0 || use.is_hugetlb || mapping.bytes() > kLargestWalk) continue;
    MappingPages of_mapping(mapping);
    for_each_entry(pagemap, mapping, [&](Address start, Address end, std::uint64_t entry) {
      of_mapping.add(start, end, entry);
      return !of_mapping.has_all(use.rss_bytes);
    });
    for (const ResidentRun& run : of_mapping.counted(use.rss_bytes).runs) pages.add(run.start, run.end);
  }
  return pages;
}

std::size_t Residency::first_run_behind(Address address) const {
  const auto run = std::partition_point(
      runs_.begin(), runs_.end(), [address](const ResidentRun& before) { return before.end <= address; });
  return static_cast<std::size_t>(run - runs_.begin());
}

std::uint64_t Residency::bytes_in(Address start, Address end) const {
  std::uint64_t bytes = 0;
  for_each_in(start, end, [&](Address from, Address to) { bytes += to - from; });
  return bytes;
}

// \why RSS is the sum of the pages: it is then of the same moment as they, and exact. The kernel's own figure
// in /proc/PID/status can be off by 64 pages for each processor before Linux 6.17; the one in smaps_rollup is
// exact, but takes three times as long as the scan.
std::optional<Residency> read_residency(const Source& source) {
  const InputFile pagemap = kernel_file(source, "pagemap");
  if (!pagemap.is_open()) return std::nullopt;
  if (auto pages = scan_pagemap(pagemap, source.mappings(), hugetlb_mappings(source)); pages)
    return Residency(std::move(pages->runs), pages->bytes, pages->huge_bytes);

  const std::vector<MappingUse> uses =
      parse_smaps(read_kernel_text(kernel_file(source, "smaps")).value_or(""));
  if (uses.empty()) return std::nullopt;
  ResidentPages pages = walk_pagemap(pagemap, uses);
  std::uint64_t rss_bytes = 0;
  for (const MappingUse& use : uses) rss_bytes += use.rss_bytes;
  return Residency(std::move(pages.runs), rss_bytes, pages.huge_bytes);
}

std::optional<WrittenPages> read_written_pages(const Source& source) {
  const InputFile pagemap = kernel_file(source, "pagemap");
  if (!pagemap.is_open()) return std::nullopt;
  if (auto pages = scan_written(pagemap, source.mappings()); pages)
    return WrittenPages{Residency(std::move(pages->runs), 0, 0), 0};
  std::vector<MappingUse> uses = parse_smaps(read_kernel_text(kernel_file(source, "smaps")).value_or(""));
  std::erase_if(uses, [](const MappingUse& use) { return is_of_kernel(use.mapping); });
  if (uses.empty()) return std::nullopt;
  std::uint64_t unread_bytes = 0;
  ResidentPages pages = walk_written(pagemap, uses, unread_bytes);
  return WrittenPages{Residency(std::move(pages.runs), 0, 0), unread_bytes};
}

}  // namespace tarn::observer
