// A comparison as one HTML file that needs nothing else, made of the JSON that `tarn compare --json` writes.
#pragma once
#include <string>

#include "report/results.h"

namespace tarn::tool {

std::string compare_page(const Json& results);

}  // namespace tarn::tool
