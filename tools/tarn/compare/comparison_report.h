// A comparison as text: the table, what it says about tarn in one line, what failed and why.
#pragma once
#include <string>

#include "engine/rounds/comparison.h"
#include "system/terminal/styled_text.h"

namespace tarn::tool {

/// Median, spread and standing of every metric, for each contender that may be compared.
std::string comparison_tables(const Comparison& comparison, Colour colour);

/// All there is to say of one program, for a terminal. \param interrupted_by 0, or the signal
std::string comparison_report(const Comparison& comparison, int interrupted_by, Colour colour);

}  // namespace tarn::tool
