// Suites read and prepared.
#include "compare/suite.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "report/results.h"
#include "system/files.h"
#include "system/program.h"
#include "system/usage_error.h"

namespace tarn::tool {
namespace fs = std::filesystem;
namespace {

constexpr int kRoundsOfSmall = 20;  // for each of the others
constexpr double kSetupSeconds = 600;

std::string with_folder(std::string text, const std::string& mark, const std::string& folder) {
  for (std::size_t at; (at = text.find(mark)) != std::string::npos;) text.replace(at, mark.size(), folder);
  return text;
}

Workload workload_of(const Json& json) {
  Workload workload = {.name = json.at("name"), .command = json.at("command")};
  if (workload.command.empty()) throw std::runtime_error(workload.name + " has no command");
  workload.stdin_path = json.value("stdin", workload.stdin_path);
  workload.is_output_compared = json.value("output", "same") != "any";
  workload.is_small = json.value("small", false);
  return workload;
}

Suite suite_of(const Json& json, const fs::path& folder) {
  Suite suite;
  const Json setup = json.value("setup", Json::array()),
             environment = json.value("environment", Json::object());
  for (const Json& word : setup) suite.setup.push_back(with_folder(word, "{suite}", folder.string()));
  for (const auto& [name, value] : environment.items()) suite.environment.emplace_back(name, value);
  for (const Json& program : json.at("programs")) suite.programs.push_back(workload_of(program));
  return suite;
}

/// Of a suite that comes with the tool, else the name itself.
std::string file_of(const std::string& name) {
  if (name.find('/') != std::string::npos || name.ends_with(".json")) return name;
  const std::string file = find_shared_file(fs::path("suites") / name / "suite.json");
  if (file.empty())
    throw UsageError(fmt::format("--suite: there is none of the name '{}', nor a file", name));
  return file;
}

bool is_installed(const Workload& program) {
  return find_program(program.command.front()).state == ProgramState::kFound;
}

void make_inputs(const Suite& suite, const fs::path& work, const Environment& environment, Session& session) {
  if (suite.setup.empty()) return;
  session.progress().begin_run("making the inputs");
  const RunResult run = session.run({.command = suite.setup,
                                     .environment = {},
                                     .directory = work.string(),
                                     .timeout_seconds = kSetupSeconds,
                                     .on_tick = {}},
                                    {kSystemName, ""}, environment);
  session.progress().clear();
  if (run.ending == Ending::kInterrupted) throw Interrupted{run.code};
  if (run.ending != Ending::kExited || run.code != 0)
    throw std::runtime_error(
        fmt::format("the suite's inputs cannot be made: {}", fmt::join(run.errors.last_lines(2), "; ")));
}

void require_known(const std::vector<std::string>& names, const Suite& suite) {
  for (const std::string& name : names) {
    std::vector<std::string> known;
    for (const Workload& program : suite.programs) known.push_back(program.name);
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw UsageError(
          fmt::format("--programs: the suite has no '{}', but {}", name, fmt::join(known, ", ")));
  }
}

}  // namespace

Suite read_suite(const std::string& name) {
  const std::string file = file_of(name);
  const std::optional<std::string> text = read_file(file);
  if (!text) throw UsageError(fmt::format("--suite: cannot read '{}'", file));
  try {
    return suite_of(Json::parse(*text), fs::absolute(file).parent_path());
  } catch (const std::exception& error) {
    throw UsageError(fmt::format("--suite: {} is no suite: {}", file, error.what()));
  }
}

std::vector<std::string> prepare_suite(const Suite& suite, const std::vector<std::string>& names, int rounds,
                                       const fs::path& work, Session& session, ComparisonPlan& plan) {
  require_known(names, suite);
  if (!suite.environment.empty()) plan.environment = Environment(std::vector<std::string>{});
  for (const auto& [name, value] : suite.environment)
    plan.environment.set(name, with_folder(value, "{work}", work.string()));
  std::vector<std::string> absent;
  for (Workload program : suite.programs) {
    if (!names.empty() && std::find(names.begin(), names.end(), program.name) == names.end()) continue;
    if (!is_installed(program)) {
      absent.push_back(program.name);
      continue;
    }
    program.directory = work.string();
    program.stdin_path = (work / program.stdin_path).string();  // an absolute path stays what it is
    program.rounds = program.is_small ? rounds * kRoundsOfSmall : rounds;
    plan.workloads.push_back(std::move(program));
  }
  if (plan.workloads.empty()) throw UsageError("--suite: none of its programs is installed");
  make_inputs(suite, work, plan.environment, session);
  return absent;
}

}  // namespace tarn::tool
