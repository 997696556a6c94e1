// `tarn replay`: the calls of a recorded program on every allocator of the machine.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <utility>

#include "commands/commands.h"
#include "commands/conf_file.h"
#include "commands/option_values.h"
#include "commands/selection_options.h"
#include "system/files.h"
#include "system/format.h"
#include "system/runner.h"
#include "system/terminal.h"
#include "system/usage_error.h"
#include "trace/prepared_trace.h"
#include "trace/replay_page.h"
#include "trace/replay_report.h"

namespace tarn::tool {
namespace {

constexpr int kMostRounds = 1000;
constexpr double kMostTimeoutSeconds = 7 * 24 * 3600;
constexpr int kSignalStatus = 128;

struct ReplayOptions {
  std::string trace_file;
  Selection selection;
  std::string conf_file;
  std::vector<std::string> settings;
  int rounds = 3;
  double timeout_seconds = 600;
  std::string json_file;
  std::string html_file;
  bool is_serial = false;
  bool is_verified = false;
  bool is_partial = false;
  bool is_quiet = false;
};

void require_valid(const ReplayOptions& options) {
  require_range("--rounds", options.rounds, 1, kMostRounds);
  require_range("--timeout", options.timeout_seconds, 0.001, kMostTimeoutSeconds);
  if (!options.json_file.empty()) require_writable(options.json_file);
  if (!options.html_file.empty()) require_writable(options.html_file);
}

ReplayPlan plan_of(const ReplayOptions& options) {
  ReplayPlan plan = {.program = find_replay_program(),
                     .script_file = {},
                     .allocators = select_allocators(options.selection, library_directories()),
                     .environment = {},
                     .tarn_settings = {},
                     .rounds = options.rounds,
                     .timeout_seconds = options.timeout_seconds,
                     .is_serial = options.is_serial,
                     .is_verified = options.is_verified};
  plan.environment.remove("LD_PRELOAD");
  if (!options.conf_file.empty())
    plan.tarn_settings.emplace_back("TARN_CONF_FILE", checked_conf_file(options.conf_file));
  for (const std::string& setting : options.settings) plan.tarn_settings.push_back(parse_setting(setting));
  return plan;
}

int exit_status_of(const ReplayResults& results) {
  if (results.interrupted_by != 0) return kSignalStatus + results.interrupted_by;
  for (const ReplayContender& contender : results.contenders)
    if (contender.failure) return 1;
  return 0;
}

int replay(const ReplayOptions& options) {
  require_valid(options);
  ReplayPlan plan = plan_of(options);
  // Before signals are held back and there is a directory to clear away: a long trace takes seconds to read.
  PreparedTrace prepared = prepare_trace(
      options.trace_file, options.is_partial ? trace::Damage::kUseWhatIsWhole : trace::Damage::kRefuse,
      options.is_serial ? trace::Threads::kOne : trace::Threads::kAsRecorded);
  SignalWatch signals;
  const TemporaryDirectory directory;
  plan.script_file = (directory.path() / "script").string();
  write_file(plan.script_file, std::exchange(prepared.script, {}));
  adopt_orphans();
  Progress progress(options.is_quiet ? ProgressStyle::kNone : progress_style_for(STDERR_FILENO));
  const ReplayResults results = run_replays(plan, signals, progress);
  const ReplayedTrace& trace = prepared.trace;
  fmt::print("{}", replay_report(trace, results, colour_for(STDOUT_FILENO)));
  std::fflush(stdout);
  if (!options.json_file.empty()) write_file(options.json_file, text_of(replay_json(trace, plan, results)));
  if (!options.html_file.empty())
    write_file(options.html_file, replay_page(replay_json(trace, plan, results)));
  return exit_status_of(results);
}

void add_replay_options(CLI::App& command, ReplayOptions& options) {
  command.add_option("TRACE", options.trace_file, "A trace of a program's calls (docs/look/replay.md)")
      ->required();
  command.add_option("--rounds", options.rounds, "Runs of each allocator (3)")->type_name("N");
  command.add_flag("--serial", options.is_serial,
                   "One thread makes all calls, in one order: the same memory each time");
  command.add_flag("--verify", options.is_verified, "Look whether each block keeps its contents");
  command.add_flag("--partial", options.is_partial, "Of a truncated trace, replay what is whole");
  command.add_option("--timeout", options.timeout_seconds, "Kill a run that takes longer (600)")
      ->type_name("SECONDS");
  command
      .add_option("--json", options.json_file, "Write every run with its samples, the summary, the machine")
      ->type_name("FILE");
  command.add_option("--html", options.html_file, "Write a page with resident memory over time")
      ->type_name("FILE");
  command.add_flag("--quiet", options.is_quiet, "No progress");
}

}  // namespace

void add_replay_command(CLI::App& app, Invocation& invocation) {
  CLI::App* command = add_command(
      app, "replay", "Make a recorded program's allocations again, on every allocator.",
      "tarn replay TRACE [OPTIONS]",
      "  tarn replay server.trace\n"
      "  tarn replay server.trace --serial --with jemalloc,./libmine.so --html memory.html\n"
      "  tarn replay server.trace --with none --set huge_pages=never --json r.json\n"
      "\n"
      "Exit status: 0 all runs were fine, 1 a run failed or the trace is damaged, 2 the command line is\n"
      "wrong, 130 interrupted (what is done is printed).\n");
  auto options = std::make_shared<ReplayOptions>();
  add_replay_options(*command, *options);
  add_selection_options(*command, options->selection, options->settings);
  command->add_option("--conf", options->conf_file, "Options of tarn from a file, as `tarn tune` writes it")
      ->type_name("FILE");
  command->callback([options, &invocation] { invocation.work = [options] { return replay(*options); }; });
}

}  // namespace tarn::tool
