// Tables of a suite.
#include "compare/suite_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "report/failures.h"
#include "report/table.h"
#include "system/format.h"

namespace tarn::tool {
namespace {

using Programs = std::vector<const Comparison*>;
using ProgramMetric = Metric<ProgramRun>;

Programs programs_of(const ComparisonResults& results, bool is_small) {
  Programs programs;
  for (const Comparison& comparison : results.comparisons)
    if (comparison.workload.is_small == is_small && has_figures(comparison.contenders))
      programs.push_back(&comparison);
  return programs;
}

std::optional<double> median_of(const Comparison& program, std::size_t contender,
                                const ProgramMetric& metric) {
  const Entry<ProgramRun>& entry = program.contenders[contender];
  if (!entry.is_comparable()) return std::nullopt;
  return entry.summary_of(metric).median;
}

struct Standing {
  double mean = 0;  // geometric, over all programs
  double worst = 0;
  std::string worst_program;
};

/// Beside what `other_median` gives of each program; nothing if some program has no figure of one of them.
template <class OtherMedian>
std::optional<Standing> standing_of(const Programs& programs, std::size_t contender,
                                    const ProgramMetric& metric, const OtherMedian& other_median) {
  Standing standing;
  double sum = 0;
  for (const Comparison* program : programs) {
    const std::optional<double> own = median_of(*program, contender, metric), other = other_median(*program);
    if (!own || !other || *own == 0 || *other == 0) return std::nullopt;
    const double ratio = ratio_of(metric, *own, *other);
    sum += std::log(ratio);
    const bool is_worse =
        metric.quantity == Quantity::kSeconds ? ratio < standing.worst : ratio > standing.worst;
    if (standing.worst_program.empty() || is_worse) {
      standing.worst = ratio;
      standing.worst_program = program->workload.name;
    }
  }
  if (programs.empty()) return std::nullopt;
  standing.mean = std::exp(sum / static_cast<double>(programs.size()));
  return standing;
}

std::optional<Standing> beside(const Programs& programs, std::size_t contender, std::size_t other,
                               const ProgramMetric& metric) {
  return standing_of(programs, contender, metric,
                     [&](const Comparison& program) { return median_of(program, other, metric); });
}

/// The best figure of a program among the contenders that are not tarn.
std::optional<double> best_other(const Comparison& program, const std::string& tarn_library,
                                 const ProgramMetric& metric) {
  std::optional<double> best;
  for (std::size_t i = 0; i < program.contenders.size(); ++i) {
    if (program.contenders[i].allocator.library == tarn_library) continue;
    if (const auto median = median_of(program, i, metric); median && (!best || *median < *best))
      best = median;
  }
  return best;
}

Cell program_cell(const Comparison& program, std::size_t contender, const ProgramMetric& metric, Unit unit) {
  const Entry<ProgramRun>& entry = program.contenders[contender];
  if (!entry.is_comparable()) return {entry.failure ? "failed" : "-", Style::kBad};
  const Summary own = entry.summary_of(metric);
  return {format_in(unit, own.median),
          is_within_noise(own, best_of(program.contenders, metric)) ? Style::kGood : Style::kPlain};
}

/// "CPU time, ms" and the medians, then the means beside the system's allocator.
Table table_of(const Programs& programs, const ProgramMetric& metric) {
  const Entries<ProgramRun>& first = programs.front()->contenders;
  double largest = 0;
  for (const Comparison* program : programs)
    largest = std::max(largest, largest_of(program->contenders, metric));
  const Unit unit = unit_for(metric.quantity, largest);
  std::vector<Column> columns = {
      {*unit.name == 0 ? metric.title : fmt::format("{}, {}", metric.title, unit.name), Alignment::kLeft}};
  for (const Entry<ProgramRun>& entry : first) columns.push_back({entry.allocator.name});
  Table table(std::move(columns));
  for (const Comparison* program : programs) {
    std::vector<Cell> cells = {{program->workload.name}};
    for (std::size_t i = 0; i < first.size(); ++i) cells.push_back(program_cell(*program, i, metric, unit));
    table.add_row(std::move(cells));
  }
  std::vector<Cell> means = {
      {metric.quantity == Quantity::kSeconds ? "speed beside glibc, mean" : "times glibc's, mean",
       Style::kHeading}};
  for (std::size_t i = 0; i < first.size(); ++i) {
    const std::optional<Standing> standing = beside(programs, i, 0, metric);
    means.push_back({standing ? fmt::format("{:.3f}", standing->mean) : "", Style::kHeading});
  }
  table.add_row(std::move(means));
  return table;
}

/// "tarn beside the best other of each program: 0.97 times as fast, worst 0.81 (awk)"
std::string standing_line(const Programs& programs, const ProgramMetric& metric) {
  const Entries<ProgramRun>& first = programs.front()->contenders;
  const auto tarn = std::find_if(first.begin(), first.end(), [](const Entry<ProgramRun>& entry) {
    return entry.allocator.name == kTarnName;
  });
  if (tarn == first.end()) return {};
  const auto standing = standing_of(
      programs, static_cast<std::size_t>(tarn - first.begin()), metric,
      [&](const Comparison& program) { return best_other(program, tarn->allocator.library, metric); });
  if (!standing) return {};
  const char* const what = metric.quantity == Quantity::kSeconds ? "times as fast" : "times as much";
  return fmt::format("{} beside the best other of each program: {:.3f} {}, worst {:.2f} ({})\n", kTarnName,
                     standing->mean, what, standing->worst, standing->worst_program);
}

/// What settings change: a line for each variant.
std::string variant_lines(const Programs& programs, const ProgramMetric& metric) {
  const Entries<ProgramRun>& first = programs.front()->contenders;
  std::string text;
  for (std::size_t base = 0; base < first.size(); ++base) {
    if (first[base].allocator.name != kTarnName) continue;
    for (std::size_t i = 0; i < first.size(); ++i) {
      if (i == base || first[i].allocator.library != first[base].allocator.library) continue;
      if (const auto standing = beside(programs, i, base, metric))
        text += fmt::format("{} beside {}: {:.3f}, worst {:.2f} ({})\n", first[i].allocator.name, kTarnName,
                            standing->mean, standing->worst, standing->worst_program);
    }
  }
  return text;
}

/// Small programs: what is above the system's allocator, in all.
Table small_table(const Programs& programs) {
  Table table(
      {{"small programs", Alignment::kLeft}, {"wall, ms"}, {"to glibc"}, {"peak RSS, KiB"}, {"to glibc"}});
  for (const Comparison* program : programs)
    for (std::size_t i = 0; i < program->contenders.size(); ++i) {
      std::vector<Cell> cells = {
          {fmt::format("{}, {}", program->workload.name, program->contenders[i].allocator.name)}};
      const std::vector<ProgramMetric> metrics = metrics_of(program->workload);
      for (const auto& [place, unit] : {std::pair(0, 1e-3), std::pair(2, 1024.0)}) {
        const auto own = median_of(*program, i, metrics[place]),
                   base = median_of(*program, 0, metrics[place]);
        cells.push_back({own ? fmt::format("{:.3f}", *own / unit) : "failed"});
        cells.push_back({own && base ? fmt::format("{:+.3f}", (*own - *base) / unit) : ""});
      }
      table.add_row(std::move(cells));
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
  const Programs programs = programs_of(results, false), small = programs_of(results, true);
  if (!programs.empty())
    for (const ProgramMetric& metric : metrics_of(programs.front()->workload))
      text += table_of(programs, metric).render(colour) + standing_line(programs, metric) +
              variant_lines(programs, metric) + "\n";
  if (!small.empty()) text += small_table(small).render(colour) + "\n";
  if (programs.empty() && small.empty()) text += "Nothing was measured.\n";
  return text + failures_of(results, colour);
}

}  // namespace tarn::tool
