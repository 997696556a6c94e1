// What a suite of programs came to, as text: a table for each figure, and in a line how tarn stands beside
// the others.
#pragma once
#include <string>

#include "engine/rounds/comparison.h"
#include "system/terminal/styled_text.h"

namespace tarn::tool {

std::string suite_report(const ComparisonResults& results, Colour colour);

}  // namespace tarn::tool
