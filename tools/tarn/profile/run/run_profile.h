// `tarn run --profile` and `tarn run --leaks`: what a program's memory tells when the program ends.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "commands/commands.h"
#include "commands/result_output.h"
#include "system/files/environment.h"

namespace tarn::tool {

struct RunProfileOptions {
  std::string interval;  // "" where no profile is asked for
  ResultOutput output;   // without a profile and leaks: of statistics
  bool finds_leaks = false;
  bool reports_reachable = false;  // leaks: all that is live, also what something points to
  std::vector<std::string> suppression_files;
  std::optional<std::size_t> rows;

  /// Those that have a profile: of leaks, JSON is their report.
  std::vector<std::string> profile_files() const;
  bool is_wanted() const { return !interval.empty() || finds_leaks; }
  std::size_t most_rows() const { return rows.value_or(20); }
};

void add_profile_options(CLI::App& command, RunProfileOptions& options);

/// \throws UsageError for values that make no sense together, and files that cannot be read or written.
void check(const RunProfileOptions& options);

/// Runs the program to its end, and tells on standard error. \returns the exit status: the program's own;
/// kFailedCheckStatus where that is 0 and leaks were asked for and found.
int run_with_profile(const std::vector<std::string>& command, Environment environment,
                     const RunProfileOptions& options);

}  // namespace tarn::tool
