// `tarn replay`: the calls of a recorded program on every allocator of the machine.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>

#include "commands/classes/conf_file.h"
#include "commands/commands.h"
#include "commands/measuring_options.h"
#include "observer/text/words.h"
#include "page/allocator_page.h"
#include "report/results.h"
#include "system/figures/format.h"
#include "system/files/files.h"
#include "system/files/output_files.h"
#include "system/terminal/terminal.h"
#include "trace/replay/prepared_trace.h"
#include "trace/replay/replay_report.h"

namespace tarn::tool {
namespace {

// -- The page: resident memory over the calls, then the figures ------------------------------------------

double peak_of(const Replay& replay) { return replay.peak().bytes; }

/// Sample by sample and not by time: the same place is the same call under every allocator.
Json over_calls(const ReplayEntry& entry, double MemoryAt::*bytes) {
  Json points = Json::array();
  const std::vector<MemoryAt>& samples = entry.middle_run(peak_of).samples;
  const double last = std::max<double>(1, static_cast<double>(samples.size()) - 1);
  for (const MemoryAt& sample : samples)
    points.push_back(curve_point(100 * static_cast<double>(points.size()) / last, sample.*bytes));
  return points;
}

Json memory_over_calls(const Entries<Replay>& entries) {
  Json curves =
      curves_part("Resident memory over the calls", "Dashed: the bytes the program had asked for.",
                  page_axis("calls made", "%"), page_axis("resident memory; less is better", "bytes"));
  for (std::size_t i = 0; i < entries.size(); ++i)
    add_series(curves, {{"c", i}}, over_calls(entries[i], &MemoryAt::bytes));
  add_series(curves, {{"name", "asked for"}}, over_calls(entries.front(), &MemoryAt::live_bytes));
  return curves;
}

Json table_of(const Entries<Replay>& entries, const Figures& figures) {
  Json table = summary_table(figures);
  table["note"].get_ref<std::string&>() +=
      " Waste: what of the peak RSS the peak of live bytes does not account for.";
  table["columns"].push_back("waste");
  for (std::size_t i = 0; i < entries.size(); ++i)
    table["rows"][i]["cells"].push_back(format_percent(entries[i].middle_run(peak_of).waste_percent()));
  return table;
}

std::string words_on_trace(const ReplayedTrace& trace) {
  return fmt::format("{} of {}, recorded on {}", observer::counted(trace.call_count, "call"),
                     observer::counted(trace.recorded_threads, "thread"), trace.description.allocator);
}

/// \param header what result_header() gave
std::string replay_page(const Json& header, const ReplayedTrace& trace, const ReplayResults& results) {
  const std::vector<std::string>& command = trace.description.command;
  Json page = page_of_allocators(
      fmt::format("Memory of {}, as recorded, on each allocator", command_in_title(command)), header,
      contenders_of(results.contenders), results.interrupted_by);
  page["command"] = format_command(command);
  page["about"].push_back(words_on_trace(trace));
  if (page["contenders"].empty()) return page_text(page);
  const Entries<Replay> entries = comparable_of(results.contenders);
  const Figures figures = figures_of(entries, replay_metrics());
  const Figure &time = *figures.find("seconds"), &peak = *figures.find("peak_bytes");
  page["sentence"] = words_on_allocators(figures, time, peak);
  Json memory = page_section("Memory");
  memory["parts"] = {memory_over_calls(entries), figure_bars(figures, peak),
                     figure_bars(figures, *figures.find("mean_bytes")), figure_bars(figures, time),
                     table_of(entries, figures)};
  page["sections"].push_back(std::move(memory));
  return page_text(page);
}

// -- The command -----------------------------------------------------------------------------------------

struct ReplayOptions {
  MeasuringOptions measuring;
  std::string trace_file;
  std::string conf_file;
  bool is_serial = false;
  bool is_verified = false;
  bool is_partial = false;
  trace::Window window;
};

ReplayPlan plan_of(const ReplayOptions& options) {
  return {.program = find_replay_program(),
          .rounds = options.measuring.rounds,
          .timeout_seconds = options.measuring.timeout_seconds,
          .is_serial = options.is_serial,
          .is_verified = options.is_verified};
}

std::vector<Allocator> allocators_of(ReplayOptions& options) {
  options.measuring.check();
  Selection& selection = options.measuring.selection;
  if (!options.conf_file.empty())
    selection.tarn_settings.emplace(selection.tarn_settings.begin(), "TARN_CONF_FILE",
                                    checked_conf_file(options.conf_file));
  return select_allocators(selection, library_directories());
}

int replay(ReplayOptions& options) {
  const std::vector<Allocator> allocators = allocators_of(options);
  ReplayPlan plan = plan_of(options);
  // Before signals are held back: a long trace takes seconds to read.
  const PreparedTrace prepared =
      prepare_trace({options.trace_file, options.is_partial,
                     options.is_serial ? trace::Threads::kOne : trace::Threads::kAsRecorded, options.window});
  Session session(options.measuring.telling());
  plan.script_file = prepared.script->path();
  const ReplayResults results = run_replays(plan, allocators, session);
  const ReplayedTrace& trace = prepared.trace;
  const Json json = replay_json(trace, plan, results);
  const ResultOutput& output = options.measuring.output;
  print_document(output.as_json ? text_of(json) : replay_report(trace, results, colour_for(STDOUT_FILENO)));
  std::fflush(stdout);
  for (const std::string& file : output.ending_in(".json")) write_file(file, text_of(json));
  for (const std::string& file : output.ending_in(".html"))
    write_file(file, replay_page(json, trace, results));
  return measuring_status(results.interrupted_by, has_failure(results.contenders));
}

void add_replay_options(CLI::App& command, ReplayOptions& options) {
  add_word(command, "TRACE", options.trace_file, "A trace of a program's calls (docs/look/replay.md)")
      .required();
  add_round_options(command, options.measuring);
  add_flag(command, "--serial", options.is_serial,
           "One thread makes all calls, in one order: the same memory each time");
  add_flag(command, "--verify", options.is_verified, "Look whether each block keeps its contents");
  add_flag(command, "--partial", options.is_partial, "Of a truncated trace, replay what is whole");
  add_window_options(command, options.window);
  add_value(command, "--conf FILE", options.conf_file,
            "Options of tarn from a file, as `tarn tune` writes it");
  add_selection_options(command, options.measuring);
  add_result_options(command, options.measuring, "a page with resident memory over time");
}

}  // namespace

void add_replay_command(CLI::App& app, Invocation& invocation) {
  CLI::App& command = add_command(
      app, "replay", "Make a recorded program's allocations again, on every allocator.",
      "tarn replay TRACE [OPTIONS]",
      "  tarn replay server.trace\n"
      "  tarn replay server.trace --serial --with jemalloc,./libmine.so -o memory.html\n"
      "  tarn replay server.trace --with none --set huge_pages=never -o r.json\n"
      "\n"
      "Exit status: 0 all runs were fine, 1 a run failed or the trace is damaged, 2 the command line is\n"
      "wrong, 130 interrupted (what is done is printed).\n");
  auto options = std::make_shared<ReplayOptions>();
  options->measuring.rounds = 3;
  add_replay_options(command, *options);
  on_call(command, invocation, options, replay);
}

}  // namespace tarn::tool
