// A comparison beside an earlier one of the same programs: is tarn worse than it was? Standings beside the
// system's allocator are compared, not figures, so that the two may be of different machines or days.
#pragma once
#include <string>
#include <vector>

#include "report/results.h"

namespace tarn::tool {

/// \param baseline what `tarn compare --json` wrote before
/// \param tolerance_percent that a figure may be worse, beyond the noise of both
/// \returns a line for each figure of tarn, or of a variant, that is worse; and for each that is missing
/// \throws UsageError if the baseline is none, or of other programs
std::vector<std::string> worse_than(const Json& baseline, const Json& results, double tolerance_percent);

}  // namespace tarn::tool
