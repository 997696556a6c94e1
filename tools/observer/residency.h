// Which pages of an observed program are backed by memory: what RSS counts. Only of a running process; a core
// file tells what was written to it.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "source.h"

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
  void for_each_in(Address start, Address end, Visit visit) const;

  /// Of the whole process, as the kernel counts it.
  std::uint64_t rss_bytes() const { return rss_bytes_; }
  /// Anonymous memory in 2 MiB pages.
  std::uint64_t huge_bytes() const { return huge_bytes_; }
  const std::vector<ResidentRun>& runs() const { return runs_; }

 private:
  std::size_t first_run_behind(Address address) const;  // the first that ends behind it

  std::vector<ResidentRun> runs_;
  std::uint64_t rss_bytes_, huge_bytes_;
};

/// Reads /proc/PID/pagemap (or its PAGEMAP_SCAN, Linux 6.7) and smaps. The one page of zeros, which most
/// kernels put behind pages that were only ever read, is not resident.
/// \returns nothing where the kernel does not tell. \cost about 1 ms for 100 MiB.
std::optional<Residency> read_residency(const Source& source);

template <typename Visit>
void Residency::for_each_in(Address start, Address end, Visit visit) const {
  for (std::size_t i = first_run_behind(start); i < runs_.size() && runs_[i].start < end; ++i)
    visit(runs_[i].start < start ? start : runs_[i].start, runs_[i].end < end ? runs_[i].end : end);
}

}  // namespace tarn::observer
