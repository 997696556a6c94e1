// What pages of `tarn compare` and `tarn replay` have in common. The contenders of a page, and of the figures
// that are drawn, are those that may be compared.
#pragma once
#include <string>
#include <vector>

#include "page/page_document.h"

namespace tarn::tool {

/// Title, machine, and whether the run was interrupted. \param header what result_header() gave
Json page_of_run(const std::string& title, const Json& header, int interrupted_by);

/// The same with contenders, failures, rounds and date. \param all contenders, also those that failed
Json page_of_allocators(const std::string& title, const Json& header, const std::vector<Contender>& all,
                        int interrupted_by);

/// The name of a program for a title: its command, as far as a line has room.
std::string command_in_title(const std::vector<std::string>& command);

Side side_of(const Contender& contender);

/// Bars of a figure, the best first. Shorter is better in each: a figure of which more is better is divided
/// into that of the system's allocator, or of the best where that failed.
Json figure_bars(const Figures& figures, const Figure& figure);

/// A row per allocator, a column per figure: the median, its spread, and whether it is the best.
Json summary_table(const Figures& figures);

/// "tarn is 1.20 times as fast as glibc (the best, jemalloc: 1.30) and has 0.95 times its peak RSS.", for
/// each contender that is ours; what the noise could explain is told as equal. Empty where there is none, or
/// the system's allocator has no figures.
std::string words_on_allocators(const Figures& figures, const Figure& time, const Figure& memory);

}  // namespace tarn::tool
