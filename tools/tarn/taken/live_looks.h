// What is live, by stack, looked at some sixty times while a profile is on: how it grew.
#pragma once
#include <vector>

#include "observer/process/source.h"
#include "observer/watch/sampling.h"
#include "profile/symbols/heap_profile.h"

namespace tarn::tool {

class LiveLooks {
 public:
  static constexpr double kMost = 60;            // looks
  static constexpr double kShortestPause = 0.1;  // seconds
  static constexpr double kMostOfTime = 0.05;    // that looks may take

  /// \param seconds that the profile is planned for
  explicit LiveLooks(double seconds);

  bool is_due(double gone) const { return gone >= next_; }
  /// A look that takes long makes the pauses longer. \param gone seconds since the start
  void take(observer::Source& source, const observer::SamplingWords& words, double gone);
  std::vector<profile::LiveLook> end() { return std::move(looks_); }

 private:
  std::vector<profile::LiveLook> looks_;
  double pause_, next_ = 0;  // seconds
};

/// \param live_bytes of all that is live, also what was not sampled
profile::LiveLook live_look(const observer::Sampling& sampling, double live_bytes, double seconds);

}  // namespace tarn::tool
