// Checks, and the options' texts.
#include "compare/compare_options.h"

#include <fmt/format.h>

#include "system/files/files.h"
#include "system/files/program.h"
#include "system/files/usage_error.h"
#include "system/servers/local_port.h"

namespace tarn::tool {
namespace {

constexpr int kMostWarmups = 100;
constexpr double kMostSecondsOfServer = 24 * 3600, kMostTolerance = 1000;

void require_runnable(const std::string& name) {
  const Program program = find_program(name);
  if (program.state == ProgramState::kNotFound)
    throw UsageError(fmt::format("no program '{}' on the PATH", name));
  if (program.state == ProgramState::kNotExecutable)
    throw UsageError(fmt::format("'{}' is not executable", program.path));
  if (const std::string obstacle = why_not_preloadable(program.path); !obstacle.empty())
    throw UsageError(obstacle);
}

void require_valid_load(const CompareOptions& options) {
  const bool has_readiness = options.port || !options.ready_text.empty();
  if (options.load.empty()) {
    if (has_readiness) throw UsageError("--port and --ready say when a server is ready for its --load");
    return;
  }
  if (!has_readiness)
    throw UsageError("--load needs --port N or --ready TEXT: how else is it known that the server is ready?");
  if (!options.stdin_path.empty() || options.expected_status != 0)
    throw UsageError("--load is of a server, which is stopped: leave out --stdin and --expect-status");
  require_range("--ready-timeout", options.ready_seconds, 0.001, kMostSecondsOfServer);
  require_range("--idle", options.idle_seconds, 0, kMostSecondsOfServer);
  if (!options.port) return;
  require_range("--port", *options.port, 1, kMostPort);
  require_free_port(*options.port);
}

void require_valid_choice(const CompareOptions& options, const Invocation& invocation) {
  if (options.suite.empty()) {
    if (!options.programs.empty()) throw UsageError("--programs chooses among those of a --suite");
    require_program(invocation, "compare");
    require_runnable(invocation.program.front());
    return;
  }
  if (!invocation.program.empty() || !options.stdin_path.empty() || !options.load.empty() ||
      !options.metrics.empty() || !options.picture.empty())
    throw UsageError(
        "--suite has programs of its own: leave out PROGRAM, --stdin, --load, --metric and --plot");
}

}  // namespace

void CompareOptions::check(const Invocation& invocation) {
  measuring.check();
  require_range("--warmup", warmups, 0, kMostWarmups);
  require_range("--expect-status", expected_status, 0, 255);
  require_range("--tolerance", tolerance_percent, 0, kMostTolerance);
  for (const std::string& metric : metrics) static_cast<void>(parse_load_metric(metric));
  if (!stdin_path.empty() && !read_file(stdin_path))
    throw UsageError(fmt::format("--stdin: cannot read '{}'", stdin_path));
  require_valid_choice(*this, invocation);
  require_valid_load(*this);
}

Workload CompareOptions::workload(const std::vector<std::string>& command) const {
  Workload workload = {
      .name = {}, .command = command, .expected_status = expected_status, .rounds = measuring.rounds};
  if (!stdin_path.empty()) workload.stdin_path = stdin_path;
  for (const std::string& metric : metrics) workload.figures.push_back({parse_load_metric(metric)});
  if (!load.empty())
    workload.load = {.command = shell_command(load),
                     .readiness = {.port = port, .text = ready_text, .most_seconds = ready_seconds},
                     .idle_seconds = idle_seconds};
  return workload;
}

void add_compare_options(CLI::App& command, CompareOptions& options) {
  add_round_options(command, options.measuring);
  add_value(command, "--warmup N", options.warmups, "Rounds before them that are verified only (1)");
  add_value(command, "--stdin FILE", options.stdin_path, "The program's standard input (/dev/null)");
  add_value(command, "--expect-status N", options.expected_status, "The exit status that means success (0)");
  add_value(command, "--load COMMAND", options.load,
            "PROGRAM is a server: start it, wait until it is ready, run this command, stop the server");
  add_value(command, "--port N", options.port,
            "It is ready when this port of the machine accepts a connection");
  add_value(command, "--ready TEXT", options.ready_text, "It is ready when it has written this");
  add_value(command, "--ready-timeout TIME", options.ready_seconds,
            "Give up when it is not ready by then (60s)")
      .as_seconds();
  add_value(command, "--idle TIME", options.idle_seconds, "Leave it alone so long after the load (1s)")
      .as_seconds();
  add_values(command, "--metric NAME=REGEX", options.metrics,
             "A figure that the load, or the program, prints: the group of the expression. +NAME: more is "
             "better");
  add_value(command, "--suite NAME|FILE", options.suite,
            "Run all programs of a suite: programs, return_memory, or a file");
  add_list(command, "--programs NAME,...", options.programs, "Only these of the suite");
  add_value(command, "--baseline FILE", options.baseline_file,
            "What -o FILE.json wrote before: exit status 3 if tarn stands worse beside glibc than then");
  add_value(command, "--tolerance PERCENT", options.tolerance_percent,
            "So much worse, beyond the noise, is no failure (5)");
  add_result_options(command, options.measuring, "a page of figures that needs no network");
  add_value(command, "--plot FILE.png|FILE.svg", options.picture, "Draw the ratios to glibc");
}

}  // namespace tarn::tool
