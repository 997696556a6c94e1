// A run of `tarn bench` as one HTML file that needs nothing else: the figures as JSON, and the script that
// draws them.
#pragma once
#include <string>

#include "bench/bench_document.h"

namespace tarn::tool {

std::string bench_page(const BenchDocument& document);

}  // namespace tarn::tool
