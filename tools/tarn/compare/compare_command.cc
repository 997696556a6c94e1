// `tarn compare`: a program on every allocator of the machine, side by side.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <memory>
#include <optional>

#include "commands/commands.h"
#include "commands/option_values.h"
#include "commands/selection_options.h"
#include "compare/compare_page.h"
#include "compare/comparison_report.h"
#include "engine/allocators.h"
#include "engine/comparison.h"
#include "page/plot.h"
#include "report/results.h"
#include "system/files.h"
#include "system/program.h"
#include "system/terminal.h"
#include "system/usage_error.h"

namespace tarn::tool {
namespace {

constexpr int kMostRounds = 1000;
constexpr int kMostWarmups = 100;
constexpr double kMostTimeoutSeconds = 7 * 24 * 3600;
constexpr int kSignalStatus = 128;

struct CompareOptions {
  Selection selection;
  int rounds = 5;
  int warmups = 1;
  double timeout_seconds = 600;
  int expected_status = 0;
  std::string stdin_path;
  std::string json_file;
  std::string html_file;
  std::string picture;
  std::vector<std::string> settings;
  bool is_quiet = false;
};

void require_runnable(const std::string& name) {
  const Program program = find_program(name);
  if (program.state == ProgramState::kNotFound)
    throw UsageError(fmt::format("no program '{}' on the PATH", name));
  if (program.state == ProgramState::kNotExecutable)
    throw UsageError(fmt::format("'{}' is not executable", program.path));
  if (const std::string obstacle = why_not_preloadable(program.path); !obstacle.empty())
    throw UsageError(obstacle);
}

void require_valid(const CompareOptions& options) {
  require_range("--rounds", options.rounds, 1, kMostRounds);
  require_range("--warmup", options.warmups, 0, kMostWarmups);
  require_range("--timeout", options.timeout_seconds, 0.001, kMostTimeoutSeconds);
  require_range("--expect-status", options.expected_status, 0, 255);
  if (!options.stdin_path.empty() && !read_file(options.stdin_path))
    throw UsageError(fmt::format("--stdin: cannot read '{}'", options.stdin_path));
  if (!options.json_file.empty()) require_writable(options.json_file);
  if (!options.html_file.empty()) require_writable(options.html_file);
}

/// \why a library that is preloaded already might be an allocator, and "glibc" would not be glibc
Environment environment_without_preload() {
  Environment environment;
  environment.remove("LD_PRELOAD");
  return environment;
}

ComparisonPlan plan_of(const CompareOptions& options, const std::vector<std::string>& command) {
  require_valid(options);
  ComparisonPlan plan = {.command = command,
                         .allocators = select_allocators(options.selection, library_directories()),
                         .environment = environment_without_preload(),
                         .tarn_settings = {},
                         .rounds = options.rounds,
                         .warmups = options.warmups,
                         .timeout_seconds = options.timeout_seconds,
                         .expected_status = options.expected_status};
  if (!options.stdin_path.empty()) plan.stdin_path = options.stdin_path;
  for (const std::string& setting : options.settings) plan.tarn_settings.push_back(parse_setting(setting));
  require_runnable(command.front());
  return plan;
}

std::string libraries_of(const ComparisonPlan& plan) {
  std::string text;
  for (const Allocator& allocator : plan.allocators)
    if (!allocator.is_system()) text += fmt::format("  {}: {}\n", allocator.name, allocator.library);
  const std::vector<std::string> missing = missing_packages(library_directories());
  if (!missing.empty()) text += fmt::format("  not installed: {}\n", fmt::join(missing, ", "));
  return text;
}

int exit_status_of(const Comparison& comparison) {
  if (comparison.interrupted_by != 0) return kSignalStatus + comparison.interrupted_by;
  for (const Contender& contender : comparison.contenders)
    if (contender.failure) return 1;
  return 0;
}

bool has_figures(const Comparison& comparison) {
  for (const Contender& contender : comparison.contenders)
    if (contender.is_comparable()) return true;
  return false;
}

void draw(const Plotter& plotter, const Json& results, SignalWatch& signals) {
  const TemporaryDirectory directory;
  const std::string file = (directory.path() / "results.json").string();
  write_file(file, text_of(results));
  plotter.draw(file, signals);
}

int compare(const std::vector<std::string>& command, const CompareOptions& options) {
  const ComparisonPlan plan = plan_of(options, command);
  std::optional<Plotter> plotter;
  if (!options.picture.empty()) plotter.emplace(options.picture);

  SignalWatch signals;
  adopt_orphans();
  Progress progress(options.is_quiet ? ProgressStyle::kNone : progress_style_for(STDERR_FILENO));
  const Comparison comparison = ComparisonRun(plan, signals, progress).to_end();

  const Colour colour = colour_for(STDOUT_FILENO);
  fmt::print("{}", comparison_report(plan, comparison, colour));
  if (!options.is_quiet) fmt::print("{}", styled(libraries_of(plan), Style::kFaint, colour));
  std::fflush(stdout);
  const Json results = compare_results(plan, comparison);
  if (!options.json_file.empty()) write_file(options.json_file, text_of(results));
  if (!options.html_file.empty()) write_file(options.html_file, compare_page(results));
  if (plotter && comparison.interrupted_by == 0 && has_figures(comparison)) draw(*plotter, results, signals);
  return exit_status_of(comparison);
}

void add_run_options(CLI::App& command, CompareOptions& options) {
  command.add_option("--rounds", options.rounds, "Measured rounds (5)")->type_name("N");
  command.add_option("--warmup", options.warmups, "Rounds before them that are verified only (1)")
      ->type_name("N");
  command.add_option("--timeout", options.timeout_seconds, "Kill a run that takes longer (600)")
      ->type_name("SECONDS");
  command.add_option("--stdin", options.stdin_path, "The program's standard input (/dev/null)")
      ->type_name("FILE");
  command.add_option("--expect-status", options.expected_status, "The exit status that means success (0)")
      ->type_name("N");
}

void add_output_options(CLI::App& command, CompareOptions& options) {
  command.add_option("--json", options.json_file, "Write every run, the summary and the machine")
      ->type_name("FILE");
  command.add_option("--html", options.html_file, "Write a page of figures that needs no network")
      ->type_name("FILE");
  command.add_option("--plot", options.picture, "Draw the ratios to glibc")->type_name("FILE.png|FILE.svg");
  command.add_flag("--quiet", options.is_quiet, "The table only: no progress, no list of libraries");
}

}  // namespace

void add_compare_command(CLI::App& app, Invocation& invocation) {
  CLI::App* command = add_command(
      app, "compare", "Run a program on every allocator of this machine and compare what it costs.",
      "tarn compare [OPTIONS] -- PROGRAM [ARGS...]",
      "  tarn compare -- python3 -c 'print(sum(len(str(i)) for i in range(10**6)))'\n"
      "  tarn compare --rounds 9 --with jemalloc,./libmine.so -- ./server --selftest\n"
      "  tarn compare --stdin words.txt --json r.json --plot r.png -- sort\n"
      "\n"
      "Exit status: 0 all runs were fine, 1 the program failed under some allocator (which and how stands\n"
      "below the table), 2 the command line is wrong, 130 interrupted (what is done is printed).\n");
  auto options = std::make_shared<CompareOptions>();
  add_selection_options(*command, options->selection, options->settings);
  add_run_options(*command, *options);
  add_output_options(*command, *options);
  command->callback([options, &invocation] {
    invocation.work = [options, &invocation] {
      require_program(invocation, "compare");
      return compare(invocation.program, *options);
    };
  });
}

}  // namespace tarn::tool
