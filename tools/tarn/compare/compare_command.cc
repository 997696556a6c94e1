// `tarn compare`: programs on every allocator of the machine, side by side.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compare/compare_options.h"
#include "compare/comparison_document.h"
#include "compare/comparison_report.h"
#include "compare/suite.h"
#include "engine/contenders/allocators.h"
#include "report/results.h"
#include "system/files/environment.h"
#include "system/files/files.h"
#include "system/files/output_files.h"
#include "system/files/usage_error.h"
#include "system/processes/signals.h"
#include "system/runs/runner.h"
#include "system/terminal/terminal.h"

namespace tarn::tool {
namespace {

// -- Charts, drawn by a Python script that comes with the tool -------------------------------------------

class Plotter {
 public:
  /// \throws UsageError if the file is to be neither .png nor .svg, or Python has no matplotlib
  explicit Plotter(std::string picture);

  /// Draws the results in a JSON file. \throws std::runtime_error with what the script says if it fails
  void draw(const std::string& result_file, SignalWatch& signals) const;

 private:
  std::string picture_;
  std::string script_;
  std::string python_;
};

constexpr const char* kScriptName = "plot_compare.py";

std::string find_script() {
  if (const std::string file = find_shared_file(kScriptName); !file.empty()) return file;
  throw UsageError(
      fmt::format("--plot needs {}, which is neither beside the tool nor in ../share/tarn", kScriptName));
}

std::string find_python() {
  for (const char* python : {"python3", "/usr/bin/python3"}) {
    const std::string test = fmt::format(
        "{} -c 'import importlib.util as u, sys; sys.exit(u.find_spec(\"matplotlib\") is None)' 2>/dev/null",
        python);
    if (std::system(test.c_str()) == 0) return python;
  }
  throw UsageError("--plot needs matplotlib for Python: apt-get install python3-matplotlib");
}

Plotter::Plotter(std::string picture) : picture_(std::move(picture)) {
  const std::string extension = std::filesystem::path(picture_).extension().string();
  if (extension != ".png" && extension != ".svg")
    throw UsageError(fmt::format("--plot draws .png or .svg, not '{}'", picture_));
  require_writable(picture_);
  script_ = find_script();
  python_ = find_python();
}

void Plotter::draw(const std::string& result_file, SignalWatch& signals) const {
  constexpr double kMostSeconds = 120;
  const RunRequest request = {.command = {python_, script_, result_file, picture_},
                              .environment = Environment().entries(),
                              .timeout_seconds = kMostSeconds};
  const RunResult run = run_program(request, signals);
  if (run.ending == Ending::kExited && run.code == 0) return;
  throw std::runtime_error(
      fmt::format("{} was not drawn: {}", picture_, fmt::join(run.errors.last_lines(2), "; ")));
}

// -- A comparison beside an earlier one of the same programs: is tarn worse than it was? -----------------
//
// Standings beside the system's allocator are compared, not figures, so that the two may be of different
// machines or days.

/// The programs of a result by name; a single one has none.
std::vector<std::pair<std::string, const Json*>> programs_in(const Json& results) {
  std::vector<std::pair<std::string, const Json*>> programs;
  if (!results.contains("programs")) return {{"", &results}};
  for (const Json& program : results.at("programs")) programs.emplace_back(program.at("name"), &program);
  return programs;
}

const Json* allocator_in(const Json& program, const std::string& name) {
  for (const Json& allocator : program.at("allocators"))
    if (allocator.at("name") == name && !allocator.at("summary").is_null()) return &allocator;
  return nullptr;
}

/// Beside the system's allocator, or beside the best where that has no figures.
double standing_of(const Json& summary) {
  const Json& beside_system = summary.at("ratio_to_system");
  return beside_system.is_null() ? summary.at("ratio_to_best").get<double>() : beside_system.get<double>();
}

double noise_percent(const Json& then, const Json& now) {
  return then.value("spread_percent", 0.0) + now.value("spread_percent", 0.0);
}

/// \returns a line if the figure is worse
std::string complaint_of(const std::string& who, const std::string& key, const Json& then, const Json& now,
                         double tolerance_percent) {
  const double before = standing_of(then), after = standing_of(now);
  if (before <= 0) return {};
  const bool is_more_better = now.value("more_is_better", false);
  const double worse_percent = 100 * (is_more_better ? before / after - 1 : after / before - 1);
  const double allowed = tolerance_percent + noise_percent(then, now);
  if (worse_percent <= allowed) return {};
  return fmt::format("{}, {}: {:.2f} times glibc's, {:.2f} in the baseline: {:.1f} % worse, {:.1f} % allowed",
                     who, key, after, before, worse_percent, allowed);
}

void add_complaints(const std::string& who, const Json& then, const Json& now, double tolerance_percent,
                    std::vector<std::string>& complaints) {
  for (const auto& [key, summary] : now.at("summary").items()) {
    const auto earlier = then.at("summary").find(key);
    if (earlier == then.at("summary").end()) continue;
    if (std::string line = complaint_of(who, key, *earlier, summary, tolerance_percent); !line.empty())
      complaints.push_back(std::move(line));
  }
}

bool is_ours(const Json& allocator, const Json& program) {
  const Json* const tarn = allocator_in(program, kTarnName);
  return tarn != nullptr && allocator.at("library") == tarn->at("library");
}

void compare_program(const std::string& name, const Json& then, const Json& now, double tolerance_percent,
                     std::vector<std::string>& complaints) {
  for (const Json& allocator : then.at("allocators")) {
    if (!is_ours(allocator, then) || allocator.at("summary").is_null()) continue;
    const std::string own = allocator.at("name");
    const std::string who = name.empty() ? own : name + " on " + own;
    if (const Json* const current = allocator_in(now, own); current != nullptr)
      add_complaints(who, allocator, *current, tolerance_percent, complaints);
    else
      complaints.push_back(fmt::format("{}: has no figures, in the baseline it has", who));
  }
}

/// \param baseline what `tarn compare -o FILE.json` wrote before
/// \param tolerance_percent that a figure may be worse, beyond the noise of both
/// \returns a line for each figure of tarn, or of a variant, that is worse; and for each that is missing
/// \throws UsageError if the baseline is none, or of other programs
std::vector<std::string> worse_than(const Json& baseline, const Json& results, double tolerance_percent) {
  std::vector<std::string> complaints;
  std::size_t shared = 0;
  try {
    for (const auto& [name, then] : programs_in(baseline))
      for (const auto& [own_name, now] : programs_in(results)) {
        if (name != own_name || then->at("command") != now->at("command")) continue;
        ++shared;
        compare_program(name, *then, *now, tolerance_percent, complaints);
      }
  } catch (const Json::exception&) {
    throw UsageError("--baseline: the file is not what tarn compare -o FILE.json writes");
  }
  if (shared == 0) throw UsageError("--baseline: it has none of these programs");
  return complaints;
}

// -- The command -----------------------------------------------------------------------------------------

constexpr int kWorseStatus = 3;

/// \throws UsageError before an hour of measuring
std::optional<Json> baseline_of(const CompareOptions& options) {
  if (options.baseline_file.empty()) return std::nullopt;
  const std::optional<std::string> text = read_file(options.baseline_file);
  if (!text) throw UsageError(fmt::format("--baseline: cannot read '{}'", options.baseline_file));
  Json json = with_present_head(Json::parse(*text, nullptr, false));
  if (!json.is_object() || json.value("schema", "") != "tarn compare")
    throw UsageError(
        fmt::format("--baseline: {} is not what tarn compare -o FILE.json writes", options.baseline_file));
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

/// \param json the results'
void write_results(const CompareOptions& options, const Json& json, const ComparisonResults& results,
                   SignalWatch& signals) {
  const MeasuringOptions& measuring = options.measuring;
  for (const std::string& file : measuring.output.ending_in(".json")) write_file(file, text_of(json));
  for (const std::string& file : measuring.output.ending_in(".html"))
    write_file(file, compare_page(json, results));
  if (!options.picture.empty() && results.interrupted_by == 0) draw(options.picture, json, signals);
}

/// The exit status, 3 if tarn stands worse than it did.
int judge(const CompareOptions& options, const std::optional<Json>& baseline, const Json& results,
          int status) {
  if (!baseline || status != 0) return status;
  const std::vector<std::string> complaints = worse_than(*baseline, results, options.tolerance_percent);
  std::FILE* const told = options.measuring.output.as_json ? stderr : stdout;
  for (const std::string& complaint : complaints) fmt::print(told, "WORSE {}\n", complaint);
  if (!complaints.empty()) return kWorseStatus;
  fmt::print(told, "Nothing is worse than in the baseline by more than {:g} % and the noise.\n",
             options.tolerance_percent);
  return 0;
}

ComparisonPlan plan_of(const CompareOptions& options) {
  return {.workloads = {},
          .allocators = select_allocators(options.measuring.selection, library_directories()),
          .warmups = options.warmups,
          .timeout_seconds = options.measuring.timeout_seconds};
}

/// The table, or JSON in its place; then what is not there is told beside it.
void tell(const CompareOptions& options, const ComparisonPlan& plan, const ComparisonResults& results,
          const Json& json, const std::vector<std::string>& absent) {
  const Colour colour = colour_for(STDOUT_FILENO);
  const std::string not_installed =
      absent.empty() ? "" : fmt::format("programs that are not installed: {}\n", fmt::join(absent, ", "));
  if (options.measuring.output.as_json) {
    fmt::print(stderr, "{}", not_installed);
    return print_document(text_of(json));
  }
  fmt::print("{}{}",
             results.comparisons.size() == 1
                 ? comparison_report(results.comparisons.front(), results.interrupted_by, colour)
                 : suite_report(results, colour),
             not_installed);
  if (!options.measuring.is_quiet) fmt::print("{}", styled(libraries_of(plan), Style::kFaint, colour));
  std::fflush(stdout);
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

  const Json json = comparison_json(plan, results);
  tell(options, plan, results, json, absent);
  write_results(options, json, results, session.signals());
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
  CLI::App& command = add_command(
      app, "compare", "Run programs on every allocator of this machine and compare what they cost.",
      "tarn compare [OPTIONS] -- PROGRAM [ARGS...] | --suite NAME",
      "  tarn compare -- python3 -c 'print(sum(len(str(i)) for i in range(10**6)))'\n"
      "  tarn compare --rounds 9 --with jemalloc,./libmine.so -- ./server --selftest\n"
      "  tarn compare --stdin words.txt -o r.json -o r.html -- sort\n"
      "  tarn compare --load 'memtier_benchmark --hide-histogram' --port 6379 \\\n"
      "      --metric 'p99=^Totals.* ([0-9.]+) +[0-9.]+ +[0-9.]+$' -- redis-server --save ''\n"
      "  tarn compare --suite programs --programs python3,git-log --baseline r.json\n"
      "\n"
      "Exit status: 0 all runs were fine, 1 the program failed under some allocator (which and how stands\n"
      "below the table), 2 the command line is wrong, 3 worse than the baseline, 130 interrupted (what is\n"
      "done is printed).\n");
  auto options = std::make_shared<CompareOptions>();
  add_selection_options(command, options->measuring);
  add_compare_options(command, *options);
  on_call(command, invocation, options,
          [&invocation](CompareOptions& given) { return compare_or_stop(given, invocation); });
}

}  // namespace tarn::tool
