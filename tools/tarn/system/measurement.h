// What one run of a program cost, and the four figures that are compared. Filled in by the runner, reduced by
// statistics.h, written by results.h.
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

/// One figure that is compared; smaller is better for each of them.
struct Metric {
  const char* key;  // in the JSON
  const char* title;
  Quantity quantity;
  double (*value_of)(const Measurement&);
};

inline constexpr Metric kMetrics[] = {
    {"wall_seconds", "wall", Quantity::kSeconds, [](const Measurement& m) { return m.wall_seconds; }},
    {"cpu_seconds", "CPU", Quantity::kSeconds, [](const Measurement& m) { return m.cpu_seconds(); }},
    {"peak_rss_bytes", "peak RSS", Quantity::kBytes,
     [](const Measurement& m) { return static_cast<double>(m.peak_rss_bytes); }},
    {"page_faults", "page faults", Quantity::kCount,
     [](const Measurement& m) { return static_cast<double>(m.page_faults()); }},
};

}  // namespace tarn::tool
