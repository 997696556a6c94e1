// Tables and text of a benchmark run.
#include "bench/figures/bench_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bench/rows/catalogue.h"
#include "engine/rounds/entry.h"

namespace tarn::tool {
namespace {

bool is_of_times(const GroupSamples& group) {
  return std::string(find_group(group.name)->unit) == kNanoseconds;
}

struct MeanCell {
  std::optional<double> mean;
  bool is_partial;  // not all rows of the group
};

struct MeanColumn {
  std::string title;
  Better better;                // of times the greatest ratio is the best one, of memory the least
  std::vector<MeanCell> cells;  // a contender each
};

/// The column of a group, or of all of a source's groups.
MeanColumn column_of(const std::string& title, const std::vector<const GroupSamples*>& groups,
                     const std::vector<std::size_t>& contenders, const std::string& metric) {
  const bool is_of_time = metric.empty() && is_of_times(*groups.front());
  MeanColumn column = {title, is_of_time ? Better::kMore : Better::kLess, {}};
  std::vector<std::size_t> counts;
  for (const std::size_t contender : contenders) {
    std::vector<double> ratios;
    for (const GroupSamples* group : groups)
      for (const double ratio : ratios_in(*group, contender, metric)) ratios.push_back(ratio);
    column.cells.push_back({geometric_mean(ratios), false});
    counts.push_back(ratios.size());
  }
  for (std::size_t i = 0; i < counts.size(); ++i)
    column.cells[i].is_partial = counts[i] < *std::max_element(counts.begin(), counts.end());
  return column;
}

/// "1.23", the best marked with a star, means over fewer rows than others with a tilde.
Cell cell_of(const MeanCell& cell, std::optional<double> best) {
  if (!cell.mean) return {"", Style::kPlain};
  const bool is_best = cell.mean == best && !cell.is_partial;
  const char mark = is_best ? '*' : cell.is_partial ? '~' : ' ';
  const char* const format = *cell.mean < 0.1 ? "{:.2g} {}" : *cell.mean < 100 ? "{:.2f} {}" : "{:.0f} {}";
  return {fmt::format(fmt::runtime(format), *cell.mean, mark), is_best ? Style::kGood : Style::kPlain};
}

std::optional<double> best_of(const MeanColumn& column) {
  std::optional<double> best;
  for (const MeanCell& cell : column.cells) {
    if (!cell.mean || cell.is_partial) continue;
    const bool is_better =
        !best || (column.better == Better::kLess ? *cell.mean < *best : *cell.mean > *best);
    if (is_better) best = cell.mean;
  }
  return best;
}

/// A group's name without its source's: "single" of "000_single".
std::string short_name(const std::string& group, const std::string& source) {
  return group.starts_with(source + "_") ? group.substr(source.size() + 1) : group;
}

/// "tarn: 1.52 times as fast as the best other malloc of each row, on average; worst 0.62, 001_8192 cold"
std::string standing_line(const BenchDocument& document, std::size_t contender,
                          const std::vector<const GroupSamples*>& groups) {
  const DocumentContender& own = document.contenders[contender];
  const auto standing = standing_of(document, contender, groups);
  if (!standing) return {};
  const char* const rivals = own.kind != ContenderKind::kTarnPool ? "malloc"
                             : own.is_synchronised                ? "malloc or synchronised pool"
                                                                  : "malloc or unsynchronised pool";
  return fmt::format("{}: {}, on average; worst {:.2f}, {}\n", own.name,
                     words_on(*standing, fmt::format("the best other {} of each row", rivals)),
                     standing->worst, standing->worst_row);
}

/// What the rows of a group hold in ns beside the figure that they compare: phases, least and greatest.
/// \why in a group of percentiles each row holds those of the others
std::vector<std::string> details_of(const GroupSamples& group) {
  std::vector<std::string> details;
  if (find_group(group.name)->axis == Axis::kPercentile) return details;
  for (const RowSamples& samples : group.rows)
    for (const auto& [contender, runs] : samples.runs)
      for (const auto& [name, value] : runs.front().items())
        if (name.ends_with("_ns") && std::find(details.begin(), details.end(), name) == details.end())
          details.push_back(name);
  return details;
}

/// \param metric of the rows; empty: the one that each compares
std::string rows_of_group(const BenchDocument& document, const GroupSamples& group, const std::string& metric,
                          Colour colour) {
  const GroupInfo& info = *find_group(group.name);
  const std::vector<std::size_t> contenders = contenders_in(document, {&group});
  std::vector<Column> columns = {{metric.empty() ? group.name : metric, Alignment::kLeft}};
  for (const std::size_t contender : contenders)
    columns.push_back({document.contenders[contender].name + "  "});
  Table table(std::move(columns));
  for (const RowSamples& samples : group.rows) {
    std::vector<Cell> cells(contenders.size() + 1);
    cells[0] = {samples.row.name, Style::kPlain};
    const std::vector<RowEntry> entries = entries_of(samples, metric.empty() ? samples.row.metric : metric);
    if (entries.empty()) continue;
    for (const RowEntry& entry : entries) {
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
  if (!metric.empty()) return "\n" + table.render(colour);
  const char* const figure = is_of_times(group) ? "ns per " : "";
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
    text += fmt::format(
        "Published: {}\nMeasured, as means over the rows, then from the least to the most over the block "
        "sizes:\n{}",
        source.claim, words);
  if (detail == Detail::kRows)
    for (const GroupSamples* group : groups) {
      text += rows_of_group(document, *group, {}, colour);
      for (const std::string& metric : details_of(*group))
        text += rows_of_group(document, *group, metric, colour);
    }
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
    "Speed beside the best of each row, geometric means over a group's rows: 1.00 is the best everywhere, "
    "0.80 is 0.8 times\nas fast. Memory as a multiple of the leanest of each row, less is better: peak is "
    "RSS "
    "since the row began, after when its\nblocks are freed. * the best of a column, ~ a mean over fewer rows "
    "than others have. Differences below the noise of a\nrow are told by --rows (=).\n";

std::string words_on_quick() {
  std::vector<const char*> waiting;
  for (const GroupInfo& group : bench_groups())
    if (waits_for_seconds(group.name)) waiting.push_back(group.name);
  return fmt::format(
      "--quick leaves out: of each axis of more than two values all but the first and the middle one, so the "
      "largest sizes and\nthe most threads; what waits for seconds ({}), unless --only names it.\n"
      "It ranks some mallocs the other way round than a whole run in: {}.\n",
      fmt::join(waiting, ", "), fmt::join(groups_quick_ranks_otherwise(), ", "));
}

/// How many rounds the figures rest on, and which rows want more time.
std::string words_on_rounds(const BenchDocument& document) {
  constexpr std::size_t kShown = 3;
  const std::vector<RoundsOfRow> few = rows_of_few_rounds(document, kLeastRounds - 1);
  if (few.empty())
    return rows_of_few_rounds(document, UINT64_MAX).empty()
               ? ""
               : fmt::format(
                     "Each sample of a warm row rests on {} rounds of its workload or more; a cold row's "
                     "is the first round of a process.\n",
                     kLeastRounds);
  std::string text = fmt::format(
      "{} figures rest on fewer than {} rounds of their workload; --scale gives "
      "them more time:\n",
      few.size(), kLeastRounds);
  for (std::size_t i = 0; i < std::min(few.size(), kShown); ++i)
    text += fmt::format("    {}: {}\n", few[i].where, few[i].least);
  return text;
}

}  // namespace

Table source_table(const BenchDocument& document, const std::string& source) {
  const std::vector<const GroupSamples*> groups = groups_of_source(document, source);
  const std::vector<std::size_t> contenders = contenders_in(document, groups);
  std::vector<MeanColumn> columns;
  for (const GroupSamples* group : groups)
    columns.push_back(column_of(short_name(group->name, source), {group}, contenders, {}));
  if (!groups.empty()) {
    columns.push_back(column_of("peak", groups, contenders, kPeakMemory));
    columns.push_back(column_of("after", groups, contenders, kMemoryAfter));
  }
  std::vector<Column> headings = {{"", Alignment::kLeft}};
  for (const MeanColumn& column : columns) headings.push_back({column.title + "  "});
  Table table(std::move(headings));
  const auto first_of_memory = std::find_if(columns.begin(), columns.end(), [](const MeanColumn& column) {
    return column.better == Better::kLess;
  });
  const auto speed_count = static_cast<std::size_t>(first_of_memory - columns.begin());
  std::vector<ColumnGroup> over = {{"", 1}};
  if (speed_count != 0) over.push_back({"speed", speed_count});
  over.push_back({"memory, less is better", columns.size() - speed_count});
  table.set_groups(std::move(over));
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    std::vector<Cell> row = {{document.contenders[contenders[i]].name, Style::kHeading}};
    for (const MeanColumn& column : columns) row.push_back(cell_of(column.cells[i], best_of(column)));
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
  if (!has_table) text += "Nothing was measured.\n";
  const std::string quick = document.header.at("quick").get<bool>() ? words_on_quick() : "";
  if (has_table) text += styled(kLegend + words_on_rounds(document) + quick, Style::kFaint, colour);
  for (const BenchFailure& failure : document.results.failures) text += failure_text(failure, colour);
  return text;
}

}  // namespace tarn::tool
