// A suite: programs of a kind, with what they need, in a file (JSON).
//
//   {"setup": ["python3", "{suite}/inputs.py"],       run once, in an empty folder, before the programs are
//    "environment": {"LC_ALL": "C.UTF-8"},            all that the programs get of it; {work} is that folder
//    "programs": [{"name": "jq", "command": ["jq", ".", "data.json"], "stdin": "words.txt",
//                  "output": "any", "small": true}]}
//
// {suite} is the folder of the file. A program runs in the work folder. "output": "any" says that it need not
// be the same each time; "small" that the program hardly allocates: it has twenty times as many rounds, and
// tables of its own.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "engine/comparison.h"

namespace tarn::tool {

struct Suite {
  std::vector<std::string> setup;
  Settings environment;
  std::vector<Workload> programs;
};

/// \param name of a suite that comes with the tool, or a file. \throws UsageError for what is none
Suite read_suite(const std::string& name);

/// Puts the suite's programs that are installed into the plan, and their inputs into the folder.
/// \param names of the programs to take; empty: all. \returns the names of those that are not installed
/// \throws UsageError for unknown names, Interrupted, std::runtime_error if the inputs cannot be made
std::vector<std::string> prepare_suite(const Suite& suite, const std::vector<std::string>& names, int rounds,
                                       const std::filesystem::path& work, Session& session,
                                       ComparisonPlan& plan);

}  // namespace tarn::tool
