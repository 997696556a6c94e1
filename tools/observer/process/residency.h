// Which pages of an observed program are backed by memory: what RSS counts. Only of a running process, by its
// /proc/PID/pagemap (Documentation/admin-guide/mm/pagemap.rst of Linux); a core file tells what was written
// to it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "observer/files/input_file.h"
#include "observer/process/maps_parser.h"
#include "observer/process/source.h"

namespace tarn::observer {

struct ResidentRun {
  Address start = 0, end = 0;
};

/// Invariant: runs are sorted by address and do not touch.
class Residency {
 public:
  explicit Residency(std::vector<ResidentRun> runs, std::uint64_t rss_bytes, std::uint64_t huge_bytes)
      : runs_(std::move(runs)), rss_bytes_(rss_bytes), huge_bytes_(huge_bytes) {}

  /// \returns the resident bytes of a range. \cost log n.
  std::uint64_t bytes_in(Address start, Address end) const;
  /// Calls visit(start, end) for each resident part of a range.
  template <typename Visit>
  void for_each_in(Address start, Address end, Visit visit) const {
    for_each_in(start, end, first_run_behind(start), visit);
  }
  /// The same for ranges that ascend: one pass over both. \param run 0 before the first range
  template <typename Visit>
  void for_each_in_next(Address start, Address end, std::size_t& run, Visit visit) const {
    while (run < runs_.size() && runs_[run].end <= start) ++run;
    for_each_in(start, end, run, visit);
  }

  /// Of the whole process, as the kernel counts it.
  std::uint64_t rss_bytes() const { return rss_bytes_; }
  /// Anonymous memory in 2 MiB pages.
  std::uint64_t huge_bytes() const { return huge_bytes_; }

 private:
  std::size_t first_run_behind(Address address) const;  // the first that ends behind it
  template <typename Visit>
  void for_each_in(Address start, Address end, std::size_t run, Visit visit) const {
    for (; run < runs_.size() && runs_[run].start < end; ++run)
      visit(std::max(runs_[run].start, start), std::min(runs_[run].end, end));
  }

  std::vector<ResidentRun> runs_;
  std::uint64_t rss_bytes_, huge_bytes_;
};

/// Reads /proc/PID/pagemap (or its PAGEMAP_SCAN, Linux 6.7) and smaps. The one page of zeros, which most
/// kernels put behind pages that were only ever read, is not resident.
/// \returns nothing where the kernel does not tell. \cost about 1 ms for 100 MiB.
std::optional<Residency> read_residency(const Source& source);

/// Which pages hold something, in memory or in swap. What was never written has no pointers, and to read it
/// would make the kernel put pages there.
struct WrittenPages {
  Residency pages;                 // its figures of the whole process are 0
  std::uint64_t unread_bytes = 0;  // written somewhere in mappings too large to be walked
};

/// \returns nothing where it is not known: of a core file, or where the kernel does not tell.
/// \cost that of what is there, by the kernel's scan. Before Linux 6.7 an entry is read for each page of the
/// mappings of up to 1 TiB that have any
std::optional<WrittenPages> read_written_pages(const Source& source);

// -- Two ways with one answer: the kernel's own scan, since Linux 6.7, and an entry for each page --------
//
// Not there is what RSS leaves out: the page of zeros, which stands for pages that were only ever read; what
// is swapped out; the pool of huge pages (hugetlbfs).

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
