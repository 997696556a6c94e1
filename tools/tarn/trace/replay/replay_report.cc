// The table, the JSON.
#include "trace/replay/replay_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "observer/text/printable.h"
#include "system/figures/format.h"

namespace tarn::tool {
namespace {

/// The latencies that the runs have.
std::vector<std::string> latency_names(const Entries<Replay>& entries) {
  std::vector<std::string> names;
  for (const ReplayEntry& entry : entries)
    for (const auto& [name, value] : entry.runs.front().latencies)
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  return names;
}

double latency_of(const ReplayEntry& contender, const std::string& name) {
  std::vector<double> values;
  for (const Replay& run : contender.runs)
    for (const auto& [own_name, value] : run.latencies)
      if (own_name == name) values.push_back(value);
  return summarize(std::move(values)).median;
}

std::vector<Cell> row_of(const ReplayEntry& entry, std::size_t contender, const Figures& figures,
                         const std::vector<std::string>& latencies) {
  std::vector<Cell> row = {{entry.allocator.name}};
  for (const Figure& figure : figures.all)
    row.push_back({format_in(figure.unit(), figure.summaries[contender].median),
                   figure.key == "peak_live_bytes" ? Style::kPlain : style_of(figure.mark_of(contender))});
  row.push_back({format_percent(entry.summary_of(std::mem_fn(&Replay::waste_percent)).median)});
  for (const std::string& name : latencies) row.push_back({fmt::format("{:.0f}", latency_of(entry, name))});
  return row;
}

/// \param entries that may be compared
Table table_of(const Entries<Replay>& entries) {
  const Figures figures = figures_of(entries, replay_metrics());
  const std::vector<std::string> latencies = latency_names(entries);
  std::vector<Column> columns = {{"allocator", Alignment::kLeft}};
  for (const Figure& figure : figures.all)
    columns.push_back({fmt::format("{} {}", figure.title, figure.unit().name)});
  columns.push_back({"waste"});
  for (const std::string& name : latencies) columns.push_back({name + " ns"});
  Table table(std::move(columns));
  for (std::size_t i = 0; i < entries.size(); ++i) table.add_row(row_of(entries[i], i, figures, latencies));
  return table;
}

std::string about_recorded_run(const ReplayedTrace& trace) {
  if (trace.summary.peak_anonymous_bytes == 0) return "";
  std::string text = fmt::format("The recorded run, on {}, had a peak of {} (RssAnon)",
                                 observer::printable(trace.description.allocator),
                                 format_bytes(trace.summary.peak_anonymous_bytes));
  if (trace.summary.other_bytes != 0)
    text += fmt::format(", of which {} were not its allocator's", format_bytes(trace.summary.other_bytes));
  return text + ".\n";
}

std::string refused_calls_of(const ReplayResults& results) {
  std::string text;
  for (const ReplayEntry& contender : results.contenders)
    if (contender.is_comparable() && contender.runs.back().failed_calls != 0)
      text += fmt::format("{}: {:.0f} calls got no memory\n", contender.allocator.name,
                          contender.runs.back().failed_calls);
  return text;
}

Json json_of(const Replay& replay) {
  Json samples = Json::array();
  for (const MemoryAt& sample : replay.samples)
    samples.push_back({sample.seconds, sample.bytes, sample.live_bytes});
  Json json = {{"waste_percent", replay.waste_percent()}, {"failed_calls", replay.failed_calls}};
  for (const Metric<Replay>& metric : replay_metrics()) json[metric.key] = metric.value_of(replay);
  json["latency_ns"] = Json::object();
  for (const auto& [name, value] : replay.latencies) json["latency_ns"][name] = value;
  json["samples"] = std::move(samples);
  return json;
}

bool is_open(const trace::Window& window) { return window.until == trace::Window().until; }
bool is_cut(const trace::Window& window) { return window.from != 0 || !is_open(window); }

}  // namespace

std::string about_trace(const ReplayedTrace& trace) {
  std::string text =
      fmt::format("{}\n{} calls of {} thread{}, replayed on {}; at the peak {} in {} blocks are live\n",
                  format_command(trace.description.command), format_count(trace.call_count),
                  trace.recorded_threads, trace.recorded_threads == 1 ? "" : "s", trace.thread_count,
                  format_bytes(trace.peak_live_bytes), format_count(trace.peak_live_blocks));
  if (is_cut(trace.window))
    text += fmt::format("these are its calls from {} on{}; frees of older blocks are left out\n",
                        format_count(trace.window.from),
                        is_open(trace.window) ? "" : " until " + format_count(trace.window.until));
  if (trace.merged.unknown_frees != 0)
    text += fmt::format("{} frees of blocks that are older than the trace are left out\n",
                        format_count(trace.merged.unknown_frees));
  if (trace.merged.missed_frees != 0)
    text += fmt::format("{} frees are missing in the trace; the blocks end when they are handed out again\n",
                        format_count(trace.merged.missed_frees));
  if (trace.summary.lost_events != 0)
    text +=
        fmt::format("{} events were lost while it was recorded\n", format_count(trace.summary.lost_events));
  if (!trace.damage.empty()) text += fmt::format("replayed up to its damage: {}\n", trace.damage);
  return text;
}

Json to_json(const ReplayedTrace& trace) {
  return {{"file", trace.file},
          {"command", trace.description.command},
          {"recorded_on", trace.description.allocator},
          {"recorded_threads", trace.recorded_threads},
          {"replayed_threads", trace.thread_count},
          {"calls", trace.call_count},
          {"from", trace.window.from},
          {"until", is_open(trace.window) ? Json() : Json(trace.window.until)},
          {"peak_live_bytes", trace.peak_live_bytes},
          {"peak_live_blocks", trace.peak_live_blocks},
          {"unknown_frees", trace.merged.unknown_frees},
          {"missed_frees", trace.merged.missed_frees},
          {"lost_events", trace.summary.lost_events},
          {"live_peak_rss_bytes", trace.summary.peak_rss_bytes},
          {"live_peak_anonymous_bytes", trace.summary.peak_anonymous_bytes},
          {"other_bytes", trace.summary.other_bytes},
          {"damage", trace.damage}};
}

std::string replay_report(const ReplayedTrace& trace, const ReplayResults& results, Colour colour) {
  const Table table = table_of(comparable_of(results.contenders));
  std::string text = about_trace(trace) + "\n";
  if (!table.is_empty()) text += table.render(colour) + "\n";
  return text + about_recorded_run(trace) + failure_report(contenders_of(results.contenders), colour) +
         refused_calls_of(results);
}

Json replay_json(const ReplayedTrace& trace, const ReplayPlan& plan, const ReplayResults& results) {
  Json json = result_header("tarn replay");
  json["trace"] = to_json(trace);
  json["rounds"] = plan.rounds;
  json["serial"] = plan.is_serial;
  json["verified"] = plan.is_verified;
  json["interrupted"] = results.interrupted_by != 0;
  json["allocators"] = to_json(figures_of(results.contenders, replay_metrics()));
  for (std::size_t i = 0; i < results.contenders.size(); ++i)
    for (const Replay& run : results.contenders[i].runs)
      json["allocators"][i]["runs"].push_back(json_of(run));
  return json;
}

}  // namespace tarn::tool
