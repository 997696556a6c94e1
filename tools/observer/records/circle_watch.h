// Notices when a list runs in a circle: R. P. Brent, "An improved Monte Carlo factorization algorithm", 1980.
// Threads: one.
#pragma once
#include <cstdint>

#include "observer/process/source.h"

namespace tarn::observer {

/// Needs no memory, however long the list is.
class CircleWatch {
 public:
  /// Call with each record in turn. \returns true at the latest after four times as many as there are.
  bool has_closed(Address record) {
    if (record == mark_) return true;
    if (++since_mark_ == distance_) {
      mark_ = record;
      since_mark_ = 0;
      distance_ *= 2;
    }
    return false;
  }

 private:
  Address mark_ = 0;
  std::uint64_t since_mark_ = 0, distance_ = 1;
};

}  // namespace tarn::observer
