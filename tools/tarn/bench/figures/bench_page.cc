// The page: what it comes to, an overview of all groups, then a section per source and one per group.
#include "bench/figures/bench_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/figures/bench_figures.h"
#include "bench/figures/bench_report.h"
#include "bench/figures/group_figures.h"
#include "bench/rows/catalogue.h"
#include "page/page_document.h"
#include "system/figures/format.h"

namespace tarn::tool {
namespace {

/// A contender beside the best of each row, as a mean over the rows it ran in.
struct Mean {
  std::size_t contender;
  double times_the_best;  // of its figure: 1 or more
  std::size_t row_count;
  bool is_partial;  // fewer rows than others
  bool is_best = false;

  double speed() const { return 1 / times_the_best; }
};

/// By contender, of what the rows compare, or of another figure.
std::vector<Mean> means_of(const std::vector<const RowSamples*>& rows, const std::string& metric = {}) {
  std::map<std::size_t, std::vector<double>> ratios;
  for (const RowSamples* row : rows) {
    std::vector<RowEntry> entries = entries_of(*row, metric.empty() ? row->row.metric : metric);
    std::erase_if(entries, [](const RowEntry& entry) { return entry.own.median <= 0; });
    double best = HUGE_VAL;
    for (const RowEntry& entry : entries) best = std::min(best, entry.own.median);
    for (const RowEntry& entry : entries) ratios[entry.contender].push_back(entry.own.median / best);
  }
  std::size_t most = 0;
  for (const auto& [contender, own] : ratios) most = std::max(most, own.size());
  std::vector<Mean> means;
  for (const auto& [contender, own] : ratios)
    means.push_back({contender, *geometric_mean(own), own.size(), own.size() < most});
  double best = HUGE_VAL;
  for (const Mean& mean : means)
    if (!mean.is_partial) best = std::min(best, mean.times_the_best);
  for (Mean& mean : means) mean.is_best = !mean.is_partial && mean.times_the_best == best;
  return means;
}

bool is_pool(ContenderKind kind) {
  return kind == ContenderKind::kPool || kind == ContenderKind::kTarnPool ||
         kind == ContenderKind::kTarnPreset;
}
std::vector<const GroupSamples*> groups_with_figures(const BenchDocument& document,
                                                     const SourceInfo& source) {
  std::vector<const GroupSamples*> groups = groups_of_source(document, source.id);
  std::erase_if(groups, [](const GroupSamples* group) { return rows_of({group}).empty(); });
  return groups;
}

std::vector<const GroupSamples*> all_groups(const BenchDocument& document) {
  std::vector<const GroupSamples*> groups;
  for (const SourceInfo& source : bench_sources())
    for (const GroupSamples* group : groups_with_figures(document, source)) groups.push_back(group);
  return groups;
}

std::string title_of(const GroupSamples& group) { return title_of(*find_group(group.name), group.name); }

/// A source's number, if it is a document's, and its title.
std::string title_of(const SourceInfo& source) {
  const bool is_our_own = std::string(source.id).starts_with("ours");
  return is_our_own ? source.title : fmt::format("{}: {}", source.id, source.title);
}

std::string link_of(const GroupSamples& group) { return "group-" + group.name; }

PageCell head_of(const BenchDocument& document, std::size_t contender) {
  return {.text = document.contenders[contender].name, .contender = contender};
}

/// Two digits that tell something: "0.85", "0.0012".
std::string share_text(double share) {
  return share < 0.0995 ? fmt::format("{:.2g}", share) : fmt::format("{:.2f}", share);
}

PageCell mean_cell(const std::vector<Mean>& means, std::size_t contender) {
  const auto mean =
      std::find_if(means.begin(), means.end(), [&](const Mean& one) { return one.contender == contender; });
  if (mean == means.end()) return {"–", Mark::kNone};
  PageCell cell = {fmt::format("{}{}", share_text(mean->speed()), mean->is_partial ? "†" : ""),
                   mean->is_best ? Mark::kBest : Mark::kPlain};
  if (mean->is_partial) cell.note = fmt::format("ran in {} rows", mean->row_count);
  return cell;
}

/// A line per group, a column per contender that takes the place of malloc.
PageTable overview_table(const BenchDocument& document) {
  PageTable table = {"Speed beside the best of each row; more is better", {}, {}, {{"group"}}, {}};
  for (const std::size_t contender : contenders_in(rows_of(all_groups(document))))
    if (!is_pool(document.contenders[contender].kind)) table.heads.push_back(head_of(document, contender));
  for (const SourceInfo& source : bench_sources()) {
    const std::vector<const GroupSamples*> groups = groups_with_figures(document, source);
    if (!groups.empty()) table.rows.push_back({{{title_of(source)}}});
    for (const GroupSamples* group : groups) {
      const std::vector<Mean> means = means_of(rows_of({group}));
      PageTable::Row row = {{{.text = title_of(*group), .link = link_of(*group)}}};
      for (std::size_t i = 1; i < table.heads.size(); ++i)
        row.cells.push_back(mean_cell(means, *table.heads[i].contender));
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

bool has_pool(const BenchDocument& document, const GroupSamples& group) {
  const std::vector<std::size_t> contenders = contenders_in(rows_of({&group}));
  return std::any_of(contenders.begin(), contenders.end(),
                     [&](std::size_t contender) { return is_pool(document.contenders[contender].kind); });
}

/// A line per contender, since there are many, and a column per group in which a pool ran.
PageTable pools_table(const BenchDocument& document) {
  PageTable table = {"The same, where pools ran", {}, {}, {{"contender"}}, {}};
  std::vector<const GroupSamples*> groups = all_groups(document);
  std::erase_if(groups, [&](const GroupSamples* group) { return !has_pool(document, *group); });
  for (const std::size_t contender : contenders_in(rows_of(groups)))
    table.rows.push_back({{{document.contenders[contender].name}}, contender});
  for (const GroupSamples* group : groups) {
    const std::string source = find_group(group->name)->source;
    table.heads.push_back(
        {.text = source.starts_with("ours") ? title_of(*group) : source + ": " + title_of(*group),
         .link = link_of(*group)});
    const std::vector<Mean> means = means_of(rows_of({group}));
    for (PageTable::Row& row : table.rows) row.cells.push_back(mean_cell(means, *row.contender));
  }
  return table;
}

Section overview(const BenchDocument& document) {
  Section section = {.title = "Overview", .id = "overview"};
  section.notes = {
      "Each figure is a contender's speed as a share of the best of the row, the geometric mean over a "
      "group's rows: 1.00 is the best in every row, 0.50 takes twice the time (or memory, where that "
      "is what the group measures). Marked: the best of the group, pools included. †: ran in fewer "
      "rows than others, and is not marked."};
  section.parts.push_back(to_json(overview_table(document)));
  if (const PageTable pools = pools_table(document); !pools.rows.empty())
    section.parts.push_back(to_json(pools));
  return section;
}

Bars time_bars(std::vector<Mean> means, std::size_t row_count) {
  std::sort(means.begin(), means.end(), [](const Mean& a, const Mean& b) {
    return std::pair(a.is_partial, a.times_the_best) < std::pair(b.is_partial, b.times_the_best);
  });
  Bars bars = {.title = "Time",
               .note = fmt::format("Geometric mean over {} rows.", row_count),
               .axis = {"time, times the best of each row; less is better", "×"},
               .bars = {}};
  for (const Mean& mean : means)
    bars.bars.push_back({mean.contender,
                         {mean.times_the_best},
                         mean.is_partial ? fmt::format("in {} of the rows", mean.row_count) : ""});
  if (!means.empty() && means.back().is_partial)
    bars.note += " Below the others: what ran in only some of them.";
  return bars;
}

Scatter memory_against_time(const std::vector<Mean>& speeds, const std::vector<Mean>& memory) {
  Scatter scatter = {"Time against memory",
                     "Peak resident memory is that of the process. The lower left corner is best.",
                     {"time, times the best; less is better", "×", AxisScale::kLogarithmic},
                     {"memory, times the leanest; less is better", "×", AxisScale::kLogarithmic},
                     {}};
  for (const Mean& speed : speeds)
    for (const Mean& own : memory)
      if (own.contender == speed.contender)
        scatter.points.push_back({own.contender, speed.times_the_best, own.times_the_best, speed.is_partial});
  if (std::any_of(speeds.begin(), speeds.end(), [](const Mean& mean) { return mean.is_partial; }))
    scatter.note += " Hollow: ran in only some of the rows.";
  return scatter;
}

Section source_section(const BenchDocument& document, const SourceInfo& source) {
  Section section = {.title = title_of(source), .id = fmt::format("source-{}", source.id)};
  section.notes.emplace_back(source.compared_with == nullptr ? source.claim
                                                             : fmt::format("Published: {}", source.claim));
  if (const std::string words = words_on_designs(document, source); !words.empty())
    section.notes.push_back("Measured, as means over the rows: " + words);
  std::vector<const GroupSamples*> timed = groups_with_figures(document, source);
  std::erase_if(timed,
                [](const GroupSamples* group) { return find_group(group->name)->unit != std::string("ns"); });
  const std::vector<const RowSamples*> rows = rows_of(timed);
  if (rows.empty()) return section;
  const std::vector<Mean> speeds = means_of(rows);
  section.parts.push_back(to_json(time_bars(speeds, rows.size())));
  section.parts.push_back(to_json(memory_against_time(speeds, means_of(rows, kPeakMemory))));
  return section;
}

Section group_section(const BenchDocument& document, const GroupSamples& group) {
  const GroupInfo& info = *find_group(group.name);
  const char* const subject = info.unit == std::string("ns") ? "One operation is" : "Each figure is";
  Section section = {.title = title_of(group), .level = Level::kSub, .id = link_of(group)};
  section.notes = {fmt::format("{} {}.", subject, info.operation)};
  section.parts = figures_of_group(document, group);
  for (const Json& table : tables_of_group(document, group)) section.parts.push_back(table);
  return section;
}

const char* button_group_of(ContenderKind kind) {
  if (is_ours(kind)) return "tarn";
  return kind == ContenderKind::kPool ? "pools" : "malloc";
}

std::vector<PageContender> contenders_of(const BenchDocument& document) {
  std::vector<PageContender> contenders;
  for (const DocumentContender& one : document.contenders)
    contenders.push_back({one.name, is_ours(one.kind) ? Side::kOurs : Side::kOthers,
                          button_group_of(one.kind),
                          one.library.empty() ? one.version : one.version + ", preloaded"});
  return contenders;
}

Section contenders_section(const BenchDocument& document) {
  PageTable table = {{}, {}, {}, {{"name"}, {"what it is", Mark::kWords}}, {}};
  const std::vector<PageContender> contenders = contenders_of(document);
  for (std::size_t i = 0; i < contenders.size(); ++i)
    table.rows.push_back({{{contenders[i].name}, {contenders[i].what, Mark::kWords}}, i});
  Section section = {.title = "Contenders", .id = "contenders"};
  section.notes = {
      "Every figure is a median over rounds; thin lines through marks span the quartiles. The contenders "
      "took turns within a round. Only comparisons within this page mean anything: another machine "
      "gives other figures."};
  section.parts.push_back(to_json(table));
  return section;
}

std::optional<std::size_t> find_kind(const BenchDocument& document, ContenderKind kind) {
  for (std::size_t i = 0; i < document.contenders.size(); ++i)
    if (document.contenders[i].kind == kind) return i;
  return std::nullopt;
}

/// "tarn is 1.52 times as fast as glibc and 1.10 times as fast as the best other malloc of each row, as the
/// mean over 300 rows."
std::string sentence_of(const BenchDocument& document) {
  const std::optional<std::size_t> tarn = find_kind(document, ContenderKind::kTarn);
  if (!tarn) return {};
  const std::vector<const GroupSamples*> groups = all_groups(document);
  const auto beside_best = standing_of(document, *tarn, groups);
  if (!beside_best) return {};
  std::string text = document.contenders[*tarn].name + " is ";
  if (const auto system = find_kind(document, ContenderKind::kSystem))
    if (const auto beside_system = standing_beside(*tarn, groups, *system))
      text += words_on(*beside_system, document.contenders[*system].name) + " and ";
  return text + fmt::format("{}, as geometric means over {} rows (worst {:.2f}, {}).",
                            words_on(*beside_best, "the best other malloc of each row"),
                            beside_best->row_count, beside_best->worst, beside_best->worst_row);
}

std::string words_on_run(const BenchDocument& document) {
  const Json& header = document.header;
  const int rounds = document.results.rounds_done;
  std::string text = fmt::format("{} round{}, scale {:g}", rounds, rounds == 1 ? "" : "s, interleaved",
                                 header.at("scale").get<double>());
  if (header.at("pinned").get<bool>()) text += ", pinned to cores";
  return text + fmt::format(", {}, tarn {}", header.at("date").get<std::string>(),
                            header.at("tarn").get<std::string>());
}

std::vector<std::string> warnings_of(const BenchDocument& document) {
  std::vector<std::string> warnings;
  if (document.results.interrupted_by != 0)
    warnings.emplace_back(
        "The run was interrupted: rows it did not reach are missing, and others have fewer rounds.");
  if (document.header.at("quick").get<bool>())
    warnings.emplace_back("A quick run: fewer rows and rounds, for a first look only.");
  if (all_groups(document).empty()) warnings.emplace_back("There are no results.");
  return warnings;
}

std::vector<PageFailure> failures_of(const BenchDocument& document) {
  std::vector<PageFailure> failures;
  for (const BenchFailure& one : document.results.failures)
    failures.push_back({one.contender,
                        fmt::format("{}: {} ({})", one.group.empty() ? "everywhere" : "in " + one.group,
                                    one.failure.what, one.failure.when),
                        one.failure.error_lines});
  return failures;
}

}  // namespace

std::string bench_page(const BenchDocument& document) {
  PageDocument page = {.title = "Memory allocators compared", .sentence = sentence_of(document)};
  page.warnings = warnings_of(document);
  page.about = {words_on_machine(document.header.at("machine")), words_on_run(document)};
  page.command = format_command(document.header.at("command").get<std::vector<std::string>>());
  page.reading = {
      "Times are per operation, and less is better; a speed is the best time divided by the contender's, and "
      "more "
      "is better. In tables, green is the best of its column; the stronger the other colour, the further "
      "from it."};
  page.contenders = contenders_of(document);
  page.failures = failures_of(document);
  if (!all_groups(document).empty()) page.sections.push_back(overview(document));
  for (const SourceInfo& source : bench_sources()) {
    const std::vector<const GroupSamples*> groups = groups_with_figures(document, source);
    if (groups.empty()) continue;
    page.sections.push_back(source_section(document, source));
    for (const GroupSamples* group : groups) page.sections.push_back(group_section(document, *group));
  }
  page.sections.push_back(contenders_section(document));
  return page_text(page);
}

}  // namespace tarn::tool
