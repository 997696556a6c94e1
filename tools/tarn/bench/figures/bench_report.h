// A run of `tarn bench` as text: a table per source, what it says about tarn, what failed; and, where asked
// for, every row. And as a page.
#pragma once
#include <string>

#include "bench/figures/bench_figures.h"
#include "page/page_document.h"
#include "report/table.h"

namespace tarn::tool {

enum class BenchDetail : std::uint8_t { kGroups, kRows };

std::string bench_report(const BenchDocument& document, BenchDetail detail, Colour colour);

/// A source's groups by contenders: geometric means of the ratio beside the best of each row.
Table source_table(const BenchDocument& document, const std::string& source);

/// One HTML file that needs nothing else.
std::string bench_page(const BenchDocument& document);

// -- For the page, of one group of rows -------------------------------------------------------------------

/// Lines over sizes, threads or percentiles, bars for a row alone, curves for memory over time, and a table
/// where more contenders take part than lines could be told apart.
Json figures_of_group(const BenchDocument& document, const GroupSamples& group);

/// All rows in figures, folded: medians with their spread, and memory.
Json tables_of_group(const BenchDocument& document, const GroupSamples& group);

}  // namespace tarn::tool
