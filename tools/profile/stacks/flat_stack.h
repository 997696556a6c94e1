// A stack as formats of flame graphs want it: texts from the outermost function in.
#pragma once
#include <vector>

#include "profile/stacks/named_profile.h"

namespace tarn::profile {

/// The frames, outermost first; a pool of its own is one more frame behind the innermost: "[heap 2]".
std::vector<Frame> outermost_first(const NamedStack& stack);

}  // namespace tarn::profile
