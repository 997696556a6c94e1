// A run of `tarn bench` as text: a table per source, what it says about tarn, what failed; and, where asked
// for, every row. And as a page.
#pragma once
#include <string>

#include "bench/figures/bench_figures.h"
#include "report/table.h"

namespace tarn::tool {

enum class Detail : std::uint8_t { kGroups, kRows };

std::string bench_report(const BenchDocument& document, Detail detail, Colour colour);

/// A source's groups by contenders: geometric means of the ratio beside the best of each row.
Table source_table(const BenchDocument& document, const std::string& source);

/// One HTML file that needs nothing else.
std::string bench_page(const BenchDocument& document);

}  // namespace tarn::tool
