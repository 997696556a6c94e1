// Calibration of the cycle counter.
#include "clock.h"

namespace tarn::bench {

double ns_per_cycle() {
  constexpr std::uint64_t kCalibrationNs = 20'000'000;
  const std::uint64_t first_ns = now_ns();
  const std::uint64_t first_cycle = cycles();
  std::uint64_t last_ns = first_ns;
  while (last_ns - first_ns < kCalibrationNs) last_ns = now_ns();
  return static_cast<double>(last_ns - first_ns) / static_cast<double>(cycles() - first_cycle);
}

}  // namespace tarn::bench
