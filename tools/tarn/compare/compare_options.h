// What `tarn compare` is told.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "commands/commands.h"
#include "commands/measuring_options.h"
#include "engine/rounds/workload.h"

namespace tarn::tool {

struct CompareOptions {
  MeasuringOptions measuring;
  int warmups = 1;
  int expected_status = 0;
  std::string stdin_path;
  std::string suite;
  std::vector<std::string> programs;  // of the suite
  std::string load;                   // a command line, for sh
  std::optional<int> port;
  std::string ready_text;
  double ready_seconds = 60;
  double idle_seconds = 1;
  std::vector<std::string> metrics;
  std::string baseline_file;
  double tolerance_percent = 5;
  std::string picture;

  /// \throws UsageError for what is wrong or does not go together
  void check(const Invocation& invocation);

  /// The program on the command line, with its load. \pre checked
  Workload workload(const std::vector<std::string>& command) const;
};

void add_compare_options(CLI::App& command, CompareOptions& options);

}  // namespace tarn::tool
