// The figures and tables of one group of rows for the page: lines over sizes, threads or percentiles, bars
// for a row alone, curves for memory over time, and a table where more contenders take part than lines could
// be told apart.
#pragma once
#include <string>
#include <vector>

#include "bench/figures/bench_figures.h"
#include "page/page_document.h"

namespace tarn::tool {

Json figures_of_group(const BenchDocument& document, const GroupSamples& group);

/// All rows in figures, folded: medians with their spread, and memory.
Json tables_of_group(const BenchDocument& document, const GroupSamples& group);

/// Contenders that have a figure in one of the rows, in the document's order.
std::vector<std::size_t> contenders_in(const std::vector<const RowSamples*>& rows);
std::vector<const RowSamples*> rows_of(const std::vector<const GroupSamples*>& groups);

/// "12.3" of a number, for a cell of a table.
std::string three_digits(double value);

}  // namespace tarn::tool
