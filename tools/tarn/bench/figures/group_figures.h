// The figures and tables of one group of rows for the page: lines over sizes, threads or percentiles, bars
// for a row alone, curves for memory over time, and a table where more contenders take part than lines could
// be told apart.
#pragma once
#include "bench/figures/bench_figures.h"
#include "page/page_document.h"

namespace tarn::tool {

Json figures_of_group(const BenchDocument& document, const GroupSamples& group);

/// All rows in figures, folded: medians with their spread, and memory.
Json tables_of_group(const BenchDocument& document, const GroupSamples& group);

}  // namespace tarn::tool
