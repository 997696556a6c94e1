// Where a command puts its results: a table, JSON in the table's place, and files whose endings say how.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "commands/commands.h"

namespace tarn::tool {

struct ResultOutput {
  std::vector<std::string> files;
  bool as_json = false;

  /// \returns those with the ending.
  std::vector<std::string> ending_in(const std::string& ending) const;
  /// \param is_writable throws where a file could not be written. \throws UsageError also for an ending that
  /// is none of these
  void check(const std::vector<std::string>& endings,
             const std::function<void(const std::string& file)>& is_writable) const;
};

/// Adds -o and --json. \param what_files_have "every run, the summary and the machine (.json), or ..."
void add_result_output(CLI::App& command, ResultOutput& output, const std::string& what_files_have);

}  // namespace tarn::tool
