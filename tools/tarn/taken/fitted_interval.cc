#include "taken/fitted_interval.h"

#include <algorithm>

namespace tarn::tool {

FittedInterval::FittedInterval(double seconds)
    : seconds_(seconds), wanted_(std::min(kWanted, kWantedPerSecond * seconds)) {}

std::uint64_t FittedInterval::fit(double gone, double samples, double live_bytes) {
  const double passed = gone - last_gone_, made = samples - last_samples_;
  next_look_ = gone + std::min(gone, kLongestPause);
  last_gone_ = gone;
  last_samples_ = samples;
  const double left = std::max(seconds_ - gone, passed);
  const double lacking = std::max(wanted_ - samples, wanted_ / 4);
  const auto now = static_cast<double>(interval_);
  // One more, so that none is no rate.
  const double bytes_per_second = (made + 1) / passed * now;
  double fitting = bytes_per_second * left / lacking;
  if (live_bytes > 0) fitting = std::min(fitting, live_bytes / kWantedLive);
  fitting = std::max(fitting, bytes_per_second / kMostPerSecond);
  // Not far at once, as few samples tell little.
  fitting = std::clamp(fitting, now / 16, now * 64);
  if (fitting < now / 2 || fitting > now * 2)
    interval_ = static_cast<std::uint64_t>(std::clamp(fitting, double{kLeast}, double{kMost}));
  return interval_;
}

}  // namespace tarn::tool
