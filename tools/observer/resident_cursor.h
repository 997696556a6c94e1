// Walks resident runs beside ranges that ascend: one pass over both, however many there are.
#pragma once
#include <algorithm>
#include <span>

#include "residency.h"

namespace tarn::observer {

class ResidentCursor {
 public:
  /// \param runs must outlive the cursor.
  explicit ResidentCursor(std::span<const ResidentRun> runs) : runs_(runs) {}

  /// Calls visit(start, end) for each resident part of a range. \pre starts never descend from call to call.
  template <typename Visit>
  void for_each_in(Address start, Address end, Visit visit) {
    while (next_ < runs_.size() && runs_[next_].end <= start) ++next_;
    for (std::size_t i = next_; i < runs_.size() && runs_[i].start < end; ++i)
      visit(std::max(runs_[i].start, start), std::min(runs_[i].end, end));
  }

  std::uint64_t bytes_in(Address start, Address end) {
    std::uint64_t bytes = 0;
    for_each_in(start, end, [&](Address from, Address to) { bytes += to - from; });
    return bytes;
  }

 private:
  std::span<const ResidentRun> runs_;
  std::size_t next_ = 0;
};

}  // namespace tarn::observer
