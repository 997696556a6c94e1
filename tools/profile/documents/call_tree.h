// Stacks as a tree of calls, for a flame graph and a terminal.
//
// The idea: a child is a function called from its parent. What is too small to be seen is left out, so that
// the tree of any profile fits into a page; a parent's figures hold it all the same.
//
// Invariant: a parent stands before its children. Node 0 is the root.
#pragma once
#include <string>
#include <vector>

#include "profile/stacks/named_profile.h"

namespace tarn::profile {

struct CallNode : Amounts {
  std::size_t parent = 0;
  std::string name = {};   // the function; frames of one function and file are one node
  std::string place = {};  // "build.cc:12" of one of its frames
  FrameRole role = FrameRole::kProgram;
};

inline const std::vector<Measure> kEachMeasure = {Measure::kLive, Measure::kAllocated, Measure::kTemporary};

/// \param most_nodes of the tree; the smallest by each measure that is shown are left out
std::vector<CallNode> call_tree_of(const NamedProfile& profile, std::size_t most_nodes,
                                   const std::vector<Measure>& shown = kEachMeasure);

/// The other way: below the root the functions that a pattern (suppressions.h) is found in, and below each
/// its callers. Of a stack the innermost such function counts; without one it is in no node.
std::vector<CallNode> callers_tree_of(const NamedProfile& profile, const std::string& pattern,
                                      std::size_t most_nodes,
                                      const std::vector<Measure>& shown = kEachMeasure);

}  // namespace tarn::profile
