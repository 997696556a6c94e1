// What became more and what became less between two profiles, by stack.
//
// The idea: stacks are the same if their names, pools and, within one build, lines are: never addresses, so
// that two runs can be compared as well as two marks of one.
#pragma once
#include <string>
#include <vector>

#include "profile/reports/over_time.h"
#include "profile/stacks/json.h"
#include "profile/stacks/named_profile.h"

namespace tarn::profile {

/// What stacks must have in common, besides their pool, to be the same.
enum class SameStack : std::uint8_t {
  kLines,
  kFunctions,  // of two builds
};

struct StackGrowth {
  std::vector<Frame> frames;  // innermost first
  std::string pool;
  Amount before, after;

  double bytes() const { return after.bytes - before.bytes; }
  double blocks() const { return after.blocks - before.blocks; }
};

/// Of live memory; the greatest growth first, the greatest shrinkage last. What stayed the same is left out.
std::vector<StackGrowth> growth_between(const NamedProfile& before, const NamedProfile& after);
/// Of documents. \throws an exception of the JSON library where one is not as profile_json() makes it
std::vector<StackGrowth> growth_between(const Json& before, const Json& after, SameStack same);

/// What a reader must know of it: lines.
std::string remarks_on_growth(const NamedProfile& before, const NamedProfile& after);

struct GrowthShape {
  std::size_t rows = 0;  // the most of growth and of shrinkage each; 0: all
  std::size_t columns = 0;
  SameStack same = SameStack::kLines;
};
/// Stacks with one site and pool are a row. \param over_time its sites have bars; may be empty
std::string growth_text(const std::vector<StackGrowth>& stacks, const LiveOverTime& over_time,
                        const GrowthShape& shape);
/// {"schema": "tarn profile growth", "version": 1, ...}
Json growth_json(const std::vector<StackGrowth>& growth, const LiveOverTime& over_time = {});

}  // namespace tarn::profile
