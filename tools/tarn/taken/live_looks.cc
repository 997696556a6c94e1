#include "taken/live_looks.h"

#include <algorithm>
#include <map>
#include <utility>

#include "observer/snapshot/snapshot.h"
#include "system/figures/clock.h"

namespace tarn::tool {

profile::LiveLook live_look(const observer::Sampling& sampling, double live_bytes, double seconds) {
  std::map<std::uint64_t, double> bytes_of;
  double sampled = 0;
  for (const observer::SampledBlock& sample : sampling.live) {
    const double bytes = observer::blocks_of(sample) * static_cast<double>(sample.requested);
    bytes_of[sample.stack] += bytes;
    sampled += bytes;
  }
  return {seconds, std::max(0.0, live_bytes - sampled), {bytes_of.begin(), bytes_of.end()}};
}

LiveLooks::LiveLooks(double seconds) : pause_(std::max(kShortestPause, seconds / kMost)) {}

void LiveLooks::take(observer::Source& source, const observer::SamplingWords& words, double gone) {
  const timespec began = now();
  source.refresh();
  const double live = static_cast<double>(observer::read_snapshot(source).totals.live_bytes);
  looks_.push_back(live_look(words.read_live(), live, gone));
  pause_ = std::max(pause_, seconds_since(began) / kMostOfTime);
  next_ = gone + pause_;
}

}  // namespace tarn::tool
