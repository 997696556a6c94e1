// Findings as text: a sign, what is the case, and below it what to do.
#pragma once
#include <string>
#include <vector>

#include "observer/findings/findings.h"
#include "observer/findings/next_step.h"
#include "report/results.h"
#include "report/table.h"

namespace tarn::tool {

std::string doctor_text(const observer::Snapshot& snapshot, const std::vector<observer::Finding>& findings,
                        std::size_t width, Colour colour);
/// "" where there is none.
std::string next_text(const observer::NextStep& next, std::size_t width);

Json doctor_json(const observer::Snapshot& snapshot, const std::vector<observer::Finding>& findings,
                 const observer::NextStep& next);

}  // namespace tarn::tool
