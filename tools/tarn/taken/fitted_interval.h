// The distance of two samples, chosen while a profile runs from how many the program makes.
//
// The idea: some thousand samples tell each site of a per cent within a seventh, and cost little, whatever
// the program allocates; where most of that is freed at once, more are needed, so that a thousand live. Each
// sample says how many blocks it stands for, so a new distance leaves estimates unbiased.
#pragma once
#include <cstdint>

namespace tarn::tool {

class FittedInterval {
 public:
  static constexpr std::uint64_t kFirst = std::uint64_t{512} << 10, kLeast = std::uint64_t{4} << 10,
                                 kMost = std::uint64_t{1} << 30;   // bytes
  static constexpr double kWanted = 4000, kWantedPerSecond = 500;  // samples: the fewer of the two
  static constexpr double kLongestPause = 1;                       // seconds between looks
  static constexpr double kWantedLive = 1000;                      // samples
  static constexpr double kMostPerSecond = 10'000;                 // samples; 1 % of a core or so

  explicit FittedInterval(double seconds);

  /// Whether it is time to look: each second, at first more often.
  bool is_due(double gone) const { return gone >= next_look_; }
  /// \param gone seconds since the start. \param samples all since then. \param live_bytes 0: it is not for
  /// these. \returns the interval from now on
  std::uint64_t fit(double gone, double samples, double live_bytes);
  std::uint64_t interval() const { return interval_; }

 private:
  const double seconds_, wanted_;
  std::uint64_t interval_ = kFirst;
  double next_look_ = 0.1;                   // seconds
  double last_gone_ = 0, last_samples_ = 0;  // at the last look
};

}  // namespace tarn::tool
