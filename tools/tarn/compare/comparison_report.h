// A comparison as text and as a page: the tables, what they say about tarn in a line, what failed and why.
#pragma once
#include <string>

#include "engine/rounds/comparison.h"
#include "report/results.h"
#include "system/terminal/terminal.h"

namespace tarn::tool {

/// Median, spread and standing of every metric, for each contender that may be compared.
std::string comparison_tables(const Comparison& comparison, Colour colour);

/// All there is to say of one program, for a terminal. \param interrupted_by 0, or the signal
std::string comparison_report(const Comparison& comparison, int interrupted_by, Colour colour);

/// A table for each figure of the programs, and in a line how tarn stands beside the others.
std::string suite_report(const ComparisonResults& results, Colour colour);

/// One HTML file that needs nothing else. \param header what result_header() gave
std::string compare_page(const Json& header, const ComparisonResults& results);

}  // namespace tarn::tool
