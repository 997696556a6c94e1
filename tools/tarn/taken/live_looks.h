// What is live, by stack, looked at up to some hundred times while a profile is on: how it grew.
#pragma once
#include <cstddef>
#include <vector>

#include "observer/process/source.h"
#include "observer/watch/sampling.h"
#include "profile/symbols/heap_profile.h"

namespace tarn::tool {

class LiveLooks {
 public:
  static constexpr std::size_t kMost = 120;  // looks; then each second one goes, and pauses are twice as long
  static constexpr double kFirstPause = 0.1;        // seconds
  static constexpr double kMostOfTime = 0.05;       // that looks may take
  static constexpr std::size_t kMostStacks = 4096;  // of a look that are told apart, the greatest

  bool is_due(double gone) const { return gone >= next_; }
  /// A look that is refused is left out. \param gone seconds since the start
  void take(observer::Source& source, const observer::SamplingWords& words, double gone);
  void add(profile::LiveLook look);
  std::vector<profile::LiveLook> end() { return std::move(looks_); }

 private:
  std::vector<profile::LiveLook> looks_;
  double pause_ = kFirstPause, next_ = 0;  // seconds
};

/// \param live_bytes of all that is live, also what was not sampled
profile::LiveLook live_look(const observer::Sampling& sampling, double live_bytes, double seconds);

}  // namespace tarn::tool
