// `tarn run`: a program on the pool. Without statistics the tool is gone after exec; with them it waits,
// passes signals on, and tells afterwards what the library wrote.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>

#include "commands/classes/conf_file.h"
#include "commands/commands.h"
#include "commands/option_values.h"
#include "engine/contenders/allocators.h"
#include "observer/text/printable.h"
#include "profile/run/run_profile.h"
#include "run/limits.h"
#include "run/statistics_file.h"
#include "system/files/environment.h"
#include "system/files/files.h"
#include "system/files/program.h"
#include "system/files/usage_error.h"
#include "system/processes/guard.h"
#include "system/runs/child_process.h"
#include "system/terminal/terminal.h"
#include "tarn/version.h"

namespace tarn::tool {
namespace {

struct RunOptions {
  bool prints_statistics = false;
  std::string conf_file;
  std::vector<std::string> settings;
  bool in_background = false;
  bool is_hardened = false;
  RunProfileOptions profile;
  RunLimits limits;

  bool wants_statistics() const {
    return prints_statistics || profile.output.as_json || !profile.output.files.empty() || limits.are_given();
  }
};

Environment environment_of(const RunOptions& options) {
  Environment environment;
  environment.preload(options.is_hardened ? find_hardened_library() : find_tarn_library());
  if (!options.conf_file.empty()) environment.set("TARN_CONF_FILE", checked_conf_file(options.conf_file));
  if (options.in_background) environment.set("TARN_BACKGROUND", "1");
  set_options(environment, options.settings);
  return environment;
}

int report_not_started(const std::vector<std::string>& command, int error, const RunLimits& limits) {
  const std::string reason =
      fmt::format("cannot run {}: {}", observer::printable(command.front()), std::strerror(error));
  fmt::print(stderr, "tarn: {}\n", reason);
  write_files(limits, checks_of(limits, command, std::nullopt, reason), command);
  return error == ENOENT ? kNotFoundStatus : kNotExecutableStatus;
}

int replace_self(const std::vector<std::string>& command, const Environment& environment) {
  const std::vector<char*> arguments = pointers_to(command), entries = pointers_to(environment.entries());
  execvpe(arguments[0], arguments.data(), entries.data());
  return report_not_started(command, errno, {});
}

/// Files of other processes that the program started: they are theirs, and only counted.
std::size_t other_files(const TemporaryDirectory& directory, const std::filesystem::path& own_file) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path()))
    if (entry.path() != own_file) ++count;
  return count;
}

void print_report(const std::vector<std::string>& command, const RunResult& run,
                  const std::optional<Json>& statistics, const std::string& obstacle, std::size_t others) {
  const Colour colour = colour_for(STDERR_FILENO);
  std::string text = run_report(command, run, colour);
  text += statistics ? statistics_report(*statistics, colour)
                     : fmt::format("tarn: no statistics: {}\n", obstacle);
  if (others > 0)
    text += fmt::format("  ({} more process{} that it started wrote statistics; they are not in these)\n",
                        others, others == 1 ? "" : "es");
  fmt::print(stderr, "{}", text);
}

std::string json_text(const std::vector<std::string>& command, const RunResult& run,
                      const std::optional<Json>& statistics, const std::string& obstacle,
                      const std::vector<LimitCheck>& checks) {
  Json json = statistics.value_or(Json{{"no_statistics", obstacle}});
  json["run"] = run_json(command, run);
  json["checks"] = Json::array();
  for (const LimitCheck& check : checks) json["checks"].push_back(to_json(check));
  return text_of(observer::document_json("tarn run", 1, TARN_VERSION_STRING, json));
}

void tell_checks(const std::vector<LimitCheck>& checks, std::size_t others) {
  fmt::print(stderr, "{}", failures_text(checks));
  if (others > 0)
    fmt::print(stderr, "tarn: the limits are not for the {} more process{} that it started\n", others,
               others == 1 ? "" : "es");
}

/// A program may put anything in the file's place, such as a pipe, which would keep the reader waiting.
std::optional<Json> statistics_in(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return std::nullopt;
  return parse_statistics(read_file(file).value_or(""));
}

