// What memory a recorded program has, for the end of its trace.
#pragma once
#include <cstdint>

#include "observer/source.h"

namespace tarn::tool {

/// The largest anonymous memory that was seen.
class PeakOfAnonymous {
 public:
  explicit PeakOfAnonymous(const observer::Source& source) : source_(source) {}
  /// \cost some 20 us.
  void look();
  std::uint64_t bytes() const { return peak_bytes_; }

 private:
  const observer::Source& source_;
  std::uint64_t peak_bytes_ = 0;
};

/// \returns the most that was resident ever, as the kernel counted it; 0: unknown.
std::uint64_t peak_rss_bytes(const observer::Source& source);

/// \returns the resident anonymous memory that is neither the heap's nor the library's records: stacks, data
/// of programs, what they mapped themselves, rings of recorded calls; 0 where the kernel does not tell.
std::uint64_t other_anonymous_bytes(const observer::Source& source);

}  // namespace tarn::tool
