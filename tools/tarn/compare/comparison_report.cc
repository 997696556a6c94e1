// Table and text of a comparison.
#include "compare/comparison_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "report/failures.h"
#include "report/table.h"
#include "system/figures/format.h"

namespace tarn::tool {
namespace {

/// One metric's column: what all of its cells need to know.
struct MetricColumn {
  const Metric<ProgramRun>* metric;
  Unit unit;
  Summary best;
};

MetricColumn column_of(const Comparison& comparison, const Metric<ProgramRun>& metric) {
  const Entries<ProgramRun>& entries = comparison.contenders;
  return {&metric, unit_for(metric.quantity, largest_of(entries, metric)), best_of(entries, metric)};
}

std::string title_of(const MetricColumn& column) {
  if (*column.unit.name == 0) return column.metric->title;
  return fmt::format("{}, {}", column.metric->title, column.unit.name);
}

/// What the column of ratios is called.
const char* title_of_ratio(const Metric<ProgramRun>& metric) {
  if (metric.quantity == Quantity::kSeconds) return "speed  ";
  return metric.better == Better::kMore ? "share  " : "x  ";
}

/// "1.00 *" the best, "0.99 =" as good within the noise, "0.80".
Cell ratio_cell(const Summary& own, const MetricColumn& column) {
  const bool is_best = own.median == column.best.median;
  const bool is_equal = is_within_noise(own, column.best);
  const double ratio = ratio_of(*column.metric, own.median, column.best.median);
  const char mark = is_best ? '*' : is_equal ? '=' : ' ';
  return {fmt::format("{:.2f} {}", ratio, mark), is_best || is_equal ? Style::kGood : Style::kPlain};
}

void add_metric_cells(const Entry<ProgramRun>& contender, const MetricColumn& column,
                      std::vector<Cell>& cells) {
  const Summary own = contender.summary_of(*column.metric);
  cells.push_back({format_in(column.unit, own.median)});
  cells.push_back({own.count < 2 ? "" : fmt::format("±{:.1f}%", own.spread_percent()), Style::kFaint});
  cells.push_back(ratio_cell(own, column));
}

std::size_t rounds_done(const Comparison& comparison) {
  std::size_t most = 0;
  for (const Entry<ProgramRun>& contender : comparison.contenders)
    most = std::max(most, contender.runs.size());
  return most;
}

const Entry<ProgramRun>* find_contender(const Comparison& comparison, const char* name) {
  for (const Entry<ProgramRun>& contender : comparison.contenders)
    if (contender.allocator.name == name && contender.is_comparable()) return &contender;
  return nullptr;
}

/// The best figure among the contenders that are not tarn's; nothing if none has one.
std::optional<Summary> best_other(const Comparison& comparison, const Metric<ProgramRun>& metric) {
  Entries<ProgramRun> others = comparison.contenders;
  std::erase_if(others,
                [](const Entry<ProgramRun>& entry) { return entry.allocator.name.starts_with(kTarnName); });
  const Summary best = best_of(others, metric);
  return best.count == 0 ? std::nullopt : std::optional(best);
}

/// "wall 1.18, CPU 1.01 = times as fast", "peak RSS 1.01, page faults 0.90 times as much"; `=` marks what is
/// equal within the noise.
template <class OtherSummary>
std::vector<std::string> standing(const Comparison& comparison, const Entry<ProgramRun>& own,
                                  const OtherSummary& other_summary) {
  std::vector<std::string> speeds, amounts, gains;
  for (const Metric<ProgramRun>& metric : metrics_of(comparison.workload)) {
    const std::optional<Summary> other = other_summary(metric);
    if (!other || other->median == 0) continue;
    const Summary figure = own.summary_of(metric);
    (metric.better == Better::kMore          ? gains
     : metric.quantity == Quantity::kSeconds ? speeds
                                             : amounts)
        .push_back(fmt::format("{} {:.2f}{}", metric.title, ratio_of(metric, figure.median, other->median),
                               is_within_noise(figure, *other) ? " =" : ""));
  }
  std::vector<std::string> parts;
  for (const auto& [figures, what] :
       {std::pair(&speeds, "times as fast"), std::pair(&amounts, "times as much"),
        std::pair(&gains, "times as much, where more is better")})
    if (!figures->empty()) parts.push_back(fmt::format("{} {}", fmt::join(*figures, ", "), what));
  return parts;
}

/// On one line where it fits a terminal, else on a line for each part.
std::string standing_text(const std::string& beside, const std::vector<std::string>& parts) {
  constexpr std::size_t kMostColumns = 100;
  const std::string line = fmt::format("{}: {}\n", beside, fmt::join(parts, "; "));
  return line.size() <= kMostColumns ? line : fmt::format("{}:\n  {}\n", beside, fmt::join(parts, "\n  "));
}

/// Of each contender that is tarn's, how it stands beside the system's allocator; of pools, also beside the
/// best other of each figure.
std::string standing_lines(const Comparison& comparison) {
  const Entry<ProgramRun>* system = find_contender(comparison, kSystemName);
  std::string text;
  for (const Entry<ProgramRun>& own : comparison.contenders) {
    if (!own.is_comparable() || !own.allocator.name.starts_with(kTarnName) || system == nullptr) continue;
    text += standing_text(fmt::format("{} beside {}", own.allocator.name, kSystemName),
                          standing(comparison, own, [&](const Metric<ProgramRun>& metric) {
                            return std::optional(system->summary_of(metric));
                          }));
    if (own.allocator.arguments.empty()) continue;
    text += standing_text(fmt::format("{} beside the best other of each figure", own.allocator.name),
                          standing(comparison, own, [&](const Metric<ProgramRun>& metric) {
                            return best_other(comparison, metric);
                          }));
  }
  return text;
}

std::string output_line(const Comparison& comparison) {
  const char* const what = comparison.workload.load ? "the load's output" : "standard output";
  switch (comparison.output) {
    case OutputVerdict::kIdentical:
      return fmt::format("Exit status and {} were verified in every run.\n", what);
    case OutputVerdict::kNotDeterministic:
      return fmt::format(
          "Only exit statuses were verified: {} is not the same from run to run, even on {}.\n", what,
          kSystemName);
    case OutputVerdict::kNotCompared:
      break;
  }
  if (!comparison.workload.figures.empty())
    return fmt::format("Only exit statuses were verified: {} has figures.\n", what);
  return fmt::format("Only exit statuses were verified: there is no output of {} to compare with.\n",
                     kSystemName);
}

std::string legend(const Comparison& comparison) {
  std::string text =
      rounds_done(comparison) < 2 ? "One round: no spread. " : "±: half the distance of the quartiles. ";
  return text + "speed: the fastest (*) is 1.00, 0.50 is half as fast;\n" +
         "x: times the least (*); =: no difference beyond the noise.\n";
}

Table table_of(const Comparison& comparison, const std::vector<Metric<ProgramRun>>& metrics) {
  std::vector<MetricColumn> metric_columns;
  std::vector<Column> columns = {{"", Alignment::kLeft}};
  std::vector<ColumnGroup> groups = {{"", 1}};
  for (const Metric<ProgramRun>& metric : metrics) {
    metric_columns.push_back(column_of(comparison, metric));
    groups.push_back({title_of(metric_columns.back()), 3});
    columns.insert(columns.end(), {{"median"}, {"±"}, {title_of_ratio(metric)}});
  }
  Table table(std::move(columns));
  table.set_groups(std::move(groups));
  for (const Entry<ProgramRun>& contender : comparison.contenders) {
    if (!contender.is_comparable()) continue;
    std::vector<Cell> cells = {{contender.allocator.name, Style::kHeading}};
    for (const MetricColumn& column : metric_columns) add_metric_cells(contender, column, cells);
    table.add_row(std::move(cells));
  }
  return table;
}

}  // namespace

std::string comparison_tables(const Comparison& comparison, Colour colour) {
  constexpr std::size_t kMostMetrics = 4, kMostColumns = 110;
  const std::vector<Metric<ProgramRun>> metrics = metrics_of(comparison.workload);
  std::string text;
  for (std::size_t first = 0, count = 0; first < metrics.size(); first += count) {
    Table table({});
    for (count = std::min(kMostMetrics, metrics.size() - first); count > 0; --count) {
      const auto start = metrics.begin() + static_cast<std::ptrdiff_t>(first);
      table = table_of(comparison, {start, start + static_cast<std::ptrdiff_t>(count)});
      if (count == 1 || width_of(table.lines().front()) <= kMostColumns) break;
    }
    text += table.render(colour) + "\n";
  }
  return text;
}

std::string comparison_report(const Comparison& comparison, int interrupted_by, Colour colour) {
  const std::size_t rounds = rounds_done(comparison);
  const std::string measured =
      rounds == 0 ? "Nothing was measured" : fmt::format("{} round{}", rounds, rounds == 1 ? "" : "s");
  const Workload& workload = comparison.workload;
  std::string text = styled(format_command(workload.command), Style::kHeading, colour) + "\n";
  if (workload.load) text += fmt::format("under {}\n", format_command(workload.load->command));
  text += fmt::format("{}{}\n\n", measured, interrupted_by != 0 ? ", interrupted" : "");
  if (has_figures(comparison.contenders)) {
    text += comparison_tables(comparison, colour) + standing_lines(comparison);
    text += styled(legend(comparison) + output_line(comparison), Style::kFaint, colour);
  }
  return text + failure_report(comparison.contenders, colour);
}

}  // namespace tarn::tool
