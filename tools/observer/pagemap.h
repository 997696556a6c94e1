// Which pages of a process are there, by its /proc/PID/pagemap (Documentation/admin-guide/mm/pagemap.rst of
// Linux). Two ways with one answer: the kernel's own scan, since Linux 6.7, and an entry for each page.
//
// Not there is what RSS leaves out: the page of zeros, which stands for pages that were only ever read; what
// is swapped out; the pool of huge pages (hugetlbfs).
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "input_file.h"
#include "maps_parser.h"
#include "residency.h"
#include "source.h"

namespace tarn::observer {

/// Invariant: runs are sorted by address and do not touch.
struct ResidentPages {
  std::vector<ResidentRun> runs;
  std::uint64_t bytes = 0;       // of all runs
  std::uint64_t huge_bytes = 0;  // of huge pages that no file has

  void add(Address start, Address end);
};

/// By PAGEMAP_SCAN. It steps over what has no page tables: reserves cost nothing. \p hugetlb: mappings that
/// are left out. \returns nothing where the kernel has no such call.
std::optional<ResidentPages> scan_pagemap(const InputFile& pagemap, std::span<const Mapping> mappings,
                                          std::span<const Mapping> hugetlb);

/// By an entry for each page of the mappings that have any; without mappings of more than 1 TiB.
ResidentPages walk_pagemap(const InputFile& pagemap, const std::vector<MappingUse>& uses);

/// Which pages hold something, in memory or in swap, by the same ways. What the walk leaves out is added to
/// `unread_bytes`.
std::optional<ResidentPages> scan_written(const InputFile& pagemap, std::span<const Mapping> mappings);
ResidentPages walk_written(const InputFile& pagemap, const std::vector<MappingUse>& uses,
                           std::uint64_t& unread_bytes);

/// Whether the page at an address is in memory, and can be read without asking a file system.
bool is_present(const InputFile& pagemap, Address address);

}  // namespace tarn::observer
