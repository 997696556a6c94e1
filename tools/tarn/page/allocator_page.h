// What pages of `tarn compare` and `tarn replay` have in common: both are made from the command's JSON. The
// "allocators" there are the contenders.
#pragma once
#include <string>
#include <vector>

#include "page/page_document.h"

namespace tarn::tool {

/// A figure of the JSON's summaries.
struct SummaryFigure {
  std::string key;
  std::string title;
  std::string unit;  // "s", "bytes" or "count"
  bool is_more_better = false;
};

/// Whether a contender is tarn, under some settings or by its pools.
bool is_named_as_ours(const std::string& contender);

/// The run whose figure is the median one stands for its allocator. \param key of the runs' JSON
Json middle_run(const Json& allocator, const std::string& key);

/// The allocators that have a summary, in their order: the places of the page's contenders.
std::vector<Json> compared_allocators(const Json& results);

/// Title, warnings, contenders and failures; machine, rounds and date.
PageDocument page_of_allocators(const Json& results, const std::string& title);

/// Bars of a figure, the best first. Shorter is better in each: a figure of which more is better is divided
/// into that of the system's allocator, or of the best where that failed.
Bars figure_bars(const Json& results, const SummaryFigure& figure);

/// A line per allocator, a column per figure: the median, its spread, and whether it is the best.
PageTable summary_table(const Json& results, const std::vector<SummaryFigure>& figures);

/// "tarn is 1.20 times as fast as glibc (the best, jemalloc: 1.30) and has 0.95 times its peak RSS.", for
/// each contender that is ours; what the noise could explain is told as equal. Empty where there is none, or
/// the system's allocator has no figures.
std::string words_on_allocators(const Json& results, const SummaryFigure& time, const SummaryFigure& memory);

}  // namespace tarn::tool
