// Resident memory over the calls, then the figures.
#include "trace/replay_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "page/allocator_page.h"
#include "system/format.h"

namespace tarn::tool {
namespace {

const SummaryFigure kTime = {"seconds", "time", "s"};
const SummaryFigure kPeak = {"peak_bytes", "peak RSS", "bytes"};
const SummaryFigure kMean = {"mean_bytes", "mean RSS", "bytes"};
const SummaryFigure kLive = {"peak_live_bytes", "peak live", "bytes"};
// Of a sample: [seconds, resident bytes, live bytes].
constexpr std::size_t kResident = 1;
constexpr std::size_t kLiveBytes = 2;

/// Sample by sample and not by time: the same place is the same call under every allocator.
std::vector<std::pair<double, double>> over_calls(const Json& samples, std::size_t column) {
  std::vector<std::pair<double, double>> points;
  const double last = std::max<double>(1, static_cast<double>(samples.size()) - 1);
  for (const Json& sample : samples)
    points.emplace_back(100 * static_cast<double>(points.size()) / last, sample.at(column).get<double>());
  return points;
}

Curves memory_over_calls(const std::vector<Json>& allocators) {
  Curves curves = {"Resident memory over the calls",
                   "Dashed: the bytes the program had asked for.",
                   {"calls made", "%"},
                   {"resident memory; less is better", "bytes"},
                   {}};
  for (std::size_t i = 0; i < allocators.size(); ++i)
    curves.series.push_back(
        {i, {}, over_calls(middle_run(allocators[i], kPeak.key).at("samples"), kResident)});
  curves.series.push_back(
      {{}, "asked for", over_calls(middle_run(allocators.front(), kPeak.key).at("samples"), kLiveBytes)});
  std::erase_if(curves.series, [](const Curves::Series& series) { return series.points.empty(); });
  return curves;
}

PageTable table_of(const Json& results, const std::vector<Json>& allocators) {
  PageTable table = summary_table(results, {kTime, kPeak, kMean, kLive});
  table.note += " Waste: what of the peak RSS the peak of live bytes does not account for.";
  table.heads.push_back({"waste"});
  for (std::size_t i = 0; i < allocators.size(); ++i)
    table.rows[i].cells.push_back(
        {format_percent(middle_run(allocators[i], kPeak.key).at("waste_percent").get<double>())});
  return table;
}

std::string words_on_trace(const Json& trace) {
  return fmt::format(
      "{} calls of {} threads, recorded on {}", format_count(trace.at("calls").get<std::uint64_t>()),
      trace.at("recorded_threads").get<std::size_t>(), trace.at("recorded_on").get<std::string>());
}

}  // namespace

std::string replay_page(const Json& results) {
  const Json& trace = results.at("trace");
  PageDocument page = page_of_allocators(results, "A recorded program's memory on each allocator");
  page.command = format_command(trace.at("command").get<std::vector<std::string>>());
  page.about.push_back(words_on_trace(trace));
  if (page.contenders.empty()) return page_text(page);
  page.sentence = words_on_allocators(results, kTime, kPeak);
  const std::vector<Json> allocators = compared_allocators(results);
  Section memory = {.title = "Memory"};
  memory.parts = {to_json(memory_over_calls(allocators)), to_json(figure_bars(results, kPeak)),
                  to_json(figure_bars(results, kMean)), to_json(figure_bars(results, kTime)),
                  to_json(table_of(results, allocators))};
  page.sections.push_back(std::move(memory));
  return page_text(page);
}

}  // namespace tarn::tool
