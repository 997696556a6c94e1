// Which options make a program's memory less, found by measuring.
//
// 1. Each value alone is measured beside the defaults. The best value of each topic is joined.
// 2. The whole is measured beside itself without each one. What does not help is dropped, one at a time.
// 3. What gained nothing alone is measured beside what is chosen, and joined likewise. \why huge pages hide
//    what other settings gain
// 4. What is left is measured beside the defaults in fresh rounds, in more of them while noise hides whether
//    it is too slow. If it does not hold there, it loses its weakest setting, and is measured again. \why the
//    best of many is partly the luckiest of many
// A value that turns out too slow gives its place to a cheaper one of its topic, if that gained alone.
//
// The search only asks for measurements: tests invent them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "tune/choice.h"

namespace tarn::tune {

/// Measures configurations in interleaved rounds; the first is the defaults. \returns one for each, in order;
/// empty where it failed. Of a step kVerified there must be five rounds at least.
using Measure = std::function<std::vector<Measurements>(Step, const std::vector<Configuration>&)>;

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
  Bounds bounds;                 // for the calls alone
  unsigned verifications = 0;    // wholes that were measured in fresh rounds
  std::size_t fresh_rounds = 0;  // of the last of them
};

/// \pre the defaults do not fail
Outcome search(const std::vector<Setting>& candidates, const Measure& measure, const Bounds& bounds);

}  // namespace tarn::tune
