// A tree of calls for a terminal.
#pragma once
#include <string>
#include <vector>

#include "profile/documents/call_tree.h"
#include "profile/names/function_name.h"

namespace tarn::profile {

/// A line for each call, the greatest first; calls that are their caller's only one stand below it without
/// figures of their own.
/// \param columns of the terminal
std::string call_tree_text(const std::vector<CallNode>& nodes, Measure measure, NameForm form,
                           std::size_t columns);

}  // namespace tarn::profile
