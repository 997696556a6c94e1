// `tarn compare`: programs on every allocator of the machine, side by side.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <memory>
#include <optional>

#include "commands/commands.h"
#include "commands/measuring_options.h"
#include "compare/comparison_document.h"
#include "compare/comparison_report.h"
#include "compare/suite.h"
#include "compare/suite_report.h"
#include "page/plot.h"
#include "system/files.h"
#include "system/program.h"
#include "system/terminal.h"
#include "system/usage_error.h"

namespace tarn::tool {
namespace {

constexpr int kMostWarmups = 100;

struct CompareOptions {
  MeasuringOptions measuring;
  int warmups = 1;
  int expected_status = 0;
  std::string stdin_path;
  std::string suite;
  std::vector<std::string> programs;
  std::string picture;
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

void require_valid(CompareOptions& options, const Invocation& invocation) {
  options.measuring.check();
  require_range("--warmup", options.warmups, 0, kMostWarmups);
  require_range("--expect-status", options.expected_status, 0, 255);
  if (!options.stdin_path.empty() && !read_file(options.stdin_path))
    throw UsageError(fmt::format("--stdin: cannot read '{}'", options.stdin_path));
  if (options.suite.empty()) {
    if (!options.programs.empty()) throw UsageError("--programs chooses among those of a --suite");
    require_program(invocation, "compare");
    require_runnable(invocation.program.front());
  } else if (!invocation.program.empty() || !options.stdin_path.empty() || !options.picture.empty()) {
    throw UsageError("--suite has programs of its own: leave out PROGRAM, --stdin and --plot");
  }
}

ComparisonPlan plan_of(const CompareOptions& options) {
  return {.workloads = {},
          .allocators = select_allocators(options.measuring.selection, library_directories()),
          .environment = {},
          .warmups = options.warmups,
          .timeout_seconds = options.measuring.timeout_seconds};
}

std::string libraries_of(const ComparisonPlan& plan) {
  std::string text;
  for (const Allocator& allocator : plan.allocators)
    if (!allocator.is_system()) text += fmt::format("  {}: {}\n", allocator.name, allocator.library);
  const std::vector<std::string> missing = missing_packages(library_directories());
  if (!missing.empty()) text += fmt::format("  not installed: {}\n", fmt::join(missing, ", "));
  return text;
}

bool has_failure(const ComparisonResults& results) {
  return std::any_of(results.comparisons.begin(), results.comparisons.end(),
                     [](const Comparison& one) { return has_failure(one.contenders); });
}

void draw(const Plotter& plotter, const Json& results, SignalWatch& signals) {
  const TemporaryDirectory directory;
  const std::string file = (directory.path() / "results.json").string();
  write_file(file, text_of(results));
  plotter.draw(file, signals);
}

void write_results(const CompareOptions& options, const ComparisonPlan& plan,
                   const ComparisonResults& results, Session& session) {
  const Json json = comparison_json(plan, results);
  if (!options.measuring.json_file.empty()) write_file(options.measuring.json_file, text_of(json));
  if (!options.picture.empty() && results.interrupted_by == 0 &&
      has_figures(results.comparisons.front().contenders))
    draw(Plotter(options.picture), json, session.signals());
}

int compare_program(const CompareOptions& options, const std::vector<std::string>& command) {
  ComparisonPlan plan = plan_of(options);
  plan.workloads.push_back({.name = {},
                            .command = command,
                            .expected_status = options.expected_status,
                            .rounds = options.measuring.rounds});
  if (!options.stdin_path.empty()) plan.workloads.front().stdin_path = options.stdin_path;
  if (!options.picture.empty()) static_cast<void>(Plotter(options.picture));  // before an hour of measuring

  Session session(options.measuring.telling());
  const ComparisonResults results = ComparisonRun(plan, session).to_end();
  const Colour colour = colour_for(STDOUT_FILENO);
  fmt::print("{}", comparison_report(results.comparisons.front(), results.interrupted_by, colour));
  if (!options.measuring.is_quiet) fmt::print("{}", styled(libraries_of(plan), Style::kFaint, colour));
  std::fflush(stdout);
  write_results(options, plan, results, session);
  return measuring_status(results.interrupted_by, has_failure(results));
}

int compare_suite(const CompareOptions& options) {
  const Suite suite = read_suite(options.suite);
  ComparisonPlan plan = plan_of(options);
  const TemporaryDirectory work;
  Session session(options.measuring.telling());
  const std::vector<std::string> absent =
      prepare_suite(suite, options.programs, options.measuring.rounds, work.path(), session, plan);
  const ComparisonResults results = ComparisonRun(plan, session).to_end();
  const Colour colour = colour_for(STDOUT_FILENO);
  fmt::print("{}", suite_report(results, colour));
  if (!absent.empty()) fmt::print("not installed: {}\n", fmt::join(absent, ", "));
  if (!options.measuring.is_quiet) fmt::print("{}", styled(libraries_of(plan), Style::kFaint, colour));
  std::fflush(stdout);
  write_results(options, plan, results, session);
  return measuring_status(results.interrupted_by, has_failure(results));
}

int compare(CompareOptions& options, const Invocation& invocation) {
  require_valid(options, invocation);
  return options.suite.empty() ? compare_program(options, invocation.program) : compare_suite(options);
}

void add_compare_options(CLI::App& command, CompareOptions& options) {
  add_round_options(command, options.measuring);
  command.add_option("--warmup", options.warmups, "Rounds before them that are verified only (1)")
      ->type_name("N");
  command.add_option("--stdin", options.stdin_path, "The program's standard input (/dev/null)")
      ->type_name("FILE");
  command.add_option("--expect-status", options.expected_status, "The exit status that means success (0)")
      ->type_name("N");
  command.add_option("--suite", options.suite, "Run all programs of a suite: 'programs', or a file")
      ->type_name("NAME|FILE");
  command.add_option("--programs", options.programs, "Only these of the suite")
      ->type_name("NAME,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  add_result_options(command, options.measuring, "Write a page that needs no network");
  command.add_option("--plot", options.picture, "Draw the ratios to glibc")->type_name("FILE.png|FILE.svg");
}

}  // namespace

void add_compare_command(CLI::App& app, Invocation& invocation) {
  CLI::App* command = add_command(
      app, "compare", "Run a program on every allocator of this machine and compare what it costs.",
      "tarn compare [OPTIONS] -- PROGRAM [ARGS...] | --suite NAME",
      "  tarn compare -- python3 -c 'print(sum(len(str(i)) for i in range(10**6)))'\n"
      "  tarn compare --rounds 9 --with jemalloc,./libmine.so -- ./server --selftest\n"
      "  tarn compare --stdin words.txt --json r.json --plot r.png -- sort\n"
      "  tarn compare --suite programs --programs python3,git-log --json r.json\n"
      "\n"
      "Exit status: 0 all runs were fine, 1 the program failed under some allocator (which and how stands\n"
      "below the table), 2 the command line is wrong, 130 interrupted (what is done is printed).\n");
  auto options = std::make_shared<CompareOptions>();
  add_selection_options(*command, options->measuring);
  add_compare_options(*command, *options);
  command->callback([options, &invocation] {
    invocation.work = [options, &invocation] { return compare(*options, invocation); };
  });
}

}  // namespace tarn::tool
