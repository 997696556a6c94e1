// A comparison as JSON; docs/command.md describes the fields.
#pragma once
#include "engine/comparison.h"
#include "report/results.h"

namespace tarn::tool {

/// One program alone is the document's own; several stand in its list "programs".
Json comparison_json(const ComparisonPlan& plan, const ComparisonResults& results);

}  // namespace tarn::tool
