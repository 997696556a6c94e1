// Replays as one HTML file that needs nothing else, made of the JSON that `tarn replay --json` writes.
#pragma once
#include <string>

#include "report/results.h"

namespace tarn::tool {

std::string replay_page(const Json& results);

}  // namespace tarn::tool
