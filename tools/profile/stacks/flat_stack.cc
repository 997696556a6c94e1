#include "profile/stacks/flat_stack.h"

#include <algorithm>

namespace tarn::profile {

std::vector<Frame> outermost_first(const NamedStack& stack) {
  std::vector<Frame> frames = stack.frames();
  std::reverse(frames.begin(), frames.end());
  if (frames.empty()) frames.push_back({.function = "[no stack]"});
  if (!stack.pool.empty()) frames.push_back({.function = "[" + stack.pool + "]"});
  return frames;
}

}  // namespace tarn::profile
