// A run of `tarn bench` as text: a table per source, what it says about tarn, what failed; and, where asked
// for, every row.
#pragma once
#include <string>

#include "bench/bench_document.h"
#include "bench/catalogue.h"
#include "report/table.h"

namespace tarn::tool {

enum class Detail : std::uint8_t { kGroups, kRows };

std::string bench_report(const BenchDocument& document, Detail detail, Colour colour);

/// Of each design of a source, how fast it is beside what the source compared it with, and how fast tarn is
/// beside the design; empty where none has run.
std::string words_on_designs(const BenchDocument& document, const SourceInfo& source);

/// A source's groups by contenders: geometric means of the ratio to the best of each row.
Table source_table(const BenchDocument& document, const std::string& source);

}  // namespace tarn::tool
