// Tables and text of a comparison, and of a suite of programs.
#include "compare/comparison_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>

#include "compare/comparison_document.h"
#include "report/table.h"
#include "system/figures/format.h"

namespace tarn::tool {
namespace {

std::string column_title(const Figure& figure, Unit unit) {
  return *unit.name == 0 ? figure.title : fmt::format("{}, {}", figure.title, unit.name);
}

/// What the column of ratios is called.
const char* title_of_ratio(const Figure& figure) {
  if (figure.quantity == Quantity::kSeconds) return "speed  ";
  return figure.better == Better::kMore ? "share  " : "x  ";
}

/// The median, its spread, and "1.00 *" the best, "0.99 =" as good within the noise, "0.80".
void add_figure_cells(const Figure& figure, std::size_t contender, std::vector<Cell>& cells) {
  const Summary& own = figure.summaries[contender];
  const Mark mark = figure.mark_of(contender);
  cells.push_back({format_in(figure.unit(), own.median)});
  cells.push_back({own.count < 2 ? "" : fmt::format("±{:.1f}%", own.spread_percent()), Style::kFaint});
  cells.push_back({fmt::format("{:.2f} {}", figure.ratio_of(own.median, figure.best().median), sign_of(mark)),
                   style_of(mark)});
}

std::size_t rounds_done(const Comparison& comparison) {
  std::size_t most = 0;
  for (const Entry<ProgramRun>& contender : comparison.contenders)
    most = std::max(most, contender.runs.size());
  return most;
}

/// "wall 1.18, CPU 1.01 = times as fast", "peak RSS 1.01, page faults 0.90 times as much"; `=` marks what is
/// equal within the noise.
/// \param other_of gives the other's summary of a figure
template <class OtherOf>
std::vector<std::string> standing(const Figures& figures, std::size_t contender, const OtherOf& other_of) {
  std::vector<std::string> speeds, amounts, gains;
  for (const Figure& figure : figures.all) {
    const Summary own = figure.summaries[contender], other = other_of(figure);
    if (other.median == 0) continue;
    (figure.better == Better::kMore          ? gains
     : figure.quantity == Quantity::kSeconds ? speeds
                                             : amounts)
        .push_back(fmt::format("{} {:.2f}{}", figure.title, figure.ratio_of(own.median, other.median),
                               is_within_noise(own, other) ? " =" : ""));
  }
  std::vector<std::string> parts;
  for (const auto& [told, what] : {std::pair(&speeds, "times as fast"), std::pair(&amounts, "times as much"),
                                   std::pair(&gains, "times as much, where more is better")})
    if (!told->empty()) parts.push_back(fmt::format("{} {}", fmt::join(*told, ", "), what));
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
std::string standing_lines(const Figures& figures) {
  const std::optional<std::size_t> system = figures.find_contender(kSystemName);
  if (!system) return {};
  const auto of_system = [&](const Figure& figure) { return figure.summaries[*system]; };
  const auto of_best_other = [&](const Figure& figure) {
    return figure.best_among([&](std::size_t i) { return !figures.contenders[i].is_ours(); });
  };
  std::string text;
  for (std::size_t i = 0; i < figures.contenders.size(); ++i) {
    const Contender& own = figures.contenders[i];
    if (!own.is_ours()) continue;
    text += standing_text(fmt::format("{} beside {}", own.allocator.name, kSystemName),
                          standing(figures, i, of_system));
    if (!own.allocator.arguments.empty())
      text += standing_text(fmt::format("{} beside the best other of each figure", own.allocator.name),
                            standing(figures, i, of_best_other));
  }
  return text;
}

/// "▍" of 0.4 blocks. A bar longer than there is room for ends in an arrow.
std::string bar_of(double blocks, std::size_t most) {
  constexpr std::array<const char*, 8> kParts = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  std::string bar;
  if (blocks >= static_cast<double>(most)) {
    for (std::size_t i = 1; i < most; ++i) bar += "█";
    return bar + "▶";
  }
  const auto eighths = static_cast<std::size_t>(std::lround(blocks * 8));
  for (std::size_t i = 0; i < eighths / 8; ++i) bar += "█";
  return bar + kParts[eighths % 8];
}

/// What tarn came for, at a glance: the last contender that is its own, a bar for each figure, beside the
/// system's allocator, which ends at a line.
std::string bars_of(const Figures& figures) {
  constexpr std::size_t kWidthOfSystem = 24, kMostBlocks = 40;
  const std::optional<std::size_t> system = figures.find_contender(kSystemName);
  std::size_t own = figures.contenders.size();
  while (own > 0 && !figures.contenders[own - 1].is_ours()) --own;
  if (!system || own-- == 0) return {};
  Table table({{"", Alignment::kLeft},
               {figures.contenders[own].allocator.name},
               {"", Alignment::kLeft},
               {std::string(kSystemName)}});
  for (const Figure& figure : figures.all) {
    const Summary &ours = figure.summaries[own], &other = figure.summaries[*system];
    if (ours.count == 0 || other.median == 0) continue;
    std::string bar = bar_of(ours.median / other.median * kWidthOfSystem, kMostBlocks);
    const std::size_t width = width_of(bar);
    if (width <= kWidthOfSystem) bar += std::string(kWidthOfSystem - width, ' ') + "│";
    table.add_row(
        {{column_title(figure, figure.unit()) + (figure.better == Better::kMore ? ", more is better" : "")},
         {format_in(figure.unit(), ours.median)},
         {bar},
         {format_in(figure.unit(), other.median)}});
  }
  return table.render(Colour::kOff) + "\n";
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

Table table_of(const std::vector<Contender>& contenders, std::span<const Figure> figures) {
  std::vector<Column> columns = {{"", Alignment::kLeft}};
  std::vector<ColumnGroup> groups = {{"", 1}};
  for (const Figure& figure : figures) {
    groups.push_back({column_title(figure, figure.unit()), 3});
    columns.insert(columns.end(), {{"median"}, {"±"}, {title_of_ratio(figure)}});
  }
  Table table(std::move(columns));
  table.set_groups(std::move(groups));
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    std::vector<Cell> cells = {{contenders[i].allocator.name, Style::kHeading}};
    for (const Figure& figure : figures) add_figure_cells(figure, i, cells);
    table.add_row(std::move(cells));
  }
  return table;
}

/// Up to four figures beside each other, fewer where a terminal has no room for them.
std::string tables_of(const Figures& figures, Colour colour) {
  constexpr std::size_t kMostFigures = 4, kMostColumns = 110;
  std::string text;
  for (std::span<const Figure> left = figures.all; !left.empty();) {
    std::size_t count = std::min(kMostFigures, left.size());
    Table table = table_of(figures.contenders, left.first(count));
    while (count > 1 && width_of(table.lines().front()) > kMostColumns)
      table = table_of(figures.contenders, left.first(--count));
    text += table.render(colour) + "\n";
    left = left.subspan(count);
  }
  return text;
}

/// Of those that may be compared.
Figures compared_in(const Comparison& comparison) {
  return figures_of(comparable_of(comparison.contenders), metrics_of(comparison.workload));
}

// -- A suite ---------------------------------------------------------------------------------------------

struct Standing {
  double mean;  // geometric, over all programs
  double worst;
  std::string worst_program;
};

/// Beside what `other_of` gives of each figure, as Figure::ratio_of() tells it; nothing if some program has
/// no figure of one of them.
template <class OtherOf>
std::optional<Standing> standing_of(const SuiteTable& rows, std::size_t contender, const OtherOf& other_of) {
  const Figure& first = rows.front().figure;
  const bool is_time = first.quantity == Quantity::kSeconds;
  const bool is_gain = !is_time && first.better == Better::kMore;
  MeanRatio ratio;
  for (const ProgramFigure& row : rows) {
    const Summary own = row.figure.summaries[contender], other = other_of(row.figure);
    if (own.median == 0 || other.median == 0) return std::nullopt;
    ratio.add(is_gain ? other : own, is_gain ? own : other, row.name());
  }
  return is_time || is_gain ? Standing{ratio.mean_speed(), ratio.worst_speed(), ratio.worst_row()}
                            : Standing{ratio.mean(), ratio.worst(), ratio.worst_row()};
}

std::optional<Standing> beside(const SuiteTable& rows, std::size_t contender, std::size_t other) {
  return standing_of(rows, contender, [&](const Figure& figure) { return figure.summaries[other]; });
}

Cell program_cell(const ProgramFigure& row, std::size_t contender, Unit unit) {
  const Mark mark = row.figure.mark_of(contender);
  if (mark == Mark::kNone) return {row.program->contenders[contender].failure ? "failed" : "-", Style::kBad};
  return {format_in(unit, row.figure.summaries[contender].median), style_of(mark)};
}

/// "CPU time, ms" and the medians, then the means beside the system's allocator.
Table table_of(const SuiteTable& rows) {
  const Figure& figure = rows.front().figure;
  const Entries<ProgramRun>& first = rows.front().program->contenders;
  double largest = 0;
  for (const ProgramFigure& row : rows) largest = std::max(largest, row.figure.largest());
  const Unit unit = unit_for(figure.quantity, largest);
  std::vector<Column> columns = {{column_title(figure, unit), Alignment::kLeft}};
  for (const Entry<ProgramRun>& entry : first) columns.push_back({entry.allocator.name});
  Table table(std::move(columns));
  for (const ProgramFigure& row : rows) {
    std::vector<Cell> cells = {{row.name()}};
    for (std::size_t i = 0; i < first.size(); ++i) cells.push_back(program_cell(row, i, unit));
    table.add_row(std::move(cells));
  }
  std::vector<Cell> means = {
      {figure.quantity == Quantity::kSeconds ? "speed beside glibc, mean" : "times glibc's, mean",
       Style::kHeading}};
  for (std::size_t i = 0; i < first.size(); ++i) {
    const std::optional<Standing> standing = beside(rows, i, 0);
    means.push_back({standing ? fmt::format("{:.3f}", standing->mean) : "", Style::kHeading});
  }
  table.add_row(std::move(means));
  return table;
}

/// "tarn beside the best other of each program: 0.97 times as fast, worst 0.81 (awk)"
std::string standing_line(const SuiteTable& rows, std::size_t tarn) {
  const Entries<ProgramRun>& first = rows.front().program->contenders;
  const auto is_other = [&](std::size_t i) {
    return first[i].allocator.library != first[tarn].allocator.library;
  };
  const auto standing =
      standing_of(rows, tarn, [&](const Figure& figure) { return figure.best_among(is_other); });
  if (!standing) return {};
  const Figure& figure = rows.front().figure;
  const char* const what = figure.quantity == Quantity::kSeconds ? "times as fast"
                           : figure.better == Better::kMore      ? "times as much, where more is better"
                                                                 : "times as much";
  return fmt::format("{} beside the best other of each program: {:.3f} {}, worst {:.2f} ({})\n", kTarnName,
                     standing->mean, what, standing->worst, standing->worst_program);
}

/// What settings change: a line for each variant.
std::string variant_lines(const SuiteTable& rows, std::size_t tarn) {
  const Entries<ProgramRun>& first = rows.front().program->contenders;
  std::string text;
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (i == tarn || first[i].allocator.library != first[tarn].allocator.library) continue;
    if (const auto standing = beside(rows, i, tarn))
      text += fmt::format("{} beside {}: {:.3f}, worst {:.2f} ({})\n", first[i].allocator.name, kTarnName,
                          standing->mean, standing->worst, standing->worst_program);
  }
  return text;
}

/// Small programs: what is above the system's allocator, in all. \param tables those of their figures
Table small_table(const std::vector<SuiteTable>& tables) {
  const SuiteTable &wall = tables.at(0), &peak = tables.at(2);
  Table table(
      {{"small programs", Alignment::kLeft}, {"wall, ms"}, {"to glibc"}, {"peak RSS, KiB"}, {"to glibc"}});
  for (std::size_t program = 0; program < wall.size(); ++program) {
    const Comparison& comparison = *wall[program].program;
    for (std::size_t i = 0; i < comparison.contenders.size(); ++i) {
      std::vector<Cell> cells = {
          {fmt::format("{}, {}", comparison.workload.name, comparison.contenders[i].allocator.name)}};
      for (const auto& [row, unit] : {std::pair(&wall[program], 1e-3), std::pair(&peak[program], 1024.0)}) {
        const Summary &own = row->figure.summaries[i], &base = row->figure.summaries[0];
        const bool has_both = own.count != 0 && base.count != 0;
        cells.push_back({own.count != 0 ? fmt::format("{:.3f}", own.median / unit) : "failed"});
        cells.push_back({has_both ? fmt::format("{:+.3f}", (own.median - base.median) / unit) : ""});
      }
      table.add_row(std::move(cells));
    }
  }
  return table;
}

std::string failures_of(const ComparisonResults& results, Colour colour) {
  std::string text;
  for (const Comparison& comparison : results.comparisons)
    if (const std::string failures = failure_report(contenders_of(comparison.contenders), colour);
        !failures.empty())
      text += comparison.workload.name + ": " + failures;
  return text;
}

}  // namespace

std::string comparison_tables(const Comparison& comparison, Colour colour) {
  return tables_of(compared_in(comparison), colour);
}

std::string comparison_report(const Comparison& comparison, int interrupted_by, Colour colour) {
  const std::size_t rounds = rounds_done(comparison);
  const std::string measured =
      rounds == 0 ? "Nothing was measured" : fmt::format("{} round{}", rounds, rounds == 1 ? "" : "s");
  const Workload& workload = comparison.workload;
  std::string text = styled(format_command(workload.command), Style::kHeading, colour) + "\n";
  if (workload.load) text += fmt::format("under {}\n", format_command(workload.load->command));
  text += fmt::format("{}{}\n\n", measured, interrupted_by != 0 ? ", interrupted" : "");
  if (const Figures figures = compared_in(comparison); !figures.contenders.empty()) {
    text += standing_lines(figures) + "\n" + bars_of(figures) + tables_of(figures, colour);
    text += styled(legend(comparison) + output_line(comparison), Style::kFaint, colour);
  }
  return text + failure_report(contenders_of(comparison.contenders), colour);
}

std::string suite_report(const ComparisonResults& results, Colour colour) {
  std::string text = results.interrupted_by != 0 ? "interrupted: what was measured until then\n\n" : "";
  const std::vector<SuiteTable> tables = suite_tables(results, false), small = suite_tables(results, true);
  for (const SuiteTable& rows : tables) {
    text += table_of(rows).render(colour);
    if (const auto tarn = place_of_tarn(rows))
      text += standing_line(rows, *tarn) + variant_lines(rows, *tarn);
    text += "\n";
  }
  if (!small.empty()) text += small_table(small).render(colour) + "\n";
  if (tables.empty() && small.empty()) text += "Nothing was measured.\n";
  return text + failures_of(results, colour);
}

}  // namespace tarn::tool
