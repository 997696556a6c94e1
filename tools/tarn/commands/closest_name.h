// What somebody may have meant who mistyped a name.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tarn::tool {

/// \returns "; did you mean 'profile'?" of the name that a few strokes lead to; "" where there is none.
std::string did_you_mean(std::string_view typed, const std::vector<std::string>& names);

}  // namespace tarn::tool
