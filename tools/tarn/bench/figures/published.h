// What the sources published of their designs, and the same figures as they are measured here, in words.
#pragma once
#include <string>

#include "bench/figures/bench_figures.h"
#include "bench/rows/catalogue.h"

namespace tarn::tool {

/// Of each design of a source, how fast it is beside what the source compared it with, and how fast tarn is
/// beside the design; then each figure that the source published, with those measured here. Empty where
/// nothing of that has run.
std::string words_on_designs(const BenchDocument& document, const SourceInfo& source);

}  // namespace tarn::tool
