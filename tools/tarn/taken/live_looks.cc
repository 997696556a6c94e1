#include "taken/live_looks.h"

#include <algorithm>
#include <new>
#include <unordered_map>
#include <utility>

#include "observer/snapshot/snapshot.h"
#include "system/figures/clock.h"

namespace tarn::tool {
namespace {

/// \why a bound: figures may be forged
double as_bytes(double bytes) {
  constexpr double kMost = 9e15;
  return std::clamp(bytes, 0.0, kMost);
}

}  // namespace

profile::LiveLook live_look(const observer::Sampling& sampling, double live_bytes, double seconds) {
  std::unordered_map<std::uint64_t, double> bytes_of;
  double sampled = 0;
  for (const observer::SampledBlock& sample : sampling.live) {
    const double bytes = as_bytes(observer::blocks_of(sample) * static_cast<double>(sample.requested));
    bytes_of[sample.stack] += bytes;
    sampled += bytes;
  }
  profile::LiveLook look{seconds, as_bytes(as_bytes(live_bytes) - sampled), 0, {}};
  look.bytes.assign(bytes_of.begin(), bytes_of.end());
  std::ranges::sort(look.bytes, [](const auto& a, const auto& b) { return a.second > b.second; });
  while (look.bytes.size() > LiveLooks::kMostStacks) {
    look.other_bytes = as_bytes(look.other_bytes + look.bytes.back().second);
    look.bytes.pop_back();
  }
  return look;
}

void LiveLooks::take(observer::Source& source, const observer::SamplingWords& words, double gone) {
  const timespec began = now();
  try {
    source.refresh();
    const double live = static_cast<double>(observer::read_snapshot(source).totals.live_bytes);
    add(live_look(words.read_live(), live, gone));
  } catch (const observer::ObserveError&) {
    // The process is ending, or changed too fast.
  } catch (const std::bad_alloc&) {
    // It has more samples than this tool may have memory for: the profile itself says so.
  }
  next_ = gone + std::max(pause_, seconds_since(began) / kMostOfTime);
}

void LiveLooks::add(profile::LiveLook look) {
  if (looks_.size() == kMost) {
    std::vector<profile::LiveLook> kept;
    for (std::size_t i = 0; i < looks_.size(); i += 2) kept.push_back(std::move(looks_[i]));
    looks_ = std::move(kept);
    pause_ *= 2;
  }
  looks_.push_back(std::move(look));
}

}  // namespace tarn::tool
