#include "residency.h"

#include <algorithm>

#include "attached_process.h"
#include "kernel_text.h"
#include "maps_parser.h"
#include "pagemap.h"

namespace tarn::observer {
namespace {

// Parsing smaps costs more than all else here: only a process that has such pages pays for it.
std::vector<Mapping> hugetlb_mappings(const Source& source) {
  std::vector<Mapping> mappings;
  const std::string status = read_kernel_text(kernel_file(source, "status")).value_or("");
  if (bytes_of(status, "HugetlbPages:") == 0) return mappings;
  for (MappingUse& use : parse_smaps(read_kernel_text(kernel_file(source, "smaps")).value_or("")))
    if (use.is_hugetlb) mappings.push_back(std::move(use.mapping));
  return mappings;
}

}  // namespace

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

}  // namespace tarn::observer
