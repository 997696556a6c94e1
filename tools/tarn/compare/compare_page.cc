// Speed beside the system's allocator, memory, and every figure.
#include "compare/compare_page.h"

#include "page/allocator_page.h"
#include "system/format.h"

namespace tarn::tool {
namespace {

constexpr SummaryFigure kWall = {"wall_seconds", "wall time", "s"};
constexpr SummaryFigure kCpu = {"cpu_seconds", "CPU time", "s"};
constexpr SummaryFigure kMemory = {"peak_rss_bytes", "peak RSS", "bytes"};
constexpr SummaryFigure kFaults = {"page_faults", "page faults", "count"};

std::string words_on_output(const std::string& output) {
  if (output == "identical") return "Exit status and standard output were verified in every run.";
  return "Only exit statuses were verified: the output is " + output + ".";
}

}  // namespace

std::string compare_page(const Json& results) {
  const std::string command = format_command(results.at("command").get<std::vector<std::string>>());
  PageDocument page = page_of_allocators(results, "A program on each allocator");
  page.command = command;
  page.reading = {words_on_output(results.at("output").get<std::string>())};
  if (page.contenders.empty()) return page_text(page);
  page.sentence = words_on_allocators(results, kWall, kMemory);
  Section figures = {.title = "Time and memory"};
  figures.parts = {to_json(speed_bars(results, kWall)), to_json(speed_bars(results, kCpu)),
                   to_json(figure_bars(results, kMemory)), to_json(figure_bars(results, kFaults)),
                   to_json(summary_table(results, {kWall, kCpu, kMemory, kFaults}))};
  page.sections.push_back(std::move(figures));
  return page_text(page);
}

}  // namespace tarn::tool