int run_with_statistics(const std::vector<std::string>& command, Environment environment,
                        const RunOptions& options) {
  SignalWatch signals;
  const TemporaryDirectory directory;
  const std::string file_prefix = (directory.path() / "stats").string();
  environment.set("TARN_STATS_FILE", file_prefix);
  environment.set("TARN_COUNT_CALLS", "1");
  const RunResult run = run_program(
      {.command = command, .environment = environment.entries(), .streams = Streams::kInherited}, signals);
  if (run.ending == Ending::kNotStarted) return report_not_started(command, run.code, options.limits);
  const std::filesystem::path own_file = fmt::format("{}.{}", file_prefix, run.pid);
  const std::optional<Json> statistics = statistics_in(own_file);
  const std::string obstacle = statistics ? "" : why_no_statistics(run, find_program(command.front()).path);
  const std::size_t others = other_files(directory, own_file);
  const std::vector<LimitCheck> checks = checks_of(options.limits, command, statistics, obstacle);
  const ResultOutput& output = options.profile.output;
  const std::string json = json_text(command, run, statistics, obstacle, checks);
  if (output.as_json)
    fmt::print(stderr, "{}", json);
  else if (options.prints_statistics || (!statistics && checks.empty()))
    print_report(command, run, statistics, obstacle, others);
  if (!checks.empty()) tell_checks(checks, others);
  for (const std::string& file : output.files) write_file(file, json);
  write_files(options.limits, checks, command);
  const int status = run.ending == Ending::kSignaled ? kSignalStatus + run.code : run.code;
  return status == 0 && !all_hold(checks) ? kFailedCheckStatus : status;
}

int run(const std::vector<std::string>& command, const RunOptions& options) {
  const Environment environment = environment_of(options);
  const Program program = find_program(command.front());
  if (program.state != ProgramState::kFound)
    return report_not_started(command, program.state == ProgramState::kNotFound ? ENOENT : EACCES,
                              options.limits);
  if (options.profile.is_wanted()) return run_with_profile(command, environment, options.profile);
  if (options.wants_statistics()) return run_with_statistics(command, environment, options);
  if (const std::string obstacle = why_not_preloadable(program.path); !obstacle.empty())
    fmt::print(stderr, "tarn: {}; it runs without the pool\n", obstacle);
  return replace_self(command, environment);
}

}  // namespace

void add_run_command(CLI::App& app, Invocation& invocation) {
  CLI::App& command = add_command(
      app, "run", "Run a program on the pool.",
      "tarn run [--stats|--profile|--leaks] [OPTIONS] -- PROGRAM [ARGS...]",
      "  tarn run -- python3 server.py\n"
      "  tarn run --stats -- git log --oneline\n"
      "  tarn run --profile -o heap.pb.gz -- ./server     who allocated, when it has ended\n"
      "  tarn run --leaks -- ./test                       exit status 23 if it leaks\n"
      "  tarn run --leaks --suppressions known.txt -- ./test\n"
      "  tarn run --max-peak 200M -- ./test               exit status 23 if it takes more\n"
      "  tarn run --hardened -- ./server                  stops at misuse of memory\n"
      "  tarn run --conf tarn.conf -- ./server            with the options that tarn tune found\n"
      "  tarn run --set classes=lfh128 --set decay=500ms -o stats.json -- ./server\n"
      "\n"
      "Without options the program replaces tarn. Statistics count each call, which costs time; they\n"
      "are of the program's own process, and there are none where a signal or _exit ends it, or where\n"
      "nothing can be preloaded: statically linked and set-uid programs.\n"
      "\n"
      "Exit status: the program's own; where that is 0, 23 for leaks, a limit that was exceeded, and\n"
      "what could not be checked; 126 it cannot be executed, 127 it was not found, 128 and the number\n"
      "of the signal that ended it.\n");
  auto options = std::make_shared<RunOptions>();
  add_flag(command, "--stats", options->prints_statistics,
           "When it ends, print what it used and wasted, on standard error");
  add_flag(command, "--json", options->profile.output.as_json,
           "Print it as JSON, on standard error: the program's output is its own");
  add_value(command, "--conf FILE", options->conf_file,
            "Take the library's options from this file, as TARN_CONF_FILE does; --set wins");
  add_flag(command, "--background", options->in_background,
           "Let a thread of the library's give memory back, also while the program idles");
  add_flag(command, "--hardened", options->is_hardened,
           "On the hardened library, which stops the program at a misuse of memory");
  add_values(command, "--set KEY=VALUE", options->settings,
             "Set an option of the library (see tarn options); repeatable");
  add_profile_options(command, options->profile);
  add_limit_options(command, options->limits);
  on_call(command, invocation, options, [&invocation](RunOptions& given) {
    require_program(invocation, "run");
    if ((given.prints_statistics || given.limits.are_given()) && given.profile.is_wanted())
      throw UsageError("--stats and limits count calls, which a profile does not see: choose one");
    const auto work = [&] {
      check(given.profile);
      check(given.limits);
      return run(invocation.program, given);
    };
    return given.profile.is_wanted() ? run_guarded(work) : work();
  });
}

}  // namespace tarn::tool
