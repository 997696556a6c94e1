// `tarn bench`: the benchmarks of every source on every allocator of the machine.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "bench/figures/bench_document.h"
#include "bench/figures/bench_report.h"
#include "bench/rows/bench_run.h"
#include "bench/rows/catalogue.h"
#include "commands/commands.h"
#include "commands/result_output.h"
#include "report/results.h"
#include "system/files/files.h"
#include "system/files/output_files.h"
#include "system/files/usage_error.h"
#include "system/terminal/terminal.h"

namespace tarn::tool {
namespace {

constexpr int kMostBenchRounds = 1000;
constexpr double kLeastScale = 0.0001, kMostScale = 1000;
constexpr unsigned kMostThreads = 256;             // bench/program/threads.h
constexpr std::size_t kMostBlockBytes = 16 << 20;  // of a block; a workload keeps thousands of them
constexpr std::size_t kMostValues = 32;            // of an axis
constexpr double kMostBenchTimeout = 24 * 3600;
constexpr double kTimeoutSeconds = 60;            // of one process at scale 1 and below
constexpr std::uint64_t kRoomForFile = 16 << 20;  // the page and the JSON of a whole run have a few MiB

// docs/benchmarks.md says how long they take.
constexpr int kBenchRounds = 3, kQuickBenchRounds = 2;
constexpr double kScale = 0.25, kQuickScale = 0.1;

struct BenchOptions {
  BenchSelection selection;
  std::vector<std::string> threads, sizes;
  std::optional<int> rounds;
  std::optional<double> scale, timeout_seconds;
  std::string traces_folder, from_file;
  ResultOutput output;
  bool is_cold = false, is_warm = false, is_quick = false, is_pinned = false, with_rows = false,
       is_quiet = false;
};

template <class Number>
std::vector<Number> parse_axis(const char* option, const std::vector<std::string>& words, Number most) {
  std::vector<Number> values;
  for (const std::string& word : words) {
    const bool is_number =
        !word.empty() && word.size() < 10 && word.find_first_not_of("0123456789") == word.npos;
    const unsigned long value = is_number ? std::stoul(word) : 0;
    if (value < 1 || value > most)
      throw UsageError(fmt::format("{} takes numbers from 1 to {}, not '{}'", option, most, word));
    if (std::find(values.begin(), values.end(), value) == values.end())
      values.push_back(static_cast<Number>(value));
  }
  if (values.size() > kMostValues)
    throw UsageError(fmt::format("{} takes at most {} numbers", option, kMostValues));
  return values;
}

BenchShape shape_of(const BenchOptions& options) {
  return {.threads = parse_axis("--threads", options.threads, kMostThreads),
          .sizes = parse_axis("--sizes", options.sizes, kMostBlockBytes),
          .scale = options.scale.value_or(options.is_quick ? kQuickScale : kScale),
          .is_quick = options.is_quick,
          .is_pinned = options.is_pinned};
}

void require_valid(const BenchOptions& options) {
  if (options.rounds) require_range("--rounds", *options.rounds, 1, kMostBenchRounds);
  if (options.scale) require_range("--scale", *options.scale, kLeastScale, kMostScale);
  if (options.timeout_seconds) require_range("--timeout", *options.timeout_seconds, 0.001, kMostBenchTimeout);
  if (options.is_cold && options.is_warm)
    throw UsageError("--cold and --warm exclude each other: leave both out");
  options.output.check({".json", ".html"}, [](const std::string& file) { require_room(file, kRoomForFile); });
}

std::vector<BenchFailure> failures_of(const BenchTraces& traces) {
  std::vector<BenchFailure> failures;
  for (const DamagedTrace& one : traces.damaged())
    failures.push_back({one.name, kTraceGroups[0], {one.why, "when it was read", {}}});
  return failures;
}

BenchPlan plan_of(const BenchOptions& options, BenchTraces& traces, SignalWatch& signals) {
  BenchPlan plan;
  plan.shape = shape_of(options);
  plan.rounds = options.rounds.value_or(options.is_quick ? kQuickBenchRounds : kBenchRounds);
  plan.timeout_seconds = options.timeout_seconds.value_or(kTimeoutSeconds * std::max(plan.shape.scale, 1.0));
  BenchSelection selection = options.selection;
  selection.with_cold = !options.is_warm;
  selection.with_warm = !options.is_cold;
  selection.with_waiting = !options.is_quick;
  plan.contenders = select_contenders(selection, plan.shape, traces, signals);
  plan.failures = failures_of(traces);
  plan.groups = groups_of(plan.contenders);
  return plan;
}

Json header_of(const BenchPlan& plan, const std::vector<std::string>& words) {
  Json header = result_header("tarn bench");
  header["command"] = words;
  header["rounds"] = plan.rounds;
  header["scale"] = plan.shape.scale;
  header["quick"] = plan.shape.is_quick;
  header["pinned"] = plan.shape.is_pinned;
  header["threads"] = plan.shape.threads;
  header["sizes"] = plan.shape.sizes;
  header["timeout_seconds"] = plan.timeout_seconds;
  return header;
}

/// \why a result that cannot be written is the caller's to mend, like a path that is wrong from the start
void write_result(const std::string& file, const std::string& content) {
  try {
    write_file(file, content);
  } catch (const std::system_error& error) {
    throw UsageError(fmt::format("cannot write {}: {}; name a place with room for it", file,
                                 std::generic_category().message(error.code().value())));
  }
}

void tell(const BenchDocument& document, const BenchOptions& options) {
  print_document(options.output.as_json
                     ? text_of(document)
                     : bench_report(document, options.with_rows ? BenchDetail::kRows : BenchDetail::kGroups,
                                    colour_for(STDOUT_FILENO)));
  std::fflush(stdout);
  for (const std::string& file : options.output.ending_in(".json")) write_result(file, text_of(document));
  for (const std::string& file : options.output.ending_in(".html")) write_result(file, bench_page(document));
}

BenchDocument document_in(const std::string& file) {
  const std::optional<std::string> text = read_file(file);
  if (!text) throw UsageError(fmt::format("--from: cannot read '{}'", file));
  const Json json = Json::parse(*text, nullptr, false);
  if (json.is_discarded()) throw UsageError(fmt::format("{} is no JSON", file));
  return document_from(json, file);
}

int measure(const BenchOptions& options, const std::vector<std::string>& words) {
  Session session(options.is_quiet ? Telling::kQuiet : Telling::kProgress);
  BenchTraces traces(options.traces_folder, session);
  const BenchPlan plan = plan_of(options, traces, session.signals());
  Json header = header_of(plan, words);
  header["traces"] = traces.description();
  BenchResults results = BenchRun(plan, session).to_end();
  const int status = measuring_status(results.interrupted_by, !results.failures.empty());
  tell(document_of(plan, std::move(results), std::move(header)), options);
  const std::vector<std::string> missing = missing_packages(library_directories());
  std::FILE* const told = options.output.as_json ? stderr : stdout;
  if (!missing.empty() && !options.is_quiet)
    fmt::print(told, "not installed: {}\n", fmt::join(missing, ", "));
  const std::string no_traces = traces.absence();
  if (!no_traces.empty() && (!options.is_quiet || traces.is_folder_named()))
    fmt::print(told, "{}\n", no_traces);
  return status;
}

int bench(const BenchOptions& options, const std::vector<std::string>& words) {
  require_valid(options);
  if (!options.from_file.empty()) {
    tell(document_in(options.from_file), options);
    return 0;
  }
  try {
    return measure(options, words);
  } catch (const Interrupted& interruption) {  // before anything was measured
    return measuring_status(interruption.signal_number, false);
  }
}

void add_choice_options(CLI::App& command, BenchOptions& options) {
  add_list(command, "--only NAME,...", options.selection.only,
           "Only these sources (000 to 004, ours) or groups; a beginning is enough");
  add_list(command, "--with NAME|PATH,...", options.selection.names.with,
           "Besides glibc and tarn, only these: mimalloc, jemalloc, tcmalloc, tbb, the path of a .so, "
           "NAME=PATH, a pool or its library (boost, loki, foonathan, pmr, vector), all, none");
  add_list(command, "--without NAME,...", options.selection.names.without, "Leave these out");
  add_list(command, "--threads N,...", options.threads,
           "Run at these numbers of threads instead of the sources'; rows with others are left out");
  add_list(command, "--sizes BYTES,...", options.sizes,
           "Run at these block sizes, or largest sizes, instead of the sources'; pools know their "
           "source's only");
  add_value(command, "--traces DIR", options.traces_folder,
            "Replay the traces in this folder; else those in traces/ beside the tool, if there are any");
  add_flag(command, "--cold", options.is_cold, "Only rows of first touch, each in a fresh process");
  add_flag(command, "--warm", options.is_warm, "Only the others");
}

void add_run_options(CLI::App& command, BenchOptions& options) {
  add_flag(command, "--quick", options.is_quick,
           "2 rounds, scale 0.1, few values of each axis; tells what it omits");
  add_value(command, "--rounds N", options.rounds, "Rounds (3)");
  add_value(command, "--scale X", options.scale, "Multiplies the time of each row (0.25)");
  add_flag(command, "--pin", options.is_pinned, "Each thread of a workload stays on one core");
  add_value(command, "--timeout TIME", options.timeout_seconds,
            "Kill a process that takes longer (60s, times the scale)")
      .as_seconds();
}

void add_output_options(CLI::App& command, BenchOptions& options) {
  add_flag(command, "--rows", options.with_rows, "Print every row, not only the means over groups");
  add_result_output(command, options.output,
                    "every sample, the summaries and the machine (.json), or a page of plots that needs no "
                    "network (.html)");
  add_value(command, "--from FILE", options.from_file,
            "Measure nothing: tables and page of a JSON file written before");
  add_flag(command, "--quiet", options.is_quiet, "No progress");
}

}  // namespace

void add_bench_command(CLI::App& app, Invocation& invocation) {
  CLI::App& command = add_command(
      app, "bench", "Run the benchmarks of every source on every allocator of this machine.",
      "tarn bench [OPTIONS]",
      "  tarn bench --quick                             a first look, in three minutes\n"
      "  tarn bench -o bench.html -o bench.json     everything\n"
      "  tarn bench --only 001 --threads 1,8,32         one source, at other numbers of threads\n"
      "  tarn bench --only 000,server --with jemalloc,./libmine.so --rows\n"
      "  tarn bench --only traces --rows                real programs that bench/record_traces.py recorded\n"
      "  tarn bench --from bench.json -o bench.html the page again\n"
      "\n"
      "Exit status: 0 all went well, 1 an allocator failed or a trace is damaged (which and how stands "
      "below\n"
      "the tables), 2 the command line is wrong or a result cannot be written, 130 interrupted (what is "
      "done\n"
      "is told).\n");
  auto options = std::make_shared<BenchOptions>();
  add_choice_options(command, *options);
  add_run_options(command, *options);
  add_output_options(command, *options);
  on_call(command, invocation, options,
          [&invocation](const BenchOptions& given) { return bench(given, invocation.words); });
}

}  // namespace tarn::tool
