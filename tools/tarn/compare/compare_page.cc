// Time, memory, and every figure; of a suite, a table for each figure.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compare/comparison_document.h"
#include "compare/comparison_report.h"
#include "page/allocator_page.h"
#include "system/figures/format.h"

namespace tarn::tool {
namespace {

constexpr const char* kCpu = "cpu_seconds";
constexpr const char* kMemory = "peak_rss_bytes";

/// A page has room for more than a column of the terminal.
std::string long_title(const Figure& figure) {
  return figure.key == "wall_seconds" ? "wall time" : figure.key == kCpu ? "CPU time" : figure.title;
}

std::string words_on_output(OutputVerdict output) {
  if (output == OutputVerdict::kIdentical)
    return "Exit status and standard output were verified in every run.";
  return fmt::format("Only exit statuses were verified: the output is {}.", name_of(output));
}

/// Of a server: its memory from the load's start on.
Json memory_over_time(const Entries<ProgramRun>& entries) {
  Json curves = curves_part("Resident memory since the load began",
                            "Of each allocator the run whose peak is the median one.", page_axis("time", "s"),
                            page_axis("resident memory; less is better", "bytes"));
  for (std::size_t i = 0; i < entries.size(); ++i) {
    Json points = Json::array();
    const auto peak = [](const ProgramRun& run) { return run.cost.peak_rss_bytes; };
    for (const MemorySample& sample : entries[i].middle_run(peak).memory)
      points.push_back(curve_point(sample.seconds, static_cast<double>(sample.bytes)));
    add_series(curves, {{"c", i}}, std::move(points));
  }
  return curves;
}

/// Times, then memory over time, then the rest.
Json section_of(const Entries<ProgramRun>& entries, const Figures& figures) {
  Json section = page_section("Time and memory");
  Json& parts = section["parts"];
  for (const Figure& figure : figures.all)
    if (figure.quantity == Quantity::kSeconds) parts.push_back(figure_bars(figures, figure));
  if (Json curves = memory_over_time(entries); !curves["series"].empty()) parts.push_back(std::move(curves));
  for (const Figure& figure : figures.all)
    if (figure.quantity != Quantity::kSeconds) parts.push_back(figure_bars(figures, figure));
  parts.push_back(summary_table(figures));
  return section;
}

std::string page_of_program(const Json& header, const Comparison& comparison, int interrupted_by) {
  const Workload& workload = comparison.workload;
  const std::string name = workload.name.empty() ? command_in_title(workload.command) : workload.name;
  Json page = page_of_allocators(fmt::format("{}, on each allocator", name), header,
                                 contenders_of(comparison.contenders), interrupted_by);
  page["command"] = format_command(workload.command);
  page["reading"].push_back(words_on_output(comparison.output));
  if (workload.load) page["about"].push_back("Under the load " + format_command(workload.load->command));
  if (page["contenders"].empty()) return page_text(page);
  const Entries<ProgramRun> entries = comparable_of(comparison.contenders);
  Figures figures = figures_of(entries, metrics_of(workload));
  for (Figure& figure : figures.all) figure.title = long_title(figure);
  if (const Figure* const memory = figures.find(kMemory);
      memory != nullptr && figures.all.front().quantity == Quantity::kSeconds)
    page["sentence"] = words_on_allocators(figures, figures.all.front(), *memory);
  page["sections"].push_back(section_of(entries, figures));
  return page_text(page);
}

// -- A suite ---------------------------------------------------------------------------------------------

/// Times glibc's; 0 where that failed.
double times_glibcs(const Figure& figure, std::size_t contender) {
  const Summary& system = figure.summaries.front();
  if (system.count == 0) return 0;
  return system.median == 0 ? 1 : figure.summaries[contender].median / system.median;
}

std::string text_of_median(const Figure& figure, double median) {
  if (figure.quantity == Quantity::kSeconds) return format_seconds(median);
  return figure.quantity == Quantity::kBytes ? format_bytes(median) : fmt::format("{:.6g}", median);
}

Json program_cell(const Figure& figure, std::size_t contender) {
  const Mark mark = figure.mark_of(contender);
  if (mark == Mark::kNone) return page_cell("failed", mark);
  const double times = times_glibcs(figure, contender);
  return page_cell(times == 0 ? "" : fmt::format("{:.2f}", times), mark == Mark::kEqual ? Mark::kBest : mark,
                   {{"note", text_of_median(figure, figure.summaries[contender].median)}});
}

/// Nothing where the contender failed in some program.
Json mean_cell(const SuiteTable& rows, std::size_t contender) {
  double sum = 0;
  for (const auto& [program, figure] : rows)
    sum += figure.summaries[contender].count == 0 ? NAN : std::log(times_glibcs(figure, contender));
  const double mean = std::exp(sum / static_cast<double>(rows.size()));
  return page_cell(std::isfinite(mean) && mean > 0 ? fmt::format("{:.3f}", mean) : "-");
}

Json part_of_figure(const SuiteTable& rows) {
  const Figure& figure = rows.front().figure;
  const Entries<ProgramRun>& contenders = rows.front().program->contenders;
  Json heads = Json::array({"program"}), means = Json::array({"geometric mean"});
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    heads.push_back(page_cell(contenders[i].allocator.name, Mark::kPlain, {{"c", i}}));
    means.push_back(mean_cell(rows, i));
  }
  Json table =
      table_part(fmt::format("{}: times glibc's; {} is better", long_title(figure),
                             figure.better == Better::kMore ? "more" : "less"),
                 "Marked: the best of the program, or equal to it within the noise.", std::move(heads));
  for (const ProgramFigure& row : rows) {
    Json cells = Json::array({row.name()});
    for (std::size_t i = 0; i < contenders.size(); ++i) cells.push_back(program_cell(row.figure, i));
    table["rows"].push_back(std::move(cells));
  }
  table["rows"].push_back(std::move(means));
  return table;
}

/// "0.90 times glibc's CPU time (less in 3 of 20 programs and more in 1, beyond the noise)"; empty where no
/// program has both.
std::string words_on_mean(const SuiteTable& rows, std::size_t contender) {
  MeanRatio ratio;
  for (const auto& [program, figure] : rows) {
    const Summary &own = figure.summaries[contender], &system = figure.summaries.front();
    if (own.median > 0 && system.median > 0) ratio.add(own, system);
  }
  if (ratio.count() == 0) return {};
  const std::string title = fmt::format("{}'s {}", kSystemName, long_title(rows.front().figure));
  const std::string words = ratio.is_within_noise() ? title + " within the noise"
                                                    : fmt::format("{:.2f} times {}", ratio.mean(), title);
  return fmt::format("{} (less in {} of {} program{} and more in {}, beyond the noise)", words, ratio.less(),
                     ratio.count(), ratio.count() == 1 ? "" : "s", ratio.more());
}

/// "tarn takes 0.90 times glibc's CPU time (...) and 0.95 times glibc's peak RSS (...), as geometric means."
std::string sentence_of(const std::vector<SuiteTable>& tables) {
  std::string time, memory;
  for (const SuiteTable& rows : tables) {
    const std::optional<std::size_t> tarn = place_of_tarn(rows);
    if (tarn && rows.front().figure.key == kCpu) time = words_on_mean(rows, *tarn);
    if (tarn && rows.front().figure.key == kMemory) memory = words_on_mean(rows, *tarn);
  }
  if (time.empty() || memory.empty()) return {};
  return fmt::format("{} takes {} and {}, as geometric means.", kTarnName, time, memory);
}

void add_failures(const Comparison& comparison, Json& page) {
  for (const auto& [allocator, runs, failure] : comparison.contenders)
    if (failure)
      page["failures"].push_back(
          page_failure(fmt::format("{} on {}", comparison.workload.name, allocator.name), failure->what,
                       failure->error_lines));
}

std::string page_of_suite(const Json& header, const ComparisonResults& results) {
  Json page = page_of_run("Programs on each allocator", header, results.interrupted_by);
  page["about"].push_back(header.at("date"));
  for (const Comparison& comparison : results.comparisons) add_failures(comparison, page);
  const auto told = std::find_if(results.comparisons.begin(), results.comparisons.end(),
                                 [](const Comparison& one) { return !one.workload.is_small; });
  if (told == results.comparisons.end()) return page_text(page);
  for (const Contender& one : contenders_of(told->contenders))
    page["contenders"].push_back(page_contender(one.allocator.name, side_of(one), "", ""));
  const std::vector<SuiteTable> tables = suite_tables(results, false);
  page["sentence"] = sentence_of(tables);
  Json section = page_section("Beside glibc");
  for (const SuiteTable& rows : tables) section["parts"].push_back(part_of_figure(rows));
  page["sections"].push_back(std::move(section));
  return page_text(page);
}

}  // namespace

std::string compare_page(const Json& header, const ComparisonResults& results) {
  return results.comparisons.size() == 1
             ? page_of_program(header, results.comparisons.front(), results.interrupted_by)
             : page_of_suite(header, results);
}

}  // namespace tarn::tool
