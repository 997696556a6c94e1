// How much memory and time a snapshot may take. Whoever looks may be root, and the program that is looked at
// may be hostile: so all that the reader keeps, and each loop whose length it has read, is paid from here.
// What asks for more ends the reading with an error, soon.
//
// Threads: one.
#pragma once
#include <cstdint>

#include "observer/process/source.h"

namespace tarn::observer {

class Bounds {
 public:
  /// Those of this machine: half of its memory, 8 GiB at most, and kMostSteps.
  Bounds();
  Bounds(std::uint64_t bytes, std::uint64_t steps) : bytes_(bytes), steps_(steps) {}

  /// How much memory a whole command may take.
  static std::uint64_t most_bytes();
  /// What is said where that is not enough.
  static const char* refusal();

  /// Call before memory is taken. \throws ObserveError when too little is left.
  void spend_bytes(std::uint64_t bytes) { spend(bytes_, bytes); }
  /// Call before work is done; a step is some nanoseconds. \throws ObserveError when too few are left.
  void spend_steps(std::uint64_t steps) { spend(steps_, steps); }

 private:
  /// A heap of 200 GiB takes less than a hundredth of them.
  static constexpr std::uint64_t kMostSteps = std::uint64_t{1} << 30;
  static constexpr std::uint64_t kMostBytes = std::uint64_t{8} << 30;

  static void spend(std::uint64_t& left, std::uint64_t wanted) {
    if (wanted > left) refuse();
    left -= wanted;
  }
  [[noreturn]] static void refuse();

  std::uint64_t bytes_, steps_;
};

/// Notices when a list runs in a circle, without memory, however long the list is: R. P. Brent, "An improved
/// Monte Carlo factorization algorithm", 1980.
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
