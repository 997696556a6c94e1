// Settings of the library, what was measured of them, and what to think of that.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tune/noise.h"

namespace tarn::tune {

struct Setting {
  std::string key, value;
  bool operator==(const Setting&) const = default;
};
using Configuration = std::vector<Setting>;  // empty: the defaults

/// What the rounds of one configuration came to, in the order of the rounds.
struct Measurements {
  std::vector<double> peak_bytes, mean_bytes, seconds;

  bool is_empty() const { return seconds.empty(); }
  void append(const Measurements& later);
};

/// The figure that is to become less.
enum class Aim : std::uint8_t { kPeak, kMean };

struct Bounds {
  Aim aim = Aim::kPeak;
  double most_time_percent = 5;
  double least_gain_percent = 1;
  double program_seconds = 0;  // of which the time is a share; 0: it is one of the calls' own time
};

/// The same for the calls alone, of which one replay takes so long: what they take longer, the program does.
/// Never less than it was.
Bounds for_calls(Bounds bounds, double replay_seconds);

enum class Verdict : std::uint8_t {
  kGains,
  kNoise,         // the gain is no more than its noise, or less than a line in a file is worth
  kMoves,         // what the one figure gains, the other loses, and more
  kTooSlow,       // it costs more time than was allowed
  kFailed,        // its runs failed
  kOutdone,       // another value of the same topic is better
  kAddsNothing,   // the other chosen ones gain the same without it
  kNotConfirmed,  // the fresh rounds did not bear it out
};

enum class Step : std::uint8_t { kAlone, kJoined, kAdded, kVerified };

/// What a later step's rounds said of a choice. Of kAddsNothing and kNotConfirmed it is the gain, of kTooSlow
/// the price of the whole.
struct LaterJudgement {
  Step step;
  Share share;
};

struct Choice {
  Configuration configuration;
  Share peak_gain, mean_gain;  // positive: less memory
  Share price;                 // in time; positive: slower
  Verdict verdict = Verdict::kNoise;
  std::optional<LaterJudgement> later = {};  // where the verdict is not that of the rounds above

  const Share& gain(Aim aim) const { return aim == Aim::kPeak ? peak_gain : mean_gain; }
};

/// Whether memory becomes less by more than noise, and enough, whatever the time.
bool is_gain(const Share& gain, const Bounds& bounds);

/// How a configuration compares with another that was measured in the same rounds.
Choice compare(const Configuration& configuration, const Measurements& own, const Measurements& base,
               const Bounds& bounds);

/// What is tried, one value at a time.
std::vector<Setting> usual_candidates();

/// The file that TARN_CONF_FILE names: each line of the comment behind a #, and a line for each setting.
std::string configuration_file(const Configuration& configuration, const std::string& comment);

}  // namespace tarn::tune
