// The limits of `tarn run` (--max-peak and its like): what a program may use, checked with its statistics
// when it has ended, and the files that tell CI how each check went.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "commands/commands.h"
#include "report/results.h"

namespace tarn::tool {

struct RunLimits {
  std::optional<std::size_t> peak_bytes, live_at_exit_bytes, allocations;
  std::string junit_file, sarif_file;

  bool are_given() const { return peak_bytes || live_at_exit_bytes || allocations; }
};

void add_limit_options(CLI::App& command, RunLimits& limits);

/// \throws UsageError for a file without a limit, or one that cannot be written
void check(const RunLimits& limits);

enum class Verdict : std::uint8_t { kHolds, kExceeded, kNotChecked };

/// How the check of one limit went.
struct LimitCheck {
  std::string option;
  std::size_t limit = 0, figure = 0;
  Verdict verdict = Verdict::kNotChecked;
  std::string message;  // figure and limit, and what to do next; or why it was not checked
};

/// The checks of all limits that are given. \param why_there_are_none of statistics, where there are none
std::vector<LimitCheck> checks_of(const RunLimits& limits, const std::vector<std::string>& command,
                                  const std::optional<Json>& statistics,
                                  const std::string& why_there_are_none);

bool all_hold(const std::vector<LimitCheck>& checks);

/// A line for each check that failed.
std::string failures_text(const std::vector<LimitCheck>& checks);

Json to_json(const LimitCheck& check);
/// Writes the files that were asked for. JUnit: a test case for each check, with a failure where the limit is
/// exceeded, an error where nothing was checked. SARIF 2.1.0: a result for each check that failed, in the
/// program's file. \throws std::runtime_error where one cannot be written
void write_files(const RunLimits& limits, const std::vector<LimitCheck>& checks,
                 const std::vector<std::string>& command);

}  // namespace tarn::tool
