// A run of `tarn bench` as one HTML file that needs nothing else.
#pragma once
#include <string>

#include "bench/figures/bench_document.h"

namespace tarn::tool {

std::string bench_page(const BenchDocument& document);

}  // namespace tarn::tool
