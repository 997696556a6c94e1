// Table and text of a comparison.
#include "compare/comparison_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/statistics.h"
#include "report/results.h"
#include "system/format.h"

namespace tarn::tool {
namespace {

/// One metric's column: what all of its cells need to know.
struct MetricColumn {
  const Metric* metric;
  Unit unit;
  Summary best;
};

MetricColumn column_of(const Comparison& comparison, const Metric& metric) {
  double largest = 0;
  for (const Contender& contender : comparison.contenders)
    if (contender.is_comparable()) largest = std::max(largest, summary_of(contender, metric).median);
  return {&metric, unit_for(metric.quantity, largest), best_of(comparison, metric)};
}

std::string title_of(const MetricColumn& column) {
  if (*column.unit.name == 0) return column.metric->title;
  return fmt::format("{}, {}", column.metric->title, column.unit.name);
}

/// "1.00 *" the best, "1.01 =" as good within the noise, "1.30".
Cell ratio_cell(const Summary& own, const Summary& best) {
  const double ratio = best.median == 0 ? 1 : own.median / best.median;
  const bool is_best = own.median == best.median;
  const bool is_equal = is_within_noise(own, best);
  return {fmt::format("{:.2f} {}", ratio,
                      is_best    ? '*'
                      : is_equal ? '='
                                 : ' '),
          is_best || is_equal ? Style::kGood : Style::kPlain};
}

void add_metric_cells(const Contender& contender, const MetricColumn& column, std::vector<Cell>& cells) {
  const Summary own = summary_of(contender, *column.metric);
  cells.push_back({format_in(column.unit, own.median)});
  cells.push_back({own.count < 2 ? "" : fmt::format("±{:.1f}%", own.spread_percent()), Style::kFaint});
  cells.push_back(ratio_cell(own, column.best));
}

std::size_t rounds_done(const Comparison& comparison) {
  std::size_t most = 0;
  for (const Contender& contender : comparison.contenders) most = std::max(most, contender.runs.size());
  return most;
}

const Contender* find_contender(const Comparison& comparison, const char* name) {
  for (const Contender& contender : comparison.contenders)
    if (contender.allocator.name == name && contender.is_comparable()) return &contender;
  return nullptr;
}

/// "tarn against glibc: wall 0.85, CPU 0.84, peak RSS 1.01, page faults 0.90"
std::string tarn_line(const Comparison& comparison) {
  const Contender* tarn = find_contender(comparison, kTarnName);
  const Contender* system = find_contender(comparison, kSystemName);
  if (tarn == nullptr || system == nullptr) return {};
  std::string line = fmt::format("{} against {}:", kTarnName, kSystemName);
  const char* separator = " ";
  for (const Metric& metric : kMetrics) {
    const double base = summary_of(*system, metric).median;
    if (base == 0) continue;
    line += fmt::format("{}{} {:.2f}", separator, metric.title, summary_of(*tarn, metric).median / base);
    separator = ", ";
  }
  return line + " (below 1 is better)\n";
}

std::string output_line(const Comparison& comparison) {
  switch (comparison.output) {
    case OutputVerdict::kIdentical:
      return "Exit status and standard output were verified in every run.\n";
    case OutputVerdict::kNotDeterministic:
      return fmt::format(
          "The program's output is not the same from run to run, even on {}: only exit statuses were "
          "verified.\n",
          kSystemName);
    case OutputVerdict::kNotCompared:
      break;
  }
  return "Only exit statuses were verified: there is no output of the system's allocator to compare with.\n";
}

std::string legend(const Comparison& comparison) {
  std::string text =
      rounds_done(comparison) < 2 ? "One round: no spread. " : "±: half the distance of the quartiles. ";
  return text + "Ratio to the column's best (*); = equals it within the noise.\n";
}

bool all_failed_alike(const std::vector<Contender>& contenders) {
  return contenders.size() > 1 && contenders.front().failure &&
         std::all_of(contenders.begin(), contenders.end(), [&](const Contender& c) {
           return c.failure && c.failure->what == contenders.front().failure->what;
         });
}

std::string failure_paragraph(const std::string& name, const Failure& failure, Colour colour) {
  std::string text =
      fmt::format("{}: {} ({})\n", styled("FAILED " + name, Style::kBad, colour), failure.what, failure.when);
  for (const std::string& line : failure.error_lines) text += "    " + line + "\n";
  return text;
}

}  // namespace

Table comparison_table(const Comparison& comparison) {
  std::vector<MetricColumn> metric_columns;
  std::vector<Column> columns = {{"", Alignment::kLeft}};
  std::vector<ColumnGroup> groups = {{"", 1}};
  for (const Metric& metric : kMetrics) {
    metric_columns.push_back(column_of(comparison, metric));
    groups.push_back({title_of(metric_columns.back()), 3});
    columns.insert(columns.end(), {{"median"}, {"±"}, {"ratio "}});
  }
  Table table(std::move(columns));
  table.set_groups(std::move(groups));
  for (const Contender& contender : comparison.contenders) {
    if (!contender.is_comparable()) continue;
    std::vector<Cell> cells = {{contender.allocator.name, Style::kHeading}};
    for (const MetricColumn& column : metric_columns) add_metric_cells(contender, column, cells);
    table.add_row(std::move(cells));
  }
  return table;
}

std::string failure_report(const Comparison& comparison, Colour colour) {
  if (all_failed_alike(comparison.contenders))
    return failure_paragraph("under every allocator alike", *comparison.contenders.front().failure, colour);
  std::string text;
  for (const Contender& contender : comparison.contenders)
    if (contender.failure) text += failure_paragraph(contender.allocator.name, *contender.failure, colour);
  return text;
}

std::string comparison_report(const ComparisonPlan& plan, const Comparison& comparison, Colour colour) {
  const std::size_t rounds = rounds_done(comparison);
  const std::string measured =
      rounds == 0 ? "Nothing was measured" : fmt::format("{} round{}", rounds, rounds == 1 ? "" : "s");
  std::string text =
      fmt::format("{}\n{}{}\n\n", styled(format_command(plan.command), Style::kHeading, colour), measured,
                  comparison.interrupted_by != 0 ? ", interrupted" : "");
  const Table table = comparison_table(comparison);
  if (!table.is_empty()) {
    text += table.render(colour) + "\n" + tarn_line(comparison);
    text += styled(legend(comparison) + output_line(comparison), Style::kFaint, colour);
  }
  return text + failure_report(comparison, colour);
}

}  // namespace tarn::tool
