// Verdicts, and the usual candidates.
#include "tune/choice.h"

#include <algorithm>
#include <sstream>

namespace tarn::tune {
namespace {

Verdict verdict_of(const Choice& choice, const Bounds& bounds) {
  const Share& gain = choice.gain(bounds.aim);
  const Share& other = choice.gain(bounds.aim == Aim::kPeak ? Aim::kMean : Aim::kPeak);
  if (!is_gain(gain, bounds)) return Verdict::kNoise;
  if (-other.percent > std::max(other.spread, gain.percent)) return Verdict::kMoves;
  // Noise speaks for it: fresh rounds will tell.
  if (choice.price.percent - choice.price.error > bounds.most_time_percent) return Verdict::kTooSlow;
  return Verdict::kGains;
}

void extend(std::vector<double>& values, const std::vector<double>& later) {
  values.insert(values.end(), later.begin(), later.end());
}

}  // namespace

void Measurements::append(const Measurements& later) {
  extend(peak_bytes, later.peak_bytes);
  extend(mean_bytes, later.mean_bytes);
  extend(seconds, later.seconds);
}

Bounds for_calls(Bounds bounds, double replay_seconds) {
  bounds.most_time_percent *= std::max(1.0, bounds.program_seconds / replay_seconds);
  return bounds;
}

bool is_gain(const Share& gain, const Bounds& bounds) {
  return gain.percent > std::max(gain.spread, bounds.least_gain_percent);
}

Choice compare(const Configuration& configuration, const Measurements& own, const Measurements& base,
               const Bounds& bounds) {
  Choice choice{.configuration = configuration, .peak_gain = {}, .mean_gain = {}, .price = {}};
  if (own.is_empty() || base.is_empty()) {
    choice.verdict = Verdict::kFailed;
    return choice;
  }
  choice.peak_gain = saving(own.peak_bytes, base.peak_bytes);
  choice.mean_gain = saving(own.mean_bytes, base.mean_bytes);
  choice.price = price(own.seconds, base.seconds);
  choice.verdict = verdict_of(choice, bounds);
  return choice;
}

std::vector<Setting> usual_candidates() {
  return {{"huge_pages", "never"},
          {"huge_page_threshold", "64M"},
          {"huge_page_threshold", "256M"},
          {"thread_cache", "64K"},
          {"thread_cache", "256K"},
          {"thread_cache", "1M"},
          {"free_page_threshold", "0"},
          {"free_page_threshold", "1M"},
          {"decay", "0"},
          {"decay", "100ms"},
          {"share_slabs", "always"},
          {"share_slabs", "never"},
          {"reserve", "1G"},
          {"classes", "lfh128"},
          {"classes", "stepped"}};
}

std::string configuration_file(const Configuration& configuration, const std::string& comment) {
  std::string text;
  std::istringstream lines(comment);
  for (std::string line; std::getline(lines, line);) text += "# " + line + "\n";
  for (const Setting& setting : configuration) text += setting.key + ":" + setting.value + "\n";
  return text;
}

}  // namespace tarn::tune
