// What one run of a program cost, and the kinds of figures there are.
#pragma once
#include <cstdint>

namespace tarn::tool {

struct Measurement {
  double wall_seconds = 0;
  double user_seconds = 0;
  double system_seconds = 0;
  std::uint64_t peak_rss_bytes = 0;  // of the largest single process
  std::uint64_t minor_faults = 0;
  std::uint64_t major_faults = 0;

  double cpu_seconds() const { return user_seconds + system_seconds; }
  std::uint64_t page_faults() const { return minor_faults + major_faults; }
};

enum class Quantity : std::uint8_t { kSeconds, kBytes, kCount };

}  // namespace tarn::tool
