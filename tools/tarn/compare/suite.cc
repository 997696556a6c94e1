// Suites read and prepared.
#include "compare/suite.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "report/results.h"
#include "system/files/files.h"
#include "system/files/program.h"
#include "system/files/usage_error.h"
#include "system/servers/local_port.h"

namespace tarn::tool {
namespace fs = std::filesystem;
namespace {

constexpr int kRoundsOfSmall = 20;  // for each of the others
constexpr double kSetupSeconds = 600;

std::string with_folder(std::string text, const std::string& mark, const std::string& folder) {
  for (std::size_t at; (at = text.find(mark)) != std::string::npos;) text.replace(at, mark.size(), folder);
  return text;
}

/// The first that is there; what names a program in a folder that is not is told as a program not installed.
std::string bench_directory() {
  const std::vector<std::string> directories = bench_directories();
  const auto there = std::find_if(directories.begin(), directories.end(), [](const std::string& directory) {
    std::error_code ignored;
    return fs::is_directory(directory, ignored);
  });
  return there == directories.end() ? directories.front() : *there;
}

/// Reads what a file holds, in the folder where the file is.
class SuiteReader {
 public:
  explicit SuiteReader(fs::path folder) : folder_(std::move(folder)) {}

  Suite suite_of(const Json& json) const;

 private:
  std::string with_folders(const std::string& text) const {
    const std::string in_suite = with_folder(text, "{suite}", folder_.string());
    return with_folder(with_folder(in_suite, "{bench}", bench_directory()), "{tool}",
                       own_directory().string());
  }
  std::vector<std::string> words_of(const Json& json) const {
    std::vector<std::string> words;
    for (const Json& word : json) words.push_back(with_folders(word));
    return words;
  }
  Workload workload_of(const Json& json, const Json& figures) const;
  Load load_of(const Json& json) const;

  const fs::path folder_;
};

Load SuiteReader::load_of(const Json& json) const {
  Load load = {.command = shell_command(with_folders(json.at("load"))), .readiness = {}};
  if (json.contains("port")) load.readiness.port = json.at("port").get<int>();
  if (const int port = load.readiness.port.value_or(1); port < 1 || port > kMostPort)
    throw std::runtime_error(fmt::format("{} is no port", port));
  load.readiness.text = json.value("ready", "");
  if (!load.readiness.port && load.readiness.text.empty())
    throw std::runtime_error("a load needs a port or ready: how else is it known that the server is ready?");
  return load;
}

/// \param figures where it names none of its own
Workload SuiteReader::workload_of(const Json& json, const Json& figures) const {
  Workload workload = {.name = json.at("name"), .command = words_of(json.at("command"))};
  if (workload.command.empty()) throw std::runtime_error(workload.name + " has no command");
  workload.stdin_path = json.value("stdin", workload.stdin_path);
  workload.is_output_compared = json.value("output", "same") != "any";
  workload.is_small = json.value("small", false);
  if (json.contains("load")) workload.load = load_of(json);
  workload.left_out = json.value("leave_out", workload.left_out);
  for (const Json& figure : json.value("figures", figures))
    workload.figures.push_back({parse_load_metric(figure)});
  return workload;
}

SuiteContender contender_of(const Json& json) {
  SuiteContender contender = {json.at("name"), json.at("allocator"), json.at("arguments")};
  const std::string& allocator = contender.allocator;
  if (allocator != kSystemName && allocator != kTarnName && find_known(allocator) == nullptr)
    throw std::runtime_error(fmt::format("{} is on an unknown allocator, {}", contender.name, allocator));
  return contender;
}

Suite SuiteReader::suite_of(const Json& json) const {
  Suite suite = {.setup = words_of(json.value("setup", Json::array()))};
  const Json environment = json.value("environment", Json::object()),
             figures = json.value("figures", Json::array());
  for (const auto& [name, value] : environment.items()) suite.environment.emplace_back(name, value);
  for (const Json& contender : json.value("contenders", Json::array()))
    suite.contenders.push_back(contender_of(contender));
  for (const Json& program : json.at("programs")) suite.programs.push_back(workload_of(program, figures));
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

/// On the PATH that the programs get. \why the system would look along the tool's own
Program find_on_path(const std::string& name, const Environment& environment) {
  const std::string path = environment.get("PATH");
  return path.empty() ? find_program(name) : find_program(name, path);
}

void make_inputs(const Suite& suite, const fs::path& work, const Environment& environment, Session& session) {
  if (suite.setup.empty()) return;
  session.progress().begin_run("making the inputs");
  std::vector<std::string> command = suite.setup;
  if (const Program program = find_on_path(command.front(), environment); !program.path.empty())
    command.front() = program.path;
  const RunResult run = session.run(
      {.command = std::move(command), .directory = work.string(), .timeout_seconds = kSetupSeconds},
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

void add_contenders(const Suite& suite, std::vector<Allocator>& allocators) {
  const std::vector<Allocator> chosen = allocators;
  for (const SuiteContender& contender : suite.contenders)
    for (Allocator allocator : chosen) {
      if (allocator.name != contender.allocator) continue;
      allocator.name = contender.name;
      allocator.arguments = contender.arguments;
      allocators.push_back(std::move(allocator));
    }
  require_distinct_names(allocators);
}

}  // namespace

Suite read_suite(const std::string& name) {
  const std::string file = file_of(name);
  const std::optional<std::string> text = read_file(file);
  if (!text) throw UsageError(fmt::format("--suite: cannot read '{}'", file));
  try {
    return SuiteReader(fs::absolute(file).parent_path()).suite_of(Json::parse(*text));
  } catch (const std::exception& error) {
    throw UsageError(fmt::format("--suite: {} is no suite: {}", file, error.what()));
  }
}

std::vector<std::string> prepare_suite(const Suite& suite, const std::vector<std::string>& names, int rounds,
                                       const fs::path& work, Session& session, ComparisonPlan& plan) {
  require_known(names, suite);
  add_contenders(suite, plan.allocators);
  if (!suite.environment.empty()) plan.environment = Environment(std::vector<std::string>{});
  for (const auto& [name, value] : suite.environment)
    plan.environment.set(name, with_folder(value, "{work}", work.string()));
  std::vector<std::string> absent;
  for (Workload program : suite.programs) {
    if (!names.empty() && std::find(names.begin(), names.end(), program.name) == names.end()) continue;
    const Program found = find_on_path(program.command.front(), plan.environment);
    if (found.state != ProgramState::kFound) {
      absent.push_back(program.name);
      continue;
    }
    program.command.front() = found.path;
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
