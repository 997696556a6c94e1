#include "commands/result_output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "system/files/usage_error.h"

namespace tarn::tool {

std::vector<std::string> ResultOutput::ending_in(const std::string& ending) const {
  std::vector<std::string> found;
  for (const std::string& file : files)
    if (file.ends_with(ending)) found.push_back(file);
  return found;
}

void ResultOutput::check(const std::vector<std::string>& endings,
                         const std::function<void(const std::string& file)>& is_writable) const {
  for (const std::string& file : files) {
    if (std::none_of(endings.begin(), endings.end(),
                     [&](const std::string& ending) { return file.ends_with(ending); }))
      throw UsageError(
          fmt::format("\"{}\": its ending names no form; these do: {}", file, fmt::join(endings, ", ")));
    is_writable(file);
  }
}

void add_result_output(CLI::App& command, ResultOutput& output, const std::string& what_files_have) {
  add_values(command, "-o,--output FILE", output.files, "Write " + what_files_have + "; repeatable");
  add_flag(command, "--json", output.as_json, "Print JSON in place of the table");
}

}  // namespace tarn::tool
