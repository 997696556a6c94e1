// Which options make a program's memory less, found by measuring.
//
// 1. Each value alone is measured beside the defaults. The best value of each topic is joined.
// 2. The whole is measured beside itself without each one. What does not help is dropped, one at a time.
// 3. What gained nothing alone is measured beside what is chosen, and joined likewise. \why huge pages hide
//    what other settings gain
// 4. What is left is measured beside the defaults in fresh rounds, in more of them while noise hides whether
//    it is too slow. If it does not hold there, it loses its weakest setting, and is measured again. \why the
//    best of many is partly the luckiest of many
//
// The search only asks for measurements: tests invent them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
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

enum class Step : std::uint8_t { kAlone, kJoined, kAdded, kVerified };

/// Measures configurations in interleaved rounds; the first is the defaults. \returns one for each, in order;
/// empty where it failed. Of a step kVerified there must be five rounds at least.
using Measure = std::function<std::vector<Measurements>(Step, const std::vector<Configuration>&)>;

/// The figure that is to become less.
enum class Aim : std::uint8_t { kPeak, kMean };

struct Bounds {
  Aim aim = Aim::kPeak;
  double most_time_percent = 5;
  double least_gain_percent = 1;
};

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

struct Choice {
  Configuration configuration;
  Share peak_gain, mean_gain;  // positive: less memory
  Share price;                 // in time; positive: slower
  Verdict verdict = Verdict::kNoise;

  const Share& gain(Aim aim) const { return aim == Aim::kPeak ? peak_gain : mean_gain; }
};

/// Medians.
struct Figures {
  double peak_bytes = 0, mean_bytes = 0, seconds = 0;
};

struct Outcome {
  std::vector<Choice> alone;     // in the order of the candidates
  std::vector<Choice> added;     // each beside what was chosen by then; of those that were not, and could be
  Configuration added_to;        // what that was
  Configuration chosen;          // empty: nothing is proposed
  Choice verified;               // in fresh rounds: what was chosen, or what fell through last
  Figures default_figures;       // of the fresh rounds; without any, of the first step
  Figures chosen_figures;        // of the fresh rounds, if something was chosen
  unsigned verifications = 0;    // wholes that were measured in fresh rounds
  std::size_t fresh_rounds = 0;  // of the last of them
};

/// How a configuration compares with another that was measured in the same rounds.
Choice compare(const Configuration& configuration, const Measurements& own, const Measurements& base,
               const Bounds& bounds);

/// What is tried, one value at a time.
std::vector<Setting> usual_candidates();

/// \pre the defaults do not fail
Outcome search(const std::vector<Setting>& candidates, const Measure& measure, const Bounds& bounds);

/// The file that TARN_CONF_FILE names: each line of the comment behind a #, and a line for each setting.
std::string configuration_file(const Configuration& configuration, const std::string& comment);

}  // namespace tarn::tune
