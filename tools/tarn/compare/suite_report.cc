// Tables of a suite.
#include "compare/suite_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "report/failures.h"
#include "report/table.h"
#include "system/figures/format.h"

namespace tarn::tool {
namespace {

using ProgramMetric = Metric<ProgramRun>;

/// A program and the figure of it that a table shows: where that is in a run is each program's own.
struct TableRow {
  const Comparison* program;
  ProgramMetric metric;

  std::optional<double> median_of(std::size_t contender) const {
    const Entry<ProgramRun>& entry = program->contenders[contender];
    if (!entry.is_comparable()) return std::nullopt;
    return entry.summary_of(metric).median;
  }
};
using TableRows = std::vector<TableRow>;

bool is_same_figure(const ProgramMetric& a, const ProgramMetric& b) {
  return a.key == b.key && a.quantity == b.quantity && a.better == b.better;
}

/// The rows of each table: one for each figure that programs have, in the order in which they come up.
std::vector<TableRows> tables_of(const ComparisonResults& results, bool is_small) {
  std::vector<TableRows> tables;
  for (const Comparison& comparison : results.comparisons) {
    if (comparison.workload.is_small != is_small || !has_figures(comparison.contenders)) continue;
    for (ProgramMetric& metric : metrics_of(comparison.workload)) {
      auto table = std::find_if(tables.begin(), tables.end(), [&](const TableRows& rows) {
        return is_same_figure(rows.front().metric, metric);
      });
      if (table == tables.end()) table = tables.emplace(tables.end());
      table->push_back({&comparison, std::move(metric)});
    }
  }
  return tables;
}

bool is_more_better(const ProgramMetric& metric) { return metric.better == Better::kMore; }

/// The same of ratio_of(), which is a speed where the figure is a time.
bool is_more_of_ratio_better(const ProgramMetric& metric) {
  return metric.quantity == Quantity::kSeconds || is_more_better(metric);
}

struct Standing {
  double mean = 0;  // geometric, over all programs
  double worst = 0;
  std::string worst_program;
};

/// Beside what `other_median` gives of each row; nothing if some row has no figure of one of them.
template <class OtherMedian>
std::optional<Standing> standing_of(const TableRows& rows, std::size_t contender,
                                    const OtherMedian& other_median) {
  Standing standing;
  double sum = 0;
  for (const TableRow& row : rows) {
    const std::optional<double> own = row.median_of(contender), other = other_median(row);
    if (!own || !other || *own == 0 || *other == 0) return std::nullopt;
    const double ratio = ratio_of(row.metric, *own, *other);
    sum += std::log(ratio);
    const bool is_worse =
        is_more_of_ratio_better(row.metric) ? ratio < standing.worst : ratio > standing.worst;
    if (standing.worst_program.empty() || is_worse) {
      standing.worst = ratio;
      standing.worst_program = row.program->workload.name;
    }
  }
  standing.mean = std::exp(sum / static_cast<double>(rows.size()));
  return standing;
}

std::optional<Standing> beside(const TableRows& rows, std::size_t contender, std::size_t other) {
  return standing_of(rows, contender, [&](const TableRow& row) { return row.median_of(other); });
}

/// The best figure of a program among the contenders that are not tarn.
std::optional<double> best_other(const TableRow& row, const std::string& tarn_library) {
  std::optional<double> best;
  for (std::size_t i = 0; i < row.program->contenders.size(); ++i) {
    if (row.program->contenders[i].allocator.library == tarn_library) continue;
    const std::optional<double> median = row.median_of(i);
    if (median && (!best || (is_more_better(row.metric) ? *median > *best : *median < *best))) best = median;
  }
  return best;
}

Cell program_cell(const TableRow& row, std::size_t contender, Unit unit) {
  const Entry<ProgramRun>& entry = row.program->contenders[contender];
  if (!entry.is_comparable()) return {entry.failure ? "failed" : "-", Style::kBad};
  const Summary own = entry.summary_of(row.metric);
  return {format_in(unit, own.median),
          is_within_noise(own, best_of(row.program->contenders, row.metric)) ? Style::kGood : Style::kPlain};
}

/// "CPU time, ms" and the medians, then the means beside the system's allocator.
Table table_of(const TableRows& rows) {
  const ProgramMetric& metric = rows.front().metric;
  const Entries<ProgramRun>& first = rows.front().program->contenders;
  double largest = 0;
  for (const TableRow& row : rows)
    largest = std::max(largest, largest_of(row.program->contenders, row.metric));
  const Unit unit = unit_for(metric.quantity, largest);
  std::vector<Column> columns = {
      {*unit.name == 0 ? metric.title : fmt::format("{}, {}", metric.title, unit.name), Alignment::kLeft}};
  for (const Entry<ProgramRun>& entry : first) columns.push_back({entry.allocator.name});
  Table table(std::move(columns));
  for (const TableRow& row : rows) {
    std::vector<Cell> cells = {{row.program->workload.name}};
    for (std::size_t i = 0; i < first.size(); ++i) cells.push_back(program_cell(row, i, unit));
    table.add_row(std::move(cells));
  }
  std::vector<Cell> means = {
      {metric.quantity == Quantity::kSeconds ? "speed beside glibc, mean" : "times glibc's, mean",
       Style::kHeading}};
  for (std::size_t i = 0; i < first.size(); ++i) {
    const std::optional<Standing> standing = beside(rows, i, 0);
    means.push_back({standing ? fmt::format("{:.3f}", standing->mean) : "", Style::kHeading});
  }
  table.add_row(std::move(means));
  return table;
}

/// "tarn beside the best other of each program: 0.97 times as fast, worst 0.81 (awk)"
std::string standing_line(const TableRows& rows) {
  const Entries<ProgramRun>& first = rows.front().program->contenders;
  const auto tarn = std::find_if(first.begin(), first.end(), [](const Entry<ProgramRun>& entry) {
    return entry.allocator.name == kTarnName;
  });
  if (tarn == first.end()) return {};
  const auto standing =
      standing_of(rows, static_cast<std::size_t>(tarn - first.begin()),
                  [&](const TableRow& row) { return best_other(row, tarn->allocator.library); });
  if (!standing) return {};
  const ProgramMetric& metric = rows.front().metric;
  const char* const what = metric.quantity == Quantity::kSeconds ? "times as fast"
                           : is_more_better(metric)              ? "times as much, where more is better"
                                                                 : "times as much";
  return fmt::format("{} beside the best other of each program: {:.3f} {}, worst {:.2f} ({})\n", kTarnName,
                     standing->mean, what, standing->worst, standing->worst_program);
}

/// What settings change: a line for each variant.
std::string variant_lines(const TableRows& rows) {
  const Entries<ProgramRun>& first = rows.front().program->contenders;
  std::string text;
  for (std::size_t base = 0; base < first.size(); ++base) {
    if (first[base].allocator.name != kTarnName) continue;
    for (std::size_t i = 0; i < first.size(); ++i) {
      if (i == base || first[i].allocator.library != first[base].allocator.library) continue;
      if (const auto standing = beside(rows, i, base))
        text += fmt::format("{} beside {}: {:.3f}, worst {:.2f} ({})\n", first[i].allocator.name, kTarnName,
                            standing->mean, standing->worst, standing->worst_program);
    }
  }
  return text;
}

/// Small programs: what is above the system's allocator, in all. \param tables those of their figures
Table small_table(const std::vector<TableRows>& tables) {
  const TableRows &wall = tables.at(0), &peak = tables.at(2);
  Table table(
      {{"small programs", Alignment::kLeft}, {"wall, ms"}, {"to glibc"}, {"peak RSS, KiB"}, {"to glibc"}});
  for (std::size_t program = 0; program < wall.size(); ++program) {
    const Comparison& comparison = *wall[program].program;
    for (std::size_t i = 0; i < comparison.contenders.size(); ++i) {
      std::vector<Cell> cells = {
          {fmt::format("{}, {}", comparison.workload.name, comparison.contenders[i].allocator.name)}};
      for (const auto& [row, unit] : {std::pair(wall[program], 1e-3), std::pair(peak[program], 1024.0)}) {
        const auto own = row.median_of(i), base = row.median_of(0);
        cells.push_back({own ? fmt::format("{:.3f}", *own / unit) : "failed"});
        cells.push_back({own && base ? fmt::format("{:+.3f}", (*own - *base) / unit) : ""});
      }
      table.add_row(std::move(cells));
    }
  }
  return table;
}

std::string failures_of(const ComparisonResults& results, Colour colour) {
  std::string text;
  for (const Comparison& comparison : results.comparisons)
    if (const std::string failures = failure_report(comparison.contenders, colour); !failures.empty())
      text += comparison.workload.name + ": " + failures;
  return text;
}

}  // namespace

std::string suite_report(const ComparisonResults& results, Colour colour) {
  std::string text = results.interrupted_by != 0 ? "interrupted: what was measured until then\n\n" : "";
  const std::vector<TableRows> tables = tables_of(results, false), small = tables_of(results, true);
  for (const TableRows& rows : tables)
    text += table_of(rows).render(colour) + standing_line(rows) + variant_lines(rows) + "\n";
  if (!small.empty()) text += small_table(small).render(colour) + "\n";
  if (tables.empty() && small.empty()) text += "Nothing was measured.\n";
  return text + failures_of(results, colour);
}

}  // namespace tarn::tool
