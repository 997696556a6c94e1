// The statistics that the library writes when a program ends (TARN_STATS_FILE), read and made readable. The
// fields are those of docs/command.md; one that is missing reads as 0, so that tool and library may differ in
// version.
#pragma once
#include <optional>
#include <string>

#include "report/results.h"
#include "report/table.h"
#include "system/runs/runner.h"

namespace tarn::tool {

/// The library's JSON; nothing if the text is none.
std::optional<Json> parse_statistics(const std::string& text);

/// A figure of the library's list; nothing where it is not known.
std::optional<std::size_t> figure_in(const Json& statistics, const char* group, const char* key);

/// The size classes that waste most bytes (given minus requested), the worst first, at most `count`.
Table waste_table(const Json& statistics, std::size_t count);

/// The pools that the program had at its end, those with most pages first, at most `count`.
Table pool_table(const Json& statistics, std::size_t count);

/// The library's figures as text: memory, calls, waste by size class, pools.
std::string statistics_report(const Json& statistics, Colour colour);

/// One line and the costs of the run as the system counts them.
std::string run_report(const std::vector<std::string>& command, const RunResult& run, Colour colour);

/// How a run ended and what it cost, as JSON.
Json run_json(const std::vector<std::string>& command, const RunResult& run);

/// Why a program that has ended may have left no statistics.
std::string why_no_statistics(const RunResult& run, const std::string& program_path);

}  // namespace tarn::tool
