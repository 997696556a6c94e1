// The clock that intervals are measured with.
#pragma once
#include <time.h>

namespace tarn::tool {

inline timespec now() {
  timespec value;
  clock_gettime(CLOCK_MONOTONIC, &value);
  return value;
}

inline double seconds_between(const timespec& from, const timespec& to) {
  return static_cast<double>(to.tv_sec - from.tv_sec) + 1e-9 * static_cast<double>(to.tv_nsec - from.tv_nsec);
}

inline double seconds_since(const timespec& start) { return seconds_between(start, now()); }

}  // namespace tarn::tool
