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

// -- For a page ------------------------------------------------------------------------------------------

/// Over all stacks, also those whose calls are left out of the tree. Its own amounts are of stacks that end
/// in it; the amounts that it inherits are of stacks that it is in, however often.
struct CalledFunction : Amounts {
  std::string name = {}, file = {};  // the file without its directories; "" = not known
  FrameRole role = FrameRole::kProgram;
  Amounts own = {};
};

struct PageNode : Amounts {
  static constexpr std::size_t kSmaller = SIZE_MAX;
  std::size_t parent = 0;
  std::size_t function = 0;  // in PageTree::functions; kSmaller: calls that were left out, as one node
  unsigned line = 0;         // of one of its frames; of kSmaller: how many calls it holds
};

/// Function 0 is the root's, which stands for all.
struct PageTree {
  std::vector<PageNode> nodes;
  std::vector<CalledFunction> functions;
};

/// \param most_nodes the greatest by each measure; beside them there are nodes of those that were left out
/// \param most_functions the greatest; beside them there are those of the nodes
PageTree page_tree_of(const NamedProfile& profile, std::size_t most_nodes, std::size_t most_functions);

}  // namespace tarn::profile
