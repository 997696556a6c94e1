// A comparison as JSON; docs/command.md says what the names of fields do not.
#pragma once
#include "engine/rounds/comparison.h"
#include "report/results.h"

namespace tarn::tool {

/// One program alone is the document's own; several stand in its list "programs".
Json comparison_json(const ComparisonPlan& plan, const ComparisonResults& results);

}  // namespace tarn::tool
