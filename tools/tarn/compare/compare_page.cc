// Time, memory, and every figure; of a suite, a table for each figure.
#include "compare/compare_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "page/allocator_page.h"
#include "system/figures/format.h"

namespace tarn::tool {
namespace {

const SummaryFigure kWall = {"wall_seconds", "wall time", "s"};
const SummaryFigure kCpu = {"cpu_seconds", "CPU time", "s"};
const SummaryFigure kMemory = {"peak_rss_bytes", "peak RSS", "bytes"};
const SummaryFigure kFaults = {"page_faults", "page faults", "count"};
const SummaryFigure kMeanMemory = {"mean_rss_bytes", "mean RSS", "bytes"};
const SummaryFigure kIdleMemory = {"idle_rss_bytes", "idle RSS", "bytes"};

std::string words_on_output(const std::string& output) {
  if (output == "identical") return "Exit status and standard output were verified in every run.";
  return "Only exit statuses were verified: the output is " + output + ".";
}

/// What the program or its load printed.
std::vector<SummaryFigure> printed_figures(const std::vector<Json>& allocators) {
  std::vector<SummaryFigure> figures;
  const Json& first = allocators.front();
  if (!first.at("runs").front().contains("printed")) return figures;
  for (const auto& [name, value] : first.at("runs").front().at("printed").items()) {
    const Json& summary = first.at("summary").at(name);
    figures.push_back({name, name, summary.at("unit"), summary.value("more_is_better", false)});
  }
  return figures;
}

std::vector<SummaryFigure> figures_of(const std::vector<Json>& allocators) {
  std::vector<SummaryFigure> figures = {kWall, kCpu, kMemory, kFaults, kMeanMemory, kIdleMemory};
  const Json& summary = allocators.front().at("summary");
  std::erase_if(figures, [&](const SummaryFigure& figure) { return !summary.contains(figure.key); });
  const std::vector<SummaryFigure> printed = printed_figures(allocators);
  figures.insert(figures.end(), printed.begin(), printed.end());
  return figures;
}

/// Of a server: its memory from the load's start on.
Curves memory_over_time(const std::vector<Json>& allocators) {
  Curves curves = {"Resident memory since the load began",
                   "Of each allocator the run whose peak is the median one.",
                   {"time", "s"},
                   {"resident memory; less is better", "bytes"},
                   {}};
  for (std::size_t i = 0; i < allocators.size(); ++i) {
    if (!allocators[i].at("runs").front().contains("memory")) continue;
    Curves::Series series = {i, {}, {}};
    const Json run = middle_run(allocators[i], kMemory.key);
    for (const Json& sample : run.at("memory"))
      series.points.emplace_back(sample.at(0).get<double>(), sample.at(1).get<double>());
    curves.series.push_back(std::move(series));
  }
  return curves;
}

std::string page_of_program(const Json& results) {
  PageDocument page =
      page_of_allocators(results, fmt::format("{}, on each allocator", results.value("name", "A program")));
  page.command = format_command(results.at("command").get<std::vector<std::string>>());
  page.reading = {words_on_output(results.at("output").get<std::string>())};
  if (const Json load = results.value("load", Json()); !load.is_null())
    page.about.push_back("Under the load " + format_command(load.get<std::vector<std::string>>()));
  if (page.contenders.empty()) return page_text(page);
  const std::vector<Json> allocators = compared_allocators(results);
  const std::vector<SummaryFigure> all = figures_of(allocators);
  if (all.front().unit == "s") page.sentence = words_on_allocators(results, all.front(), kMemory);
  Section figures = {.title = "Time and memory"};
  for (const SummaryFigure& figure : all)
    if (figure.unit == "s") figures.parts.push_back(to_json(figure_bars(results, figure)));
  if (const Curves curves = memory_over_time(allocators); !curves.series.empty())
    figures.parts.push_back(to_json(curves));
  for (const SummaryFigure& figure : all)
    if (figure.unit != "s") figures.parts.push_back(to_json(figure_bars(results, figure)));
  figures.parts.push_back(to_json(summary_table(results, all)));
  page.sections.push_back(std::move(figures));
  return page_text(page);
}

/// Of a program in a suite; nothing of one that failed.
const Json* figure_in(const Json& program, std::size_t contender, const SummaryFigure& figure) {
  const Json& summary = program.at("allocators").at(contender).at("summary");
  return summary.is_null() ? nullptr : &summary.at(figure.key);
}

double standing_of(const Json& summary) {
  const Json& ratio = summary.at("ratio_to_system");
  return ratio.is_null() ? 0 : ratio.get<double>();
}

PageCell cell_of(const Json* summary, const SummaryFigure& figure) {
  if (summary == nullptr) return {"failed", Mark::kNone};
  const double standing = standing_of(*summary), median = summary->at("median").get<double>();
  PageCell cell = {standing == 0 ? "" : fmt::format("{:.2f}", standing)};
  if (summary->value("equal_to_best", false)) cell.mark = Mark::kBest;
  cell.note = figure.unit == "s"       ? format_seconds(median)
              : figure.unit == "bytes" ? format_bytes(median)
                                       : fmt::format("{:.6g}", median);
  return cell;
}

PageTable table_of_suite(const std::vector<Json>& programs, const SummaryFigure& figure) {
  PageTable table = {
      fmt::format("{}: times glibc's; {} is better", figure.title, figure.is_more_better ? "more" : "less"),
      "Marked: the best of the program, or equal to it within the noise.",
      {},
      {{"program"}},
      {}};
  std::vector<double> logarithms(programs.front().at("allocators").size(), 0);
  for (std::size_t i = 0; i < logarithms.size(); ++i) {
    table.heads.push_back({programs.front().at("allocators").at(i).at("name").get<std::string>()});
    table.heads.back().contender = i;
  }
  for (const Json& program : programs) {
    PageTable::Row row = {{{program.at("name").get<std::string>()}}};
    for (std::size_t i = 0; i < logarithms.size(); ++i) {
      const Json* const summary = figure_in(program, i, figure);
      row.cells.push_back(cell_of(summary, figure));
      logarithms[i] += summary == nullptr ? NAN : std::log(standing_of(*summary));
    }
    table.rows.push_back(std::move(row));
  }
  PageTable::Row means = {{{"geometric mean"}}};
  for (const double sum : logarithms) {
    const double mean = std::exp(sum / static_cast<double>(programs.size()));
    means.cells.push_back({std::isfinite(mean) && mean > 0 ? fmt::format("{:.3f}", mean) : "-"});
  }
  table.rows.push_back(std::move(means));
  return table;
}

void add_program(const Json& program, const std::string& name, const SummaryFigure& figure,
                 MeanRatio& ratio) {
  const std::vector<Json> allocators = compared_allocators(program);
  const auto named = [&](const std::string& wanted) {
    return std::find_if(allocators.begin(), allocators.end(),
                        [&](const Json& one) { return one.at("name") == wanted; });
  };
  const auto own = named(name), system = named(kSystemName);
  if (own == allocators.end() || system == allocators.end()) return;
  const Summary a = summary_in(*own, figure.key), b = summary_in(*system, figure.key);
  if (a.median > 0 && b.median > 0) ratio.add(a, b);
}

MeanRatio mean_ratio(const std::vector<Json>& programs, const std::string& name,
                     const SummaryFigure& figure) {
  MeanRatio ratio;
  for (const Json& program : programs) add_program(program, name, figure, ratio);
  return ratio;
}

/// "0.90 times glibc's CPU time (less in 3 of 20 programs and more in 1, beyond the noise)"
std::string words_on_mean(const MeanRatio& ratio, const SummaryFigure& figure) {
  const std::string words =
      ratio.is_within_noise() ? fmt::format("{}'s {} within the noise", kSystemName, figure.title)
                              : fmt::format("{:.2f} times {}'s {}", ratio.mean(), kSystemName, figure.title);
  return fmt::format("{} (less in {} of {} program{} and more in {}, beyond the noise)", words, ratio.less(),
                     ratio.count(), ratio.count() == 1 ? "" : "s", ratio.more());
}

/// "tarn takes 0.90 times glibc's CPU time (...) and 0.95 times glibc's peak RSS (...), as geometric means."
std::string sentence_of(const std::vector<Json>& programs) {
  const MeanRatio time = mean_ratio(programs, kTarnName, kCpu),
                  memory = mean_ratio(programs, kTarnName, kMemory);
  if (time.count() == 0 || memory.count() == 0) return {};
  return fmt::format("{} takes {} and {}, as geometric means.", kTarnName, words_on_mean(time, kCpu),
                     words_on_mean(memory, kMemory));
}

std::vector<SummaryFigure> figures_of_suite(const std::vector<Json>& programs) {
  std::vector<SummaryFigure> figures;
  for (const Json& program : programs) {
    const std::vector<Json> allocators = compared_allocators(program);
    if (allocators.empty()) continue;
    for (const SummaryFigure& figure : figures_of(allocators))
      if (std::none_of(figures.begin(), figures.end(),
                       [&](const auto& one) { return one.key == figure.key; }))
        figures.push_back(figure);
  }
  return figures;
}

/// Those that have the figure under some allocator.
std::vector<Json> programs_with(const std::vector<Json>& programs, const SummaryFigure& figure) {
  std::vector<Json> found;
  for (const Json& program : programs) {
    const std::vector<Json> allocators = compared_allocators(program);
    if (!allocators.empty() && allocators.front().at("summary").contains(figure.key))
      found.push_back(program);
  }
  return found;
}

void add_failures(const Json& program, PageDocument& page) {
  for (const Json& allocator : program.at("allocators"))
    if (const Json& failure = allocator.at("failure"); !failure.is_null())
      page.failures.push_back({fmt::format("{} on {}", program.at("name").get<std::string>(),
                                           allocator.at("name").get<std::string>()),
                               failure.at("what").get<std::string>(),
                               failure.at("last_error_lines").get<std::vector<std::string>>()});
}

std::string page_of_suite(const Json& results) {
  std::vector<Json> programs;
  for (const Json& program : results.at("programs"))
    if (!program.value("small", false)) programs.push_back(program);
  PageDocument page = {.title = "Programs on each allocator", .sentence = {}};
  page.about = {words_on_machine(results.at("machine")), results.at("date").get<std::string>()};
  if (results.at("interrupted").get<bool>())
    page.warnings.emplace_back("The run was interrupted: there are fewer rounds than were asked for.");
  for (const Json& program : results.at("programs")) add_failures(program, page);
  if (programs.empty()) return page_text(page);
  for (const Json& allocator : programs.front().at("allocators")) {
    const std::string name = allocator.at("name");
    page.contenders.push_back({name, is_named_as_ours(name) ? Side::kOurs : Side::kOthers, "", ""});
  }
  page.sentence = sentence_of(programs);
  Section section = {.title = "Beside glibc"};
  for (const SummaryFigure& figure : figures_of_suite(programs))
    section.parts.push_back(to_json(table_of_suite(programs_with(programs, figure), figure)));
  page.sections.push_back(std::move(section));
  return page_text(page);
}

}  // namespace

std::string compare_page(const Json& results) {
  if (!results.contains("programs")) return page_of_program(results);
  if (results.at("programs").size() != 1) return page_of_suite(results);
  Json alone = results;  // what is told of its only program, and of the run
  alone.update(results.at("programs").front());
  return page_of_program(alone);
}

}  // namespace tarn::tool
