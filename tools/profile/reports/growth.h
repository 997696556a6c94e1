// What became more and what became less between two profiles, by stack.
//
// The idea: stacks are the same if their names, lines and pools are, so that two runs can be compared as well
// as two marks of one.
#pragma once
#include <string>
#include <vector>

#include "profile/stacks/json.h"
#include "profile/stacks/named_profile.h"

namespace tarn::profile {

struct StackGrowth {
  std::vector<Frame> frames;  // innermost first
  std::string pool;
  Amount before, after;

  double bytes() const { return after.bytes - before.bytes; }
  double blocks() const { return after.blocks - before.blocks; }
};

/// Of live memory; the greatest growth first, the greatest shrinkage last. What stayed the same is left out.
std::vector<StackGrowth> growth_between(const NamedProfile& before, const NamedProfile& after);

/// \param rows of growth and of shrinkage each; 0 = all
std::string growth_text(const std::vector<StackGrowth>& growth, std::size_t rows, std::size_t columns);
/// {"format": "tarn-heap-growth", "version": 1, ...}
Json growth_json(const std::vector<StackGrowth>& growth);

}  // namespace tarn::profile
