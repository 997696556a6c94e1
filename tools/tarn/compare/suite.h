// A suite: programs of a kind, with what they need, in a file (JSON).
//
//   {"setup": ["python3", "{suite}/inputs.py"],       run once, in an empty folder, before the programs are
//    "environment": {"LC_ALL": "C.UTF-8"},            all that the programs get of it; {work} is that folder
//    "contenders": [{"name": "std::pmr", "allocator": "glibc", "arguments": ["--memory", "pmr"]}],
//    "programs": [{"name": "jq", "command": ["jq", ".", "data.json"], "stdin": "words.txt",
//                  "output": "any", "small": true},
//                 {"name": "cache", "command": ["redis-server", "--port", "6399"], "port": 6399,
//                  "ready": "Ready", "load": "redis-benchmark -p 6399 -q",
//                  "figures": ["+set=^SET: ([0-9.]+)"]}]}
//
// In commands and loads {suite} is the folder of the file, {bench} that of the benchmark programs, {tool}
// that of the tool. A program runs in the work folder. "output": "any" says that it need not be the same each
// time; "small" that the program hardly allocates: it has twenty times as many rounds, and tables of its own.
// "load", "port", "ready" and "figures" are the options --load, --port, --ready and --metric; the suite may
// have "figures" for all its programs.
//
// A contender is an allocator once more, if that one is compared, with arguments behind each program's
// command.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "engine/rounds/comparison.h"

namespace tarn::tool {

struct SuiteContender {
  std::string name;
  std::string allocator;  // by its name
  std::vector<std::string> arguments;
};

struct Suite {
  std::vector<std::string> setup;
  Settings environment = {};
  std::vector<SuiteContender> contenders = {};
  std::vector<Workload> programs = {};
};

/// \param name of a suite that comes with the tool, or a file. \throws UsageError for what is none
Suite read_suite(const std::string& name);

/// Puts the suite's programs that are installed and its contenders into the plan, and the programs' inputs
/// into the folder.
/// \pre the plan has its allocators
/// \param names of the programs to take; empty: all. \returns the names of those that are not installed
/// \throws UsageError for unknown names, Interrupted, std::runtime_error if the inputs cannot be made
std::vector<std::string> prepare_suite(const Suite& suite, const std::vector<std::string>& names, int rounds,
                                       const std::filesystem::path& work, Session& session,
                                       ComparisonPlan& plan);

}  // namespace tarn::tool
