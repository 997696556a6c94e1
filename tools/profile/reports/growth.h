// What became more and what became less between two profiles, by stack.
//
// The idea: stacks are the same if their names, pools and, within one build, lines are: never addresses, so
// that two runs can be compared as well as two marks of one.
#pragma once
#include <string>
#include <vector>

#include "profile/stacks/json.h"
#include "profile/stacks/named_profile.h"

namespace tarn::profile {

/// What stacks must have in common, besides their pool, to be the same.
enum class SameStack : std::uint8_t {
  kLines,
  kFunctions,  // of two builds
};

/// The live memory of a stack, of a profile or of a document that one was written to.
struct StackAmount {
  std::vector<Frame> frames;  // innermost first
  std::string pool;
  Amount live;
};
std::vector<StackAmount> stacks_of(const NamedProfile& profile);
/// \throws an exception of the JSON library where the document is not as profile_json() makes it
std::vector<StackAmount> stacks_in(const Json& profile);

struct StackGrowth {
  std::vector<Frame> frames;  // innermost first
  std::string pool;
  Amount before, after;

  double bytes() const { return after.bytes - before.bytes; }
  double blocks() const { return after.blocks - before.blocks; }
};

/// Of live memory; the greatest growth first, the greatest shrinkage last. What stayed the same is left out.
std::vector<StackGrowth> growth_between(std::vector<StackAmount> before, std::vector<StackAmount> after,
                                        SameStack same = SameStack::kLines);

/// Stacks with one site and pool are a row. \param rows of growth and of shrinkage each; 0 = all
std::string growth_text(const std::vector<StackGrowth>& stacks, std::size_t rows, std::size_t columns);
/// {"schema": "tarn profile growth", "version": 1, ...}
Json growth_json(const std::vector<StackGrowth>& growth);

}  // namespace tarn::profile
