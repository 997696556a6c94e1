// Tables and text of a benchmark run.
#include "bench/bench_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/catalogue.h"

namespace tarn::tool {
namespace {

struct MeanCell {
  std::size_t contender;
  std::optional<double> mean;
  bool is_partial;  // not all rows of the group
};

/// The column of a group, or of all of a source's groups.
std::vector<MeanCell> column_of(const std::vector<const GroupSamples*>& groups,
                                const std::vector<std::size_t>& contenders, const std::string& metric) {
  std::vector<MeanCell> cells;
  std::vector<std::size_t> counts;
  for (const std::size_t contender : contenders) {
    std::vector<double> ratios;
    for (const GroupSamples* group : groups)
      for (const double ratio : ratios_in(*group, contender, metric)) ratios.push_back(ratio);
    cells.push_back({contender, geometric_mean(ratios), false});
    counts.push_back(ratios.size());
  }
  for (std::size_t i = 0; i < cells.size(); ++i)
    cells[i].is_partial = counts[i] < *std::max_element(counts.begin(), counts.end());
  return cells;
}

/// "1.23", the best marked with a star, means over fewer rows than others with a tilde.
Cell cell_of(const MeanCell& cell, double best) {
  if (!cell.mean) return {"", Style::kPlain};
  const bool is_best = *cell.mean == best && !cell.is_partial;
  const char mark = is_best ? '*' : cell.is_partial ? '~' : ' ';
  const char* const format = *cell.mean < 100 ? "{:.2f} {}" : "{:.0f} {}";
  return {fmt::format(fmt::runtime(format), *cell.mean, mark), is_best ? Style::kGood : Style::kPlain};
}

double best_of(const std::vector<MeanCell>& column) {
  double best = HUGE_VAL;
  for (const MeanCell& cell : column)
    if (cell.mean && !cell.is_partial) best = std::min(best, *cell.mean);
  return best;
}

std::vector<std::size_t> contenders_in(const BenchDocument& document,
                                       const std::vector<const GroupSamples*>& groups) {
  std::vector<std::size_t> found;
  for (std::size_t contender = 0; contender < document.contenders.size(); ++contender)
    if (std::any_of(groups.begin(), groups.end(), [&](const GroupSamples* group) {
          return std::any_of(group->rows.begin(), group->rows.end(),
                             [&](const RowSamples& samples) { return samples.runs.count(contender) != 0; });
        }))
      found.push_back(contender);
  return found;
}

/// A group's name without its source's: "single" of "000_single".
std::string short_name(const std::string& group, const std::string& source) {
  return group.starts_with(source + "_") ? group.substr(source.size() + 1) : group;
}

bool is_other_malloc(ContenderKind kind) {
  return kind == ContenderKind::kSystem || kind == ContenderKind::kGeneral;
}
bool is_other(ContenderKind kind) { return !is_ours(kind); }

/// "tarn: 1.52 times as fast as the best other malloc of each row, on average; worst 0.62, 001_8192 cold"
std::string standing_line(const BenchDocument& document, std::size_t contender,
                          const std::vector<const GroupSamples*>& groups) {
  const ContenderKind kind = document.contenders[contender].kind;
  const bool is_pool = kind == ContenderKind::kTarnPool;
  const auto standing = standing_of(document, contender, groups, is_pool ? is_other : is_other_malloc);
  if (!standing) return {};
  return fmt::format(
      "{}: {:.2f} times as fast as the best other {} of each row, on average; worst {:.2f}, {}\n",
      document.contenders[contender].name, standing->mean, is_pool ? "way to allocate" : "malloc",
      standing->worst, standing->worst_row);
}

std::optional<std::size_t> find_contender(const BenchDocument& document, const char* name) {
  for (std::size_t i = 0; i < document.contenders.size(); ++i)
    if (document.contenders[i].name == name) return i;
  return std::nullopt;
}

/// "source-000, this design: 1.43 times as fast as vector (worst row 0.90). Beside source-000: tarn 1.90
/// (1.10), tarn-inline 2.51 (1.30)."
std::string design_line(const BenchDocument& document, const SourceInfo& source, std::size_t design,
                        const std::vector<const GroupSamples*>& groups) {
  const std::string& name = document.contenders[design].name;
  std::string text = name + ", this design";
  const std::optional<std::size_t> compared = find_contender(document, source.compared_with);
  if (const auto standing = compared ? standing_beside(design, groups, *compared) : std::nullopt)
    text += fmt::format(": {:.2f} times as fast as {} (worst row {:.2f})", standing->mean,
                        source.compared_with, standing->worst);
  std::string ours;
  for (std::size_t i = 0; i < document.contenders.size(); ++i) {
    if (!is_ours(document.contenders[i].kind)) continue;
    if (const auto standing = standing_beside(i, groups, design))
      ours += fmt::format("{} {} {:.2f} ({:.2f})", ours.empty() ? "" : ",", document.contenders[i].name,
                          standing->mean, standing->worst);
  }
  return text + (ours.empty() ? "." : fmt::format(". Beside {}:{}.", name, ours)) + "\n";
}

std::string rows_of_group(const BenchDocument& document, const GroupSamples& group, Colour colour) {
  const GroupInfo& info = *find_group(group.name);
  const std::vector<std::size_t> contenders = contenders_in(document, {&group});
  std::vector<Column> columns = {{group.name, Alignment::kLeft}};
  for (const std::size_t contender : contenders)
    columns.push_back({document.contenders[contender].name + "  "});
  Table table(std::move(columns));
  for (const RowSamples& samples : group.rows) {
    std::vector<Cell> cells(contenders.size() + 1);
    cells[0] = {samples.row.name, Style::kPlain};
    for (const RowEntry& entry : entries_of(samples)) {
      const auto place =
          std::find(contenders.begin(), contenders.end(), entry.contender) - contenders.begin();
      const char mark = entry.is_best ? '*' : entry.is_equal ? '=' : ' ';
      const std::string spread =
          entry.own.count > 1 ? fmt::format(" ±{:.0f}%", entry.own.spread_percent()) : "";
      cells[static_cast<std::size_t>(place) + 1] = {
          fmt::format("{:.4g}{} {}", entry.own.median, spread, mark),
          entry.is_best || entry.is_equal ? Style::kGood : Style::kPlain};
    }
    table.add_row(std::move(cells));
  }
  const std::string figure = std::string(info.unit) == "ns" ? "ns per " : "";
  return fmt::format("\n{}: {}{}\n", title_of(info, group.name), figure, info.operation) +
         table.render(colour);
}

std::string source_section(const BenchDocument& document, const SourceInfo& source, Detail detail,
                           Colour colour) {
  const std::vector<const GroupSamples*> groups = groups_of_source(document, source.id);
  const Table table = source_table(document, source.id);
  if (table.is_empty()) return {};
  std::string text = styled(fmt::format("{}  {}", source.id, source.title), Style::kHeading, colour) + "\n" +
                     table.render(colour);
  for (const std::size_t contender : contenders_in(document, groups))
    if (is_ours(document.contenders[contender].kind)) text += standing_line(document, contender, groups);
  if (const std::string words = words_on_designs(document, source); !words.empty())
    text += fmt::format("Published: {}\nMeasured, as means over the rows:\n{}", source.claim, words);
  if (detail == Detail::kRows)
    for (const GroupSamples* group : groups) text += rows_of_group(document, *group, colour);
  return text + "\n";
}

std::string failure_text(const BenchFailure& failure, Colour colour) {
  const std::string where = failure.group.empty() ? "everywhere" : "in " + failure.group;
  std::string text =
      fmt::format("{} {}: {} ({})\n", styled("FAILED " + failure.contender, Style::kBad, colour), where,
                  failure.failure.what, failure.failure.when);
  for (const std::string& line : failure.failure.error_lines) text += "    " + line + "\n";
  return text;
}

std::string heading(const BenchDocument& document) {
  const Json& header = document.header;
  const Json& machine = header.at("machine");
  std::string text =
      fmt::format("{}, {} cores, {}, glibc {}, huge pages {}, governor {}, load {:.1f} at the start\n",
                  machine.at("cpu").get<std::string>(), machine.at("cores").get<int>(),
                  machine.at("kernel").get<std::string>(), machine.at("glibc").get<std::string>(),
                  machine.at("transparent_huge_pages").get<std::string>(),
                  machine.value("governor", "unknown"), machine.value("load_at_start", 0.0));
  text += fmt::format("{} of {} rounds, scale {:g}{}\n\n", document.results.rounds_done,
                      header.at("rounds").get<int>(), header.at("scale").get<double>(),
                      document.results.interrupted_by != 0 ? ", interrupted" : "");
  return text;
}

constexpr const char* kLegend =
    "Ratios of medians to the best of each row (1.00), geometric means over a group's rows; less is better.\n"
    "* the best of a column, ~ a mean over fewer rows than others have. memory: peak RSS against the leanest "
    "of each\n"
    "row, after: RSS when the blocks are freed. Differences below the noise of a row are told by --rows "
    "(=).\n";

}  // namespace

std::string words_on_designs(const BenchDocument& document, const SourceInfo& source) {
  if (source.compared_with == nullptr) return {};
  const std::vector<const GroupSamples*> groups = groups_of_source(document, source.id);
  const std::string name = fmt::format("source-{}", source.id);
  std::string text;
  for (const std::size_t contender : contenders_in(document, groups))
    if (document.contenders[contender].name.starts_with(name))
      text += design_line(document, source, contender, groups);
  return text;
}

Table source_table(const BenchDocument& document, const std::string& source) {
  const std::vector<const GroupSamples*> groups = groups_of_source(document, source);
  const std::vector<std::size_t> contenders = contenders_in(document, groups);
  std::vector<Column> columns = {{"", Alignment::kLeft}};
  std::vector<std::vector<MeanCell>> cells;
  for (const GroupSamples* group : groups) {
    columns.push_back({short_name(group->name, source) + "  "});
    cells.push_back(column_of({group}, contenders, {}));
  }
  columns.push_back({"memory  "});
  cells.push_back(column_of(groups, contenders, kPeakMemory));
  columns.push_back({"after  "});
  cells.push_back(column_of(groups, contenders, kMemoryAfter));
  Table table(std::move(columns));
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    std::vector<Cell> row = {{document.contenders[contenders[i]].name, Style::kHeading}};
    for (const std::vector<MeanCell>& column : cells) row.push_back(cell_of(column[i], best_of(column)));
    table.add_row(std::move(row));
  }
  return table;
}

std::string bench_report(const BenchDocument& document, Detail detail, Colour colour) {
  std::string text = heading(document);
  bool has_table = false;
  for (const SourceInfo& source : bench_sources()) {
    const std::string section = source_section(document, source, detail, colour);
    has_table = has_table || !section.empty();
    text += section;
  }
  text += has_table ? styled(kLegend, Style::kFaint, colour) : "Nothing was measured.\n";
  for (const BenchFailure& failure : document.results.failures) text += failure_text(failure, colour);
  return text;
}

}  // namespace tarn::tool
