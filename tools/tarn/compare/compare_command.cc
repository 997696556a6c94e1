// `tarn compare`: programs on every allocator of the machine, side by side.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "compare/baseline.h"
#include "compare/compare_options.h"
#include "compare/compare_page.h"
#include "compare/comparison_document.h"
#include "compare/comparison_report.h"
#include "compare/suite.h"
#include "compare/suite_report.h"
#include "engine/versions.h"
#include "page/plot.h"
#include "system/files.h"
#include "system/terminal.h"
#include "system/usage_error.h"

namespace tarn::tool {
namespace {

constexpr int kWorseStatus = 3;

/// \throws UsageError before an hour of measuring
std::optional<Json> baseline_of(const CompareOptions& options) {
  if (options.baseline_file.empty()) return std::nullopt;
  const std::optional<std::string> text = read_file(options.baseline_file);
  if (!text) throw UsageError(fmt::format("--baseline: cannot read '{}'", options.baseline_file));
  Json json = Json::parse(*text, nullptr, false);
  if (json.is_discarded() || json.value("result_of", "") != "tarn compare")
    throw UsageError(
        fmt::format("--baseline: {} is not what tarn compare --json writes", options.baseline_file));
  return json;
}

std::string libraries_of(const ComparisonPlan& plan) {
  std::string text;
  for (const Allocator& allocator : plan.allocators)
    if (!allocator.is_system()) text += fmt::format("  {}: {}\n", allocator.name, allocator.library);
  const std::vector<std::string> missing = missing_packages(library_directories());
  if (!missing.empty()) text += fmt::format("  not installed: {}\n", fmt::join(missing, ", "));
  return text;
}

void draw(const std::string& picture, const Json& results, SignalWatch& signals) {
  const TemporaryDirectory directory;
  const std::string file = (directory.path() / "results.json").string();
  write_file(file, text_of(results));
  Plotter(picture).draw(file, signals);
}

void write_results(const CompareOptions& options, const Json& results, SignalWatch& signals) {
  if (!options.measuring.json_file.empty()) write_file(options.measuring.json_file, text_of(results));
  if (!options.measuring.html_file.empty()) write_file(options.measuring.html_file, compare_page(results));
  const bool is_whole = !results.at("interrupted").get<bool>();
  if (!options.picture.empty() && is_whole) draw(options.picture, results, signals);
}

/// The exit status, 3 if tarn stands worse than it did.
int judge(const CompareOptions& options, const std::optional<Json>& baseline, const Json& results,
          int status) {
  if (!baseline || status != 0) return status;
  const std::vector<std::string> complaints = worse_than(*baseline, results, options.tolerance_percent);
  for (const std::string& complaint : complaints) fmt::print("WORSE {}\n", complaint);
  if (!complaints.empty()) return kWorseStatus;
  fmt::print("Nothing is worse than in the baseline by more than {:g} % and the noise.\n",
             options.tolerance_percent);
  return 0;
}

ComparisonPlan plan_of(const CompareOptions& options) {
  return {.workloads = {},
          .allocators = select_allocators(options.measuring.selection, library_directories()),
          .environment = {},
          .warmups = options.warmups,
          .timeout_seconds = options.measuring.timeout_seconds};
}

int compare(CompareOptions& options, const Invocation& invocation) {
  options.check(invocation);
  const std::optional<Json> baseline = baseline_of(options);
  const Suite suite = options.suite.empty() ? Suite() : read_suite(options.suite);
  if (!options.picture.empty()) static_cast<void>(Plotter(options.picture));  // is there all that it needs?
  ComparisonPlan plan = plan_of(options);
  const TemporaryDirectory work;
  Session session(options.measuring.telling());
  for (Allocator& allocator : plan.allocators) allocator.version = version_of(allocator, session.signals());
  std::vector<std::string> absent;
  if (options.suite.empty())
    plan.workloads.push_back(options.workload(invocation.program));
  else
    absent = prepare_suite(suite, options.programs, options.measuring.rounds, work.path(), session, plan);
  const ComparisonResults results = ComparisonRun(plan, session).to_end();

  const Colour colour = colour_for(STDOUT_FILENO);
  fmt::print("{}", results.comparisons.size() == 1
                       ? comparison_report(results.comparisons.front(), results.interrupted_by, colour)
                       : suite_report(results, colour));
  if (!absent.empty()) fmt::print("programs that are not installed: {}\n", fmt::join(absent, ", "));
  if (!options.measuring.is_quiet) fmt::print("{}", styled(libraries_of(plan), Style::kFaint, colour));
  std::fflush(stdout);
  const Json json = comparison_json(plan, results);
  write_results(options, json, session.signals());
  const bool is_failed = std::any_of(results.comparisons.begin(), results.comparisons.end(),
                                     [](const Comparison& one) { return has_failure(one.contenders); });
  return judge(options, baseline, json, measuring_status(results.interrupted_by, is_failed));
}

int compare_or_stop(CompareOptions& options, const Invocation& invocation) {
  try {
    return compare(options, invocation);
  } catch (const Interrupted& interruption) {  // before anything was measured
    return measuring_status(interruption.signal_number, false);
  }
}

}  // namespace

void add_compare_command(CLI::App& app, Invocation& invocation) {
  CLI::App* command = add_command(
      app, "compare", "Run programs on every allocator of this machine and compare what they cost.",
      "tarn compare [OPTIONS] -- PROGRAM [ARGS...] | --suite NAME",
      "  tarn compare -- python3 -c 'print(sum(len(str(i)) for i in range(10**6)))'\n"
      "  tarn compare --rounds 9 --with jemalloc,./libmine.so -- ./server --selftest\n"
      "  tarn compare --stdin words.txt --json r.json --html r.html -- sort\n"
      "  tarn compare --load 'memtier_benchmark --hide-histogram' --port 6379 \\\n"
      "      --metric 'p99=^Totals.* ([0-9.]+) +[0-9.]+ +[0-9.]+$' -- redis-server --save ''\n"
      "  tarn compare --suite programs --programs python3,git-log --baseline r.json\n"
      "\n"
      "Exit status: 0 all runs were fine, 1 the program failed under some allocator (which and how stands\n"
      "below the table), 2 the command line is wrong, 3 worse than the baseline, 130 interrupted (what is\n"
      "done is printed).\n");
  auto options = std::make_shared<CompareOptions>();
  add_selection_options(*command, options->measuring);
  add_compare_options(*command, *options);
  command->callback([options, &invocation] {
    invocation.work = [options, &invocation] { return compare_or_stop(*options, invocation); };
  });
}

}  // namespace tarn::tool
