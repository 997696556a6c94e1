// A comparison as text: the table, what it says about tarn in one line, what failed and why.
#pragma once
#include <string>

#include "engine/comparison.h"
#include "report/table.h"

namespace tarn::tool {

/// Median, spread and ratio to the best of every metric, for each contender that may be compared.
Table comparison_table(const Comparison& comparison);

/// All there is to say, for a terminal.
std::string comparison_report(const ComparisonPlan& plan, const Comparison& comparison, Colour colour);

/// What failed, a paragraph per contender, or a single one if all failed alike; empty if nothing did.
std::string failure_report(const Comparison& comparison, Colour colour);

}  // namespace tarn::tool
