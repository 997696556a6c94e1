// Tables and text of a benchmark run.
#include "bench/figures/bench_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tarn::tool {
namespace {

struct MeanColumn {
  std::string title;
  bool is_speed;  // of times; of memory it is a multiple of the least
  std::vector<Mean> means;
};

/// A group's name without its source's: "single" of "000_single".
std::string short_name(const std::string& group, const std::string& source) {
  return group.starts_with(source + "_") ? group.substr(source.size() + 1) : group;
}

/// Of a source's groups, then memory of all of them.
std::vector<MeanColumn> columns_of(const std::vector<const GroupSamples*>& groups,
                                   const std::string& source) {
  std::vector<MeanColumn> columns;
  for (const GroupSamples* group : groups)
    columns.push_back(
        {short_name(group->name, source), is_of_times(*find_group(group->name)), means_of(rows_of({group}))});
  if (groups.empty()) return columns;
  columns.push_back({"peak", false, means_of(rows_of(groups), kPeakMemory)});
  columns.push_back({"after", false, means_of(rows_of(groups), kMemoryAfter)});
  return columns;
}

/// "1.23", the best marked with a star, means over fewer rows than others with a tilde.
Cell cell_of(const MeanColumn& column, std::size_t contender) {
  const Mean* const mean = find_of(column.means, contender);
  if (mean == nullptr) return {};
  const double value = column.is_speed ? mean->speed() : mean->times_the_best;
  const char mark = mean->is_best ? '*' : mean->is_partial ? '~' : ' ';
  const char* const format = value < 0.1 ? "{:.2g} {}" : value < 100 ? "{:.2f} {}" : "{:.0f} {}";
  return {fmt::format(fmt::runtime(format), value, mark), mean->is_best ? Style::kGood : Style::kPlain};
}

/// "tarn: 1.52 times as fast as the best other malloc of each row, on average; worst 0.62, 001_8192 cold"
std::string standing_line(const BenchDocument& document, std::size_t contender,
                          const std::vector<const GroupSamples*>& groups) {
  const DocumentContender& own = document.contenders[contender];
  const MeanRatio standing = standing_of(document, contender, groups);
  if (standing.count() == 0) return {};
  const char* const rivals = own.kind != ContenderKind::kTarnPool ? "malloc"
                             : own.is_synchronised                ? "malloc or synchronised pool"
                                                                  : "malloc or unsynchronised pool";
  return fmt::format("{}: {}, on average; worst {:.2f}, {}\n", own.name,
                     words_on(standing, fmt::format("the best other {} of each row", rivals)),
                     standing.worst_speed(), standing.worst_row());
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

/// "12.34 ±3% *"
Cell row_cell(const RowEntry& entry) {
  const std::string spread = entry.own.count > 1 ? fmt::format(" ±{:.0f}%", entry.own.spread_percent()) : "";
  return {fmt::format("{:.4g}{} {}", entry.own.median, spread, sign_of(entry.mark)), style_of(entry.mark)};
}

/// \param metric of the rows; empty: the one that each compares
std::string rows_of_group(const BenchDocument& document, const GroupSamples& group, const std::string& metric,
                          Colour colour) {
  const GroupInfo& info = *find_group(group.name);
  const std::vector<std::size_t> contenders = contenders_in(rows_of({&group}));
  std::vector<Column> columns = {{metric.empty() ? group.name : metric, Alignment::kLeft}};
  for (const std::size_t contender : contenders)
    columns.push_back({document.contenders[contender].name + "  "});
  Table table(std::move(columns));
  for (const RowSamples& samples : group.rows) {
    const std::vector<RowEntry> entries = entries_of(samples, metric.empty() ? samples.row.metric : metric);
    if (entries.empty()) continue;
    std::vector<Cell> cells = {{samples.row.name}};
    for (const std::size_t contender : contenders) {
      const RowEntry* const entry = find_of(entries, contender);
      cells.push_back(entry == nullptr ? Cell() : row_cell(*entry));
    }
    table.add_row(std::move(cells));
  }
  if (!metric.empty()) return "\n" + table.render(colour);
  const char* const figure = is_of_times(info) ? "ns per " : "";
  return fmt::format("\n{}: {}{}\n", title_of(info, group.name), figure, info.operation) +
         table.render(colour);
}

std::string source_section(const BenchDocument& document, const SourceInfo& source, BenchDetail detail,
                           Colour colour) {
  const std::vector<const GroupSamples*> groups = groups_of_source(document, source.id);
  const Table table = source_table(document, source.id);
  if (table.is_empty()) return {};
  std::string text = styled(fmt::format("{}  {}", source.id, source.title), Style::kHeading, colour) + "\n" +
                     table.render(colour);
  for (const std::size_t contender : contenders_in(rows_of(groups)))
    if (is_ours(document.contenders[contender].kind)) text += standing_line(document, contender, groups);
  if (const std::string words = words_on_designs(document, source); !words.empty())
    text += fmt::format(
        "Published: {}\nMeasured, as means over the rows, then from the least to the most over the block "
        "sizes:\n{}",
        source.claim, words);
  if (detail == BenchDetail::kRows)
    for (const GroupSamples* group : groups) {
      text += rows_of_group(document, *group, {}, colour);
      for (const std::string& metric : details_of(*group))
        text += rows_of_group(document, *group, metric, colour);
    }
  return text + "\n";
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
    "RSS since the row began, after when its\nblocks are freed. * the best of a column, ~ a mean over fewer "
    "rows than others have. Differences below the noise of a\nrow are told by --rows (=).\n";

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
                     "Each sample of a warm row rests on {} rounds of its workload or more; a cold row's is "
                     "the first round of a process.\n",
                     kLeastRounds);
  std::string text = fmt::format(
      "{} figures rest on fewer than {} rounds of their workload; --scale gives them more time:\n",
      few.size(), kLeastRounds);
  for (std::size_t i = 0; i < std::min(few.size(), kShown); ++i)
    text += fmt::format("    {}: {}\n", few[i].where, few[i].least);
  return text;
}

}  // namespace

Table source_table(const BenchDocument& document, const std::string& source) {
  const std::vector<const GroupSamples*> groups = groups_of_source(document, source);
  const std::vector<MeanColumn> columns = columns_of(groups, source);
  std::vector<Column> headings = {{"", Alignment::kLeft}};
  for (const MeanColumn& column : columns) headings.push_back({column.title + "  "});
  Table table(std::move(headings));
  const auto first_of_memory =
      std::find_if(columns.begin(), columns.end(), [](const MeanColumn& column) { return !column.is_speed; });
  const auto speed_count = static_cast<std::size_t>(first_of_memory - columns.begin());
  std::vector<ColumnGroup> over = {{"", 1}};
  if (speed_count != 0) over.push_back({"speed", speed_count});
  over.push_back({"memory, less is better", columns.size() - speed_count});
  table.set_groups(std::move(over));
  for (const std::size_t contender : contenders_in(rows_of(groups))) {
    std::vector<Cell> row = {{document.contenders[contender].name, Style::kHeading}};
    for (const MeanColumn& column : columns) row.push_back(cell_of(column, contender));
    table.add_row(std::move(row));
  }
  return table;
}

std::string bench_report(const BenchDocument& document, BenchDetail detail, Colour colour) {
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
  for (const auto& [contender, group, failure] : document.results.failures)
    text += failure_paragraph(contender, failure, colour, group.empty() ? " everywhere" : " in " + group);
  return text;
}

}  // namespace tarn::tool
