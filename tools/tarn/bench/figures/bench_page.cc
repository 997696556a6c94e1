// The page: what it comes to, an overview of all groups, then a section per source and one per group.
#include <fmt/format.h>

#include <algorithm>

#include "bench/figures/bench_report.h"
#include "page/page_document.h"
#include "system/figures/format.h"

namespace tarn::tool {
namespace {

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

/// Two digits that tell something: "0.85", "0.0012".
std::string share_text(double share) {
  return share < 0.0995 ? fmt::format("{:.2g}", share) : fmt::format("{:.2f}", share);
}

Json mean_cell(const std::vector<Mean>& means, std::size_t contender) {
  const Mean* const mean = find_of(means, contender);
  if (mean == nullptr) return no_figure_cell();
  const std::string text = share_text(mean->speed());
  if (mean->is_partial)
    return page_cell(text + "†", Mark::kPlain, {{"note", fmt::format("ran in {} rows", mean->row_count)}});
  return page_cell(text, mean->is_best ? Mark::kBest : Mark::kPlain);
}

/// A line per group, a column per contender that takes the place of malloc.
Json overview_table(const BenchDocument& document) {
  std::vector<std::size_t> contenders = contenders_in(rows_of(all_groups(document)));
  std::erase_if(contenders, [&](std::size_t one) { return is_pool(document.contenders[one].kind); });
  Json heads = Json::array({"group"});
  for (const std::size_t contender : contenders)
    heads.push_back(page_cell(document.contenders[contender].name, Mark::kPlain, {{"c", contender}}));
  Json table = table_part("Speed beside the best of each row; more is better", {}, std::move(heads));
  for (const SourceInfo& source : bench_sources()) {
    const std::vector<const GroupSamples*> groups = groups_with_figures(document, source);
    if (!groups.empty()) table["rows"].push_back({{"head", title_of(source)}});
    for (const GroupSamples* group : groups) {
      const std::vector<Mean> means = means_of(rows_of({group}));
      Json cells = Json::array({page_cell(title_of(*group), Mark::kPlain, {{"link", link_of(*group)}})});
      for (const std::size_t contender : contenders) cells.push_back(mean_cell(means, contender));
      table["rows"].push_back(std::move(cells));
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
Json pools_table(const BenchDocument& document) {
  std::vector<const GroupSamples*> groups = all_groups(document);
  std::erase_if(groups, [&](const GroupSamples* group) { return !has_pool(document, *group); });
  Json heads = Json::array({"contender"});
  std::vector<std::vector<Mean>> columns;
  for (const GroupSamples* group : groups) {
    const std::string source = find_group(group->name)->source;
    const std::string title =
        source.starts_with("ours") ? title_of(*group) : source + ": " + title_of(*group);
    heads.push_back(page_cell(title, Mark::kPlain, {{"link", link_of(*group)}}));
    columns.push_back(means_of(rows_of({group})));
  }
  Json table = table_part("The same, where pools ran", {}, std::move(heads));
  for (const std::size_t contender : contenders_in(rows_of(groups))) {
    Json cells = Json::array({document.contenders[contender].name});
    for (const std::vector<Mean>& means : columns) cells.push_back(mean_cell(means, contender));
    table["rows"].push_back(contender_row(contender, std::move(cells)));
  }
  return table;
}

Json time_bars(std::vector<Mean> means, std::size_t row_count) {
  std::sort(means.begin(), means.end(), [](const Mean& a, const Mean& b) {
    return std::pair(a.is_partial, a.times_the_best) < std::pair(b.is_partial, b.times_the_best);
  });
  std::string note = fmt::format("Geometric mean over {} rows.", row_count);
  if (!means.empty() && means.back().is_partial) note += " Below the others: what ran in only some of them.";
  Json bars = bars_part("Time", note, page_axis("time, times the best of each row; less is better", "×"));
  for (const Mean& mean : means)
    add_bar(bars, mean.contender, {.median = mean.times_the_best},
            mean.is_partial ? fmt::format("in {} of the rows", mean.row_count) : "");
  return bars;
}

Json memory_against_time(const std::vector<Mean>& speeds, const std::vector<Mean>& memory) {
  std::string note = "Peak resident memory is that of the process. The lower left corner is best.";
  if (std::any_of(speeds.begin(), speeds.end(), [](const Mean& mean) { return mean.is_partial; }))
    note += " Hollow: ran in only some of the rows.";
  Json scatter =
      scatter_part("Time against memory", note,
                   page_axis("time, times the best; less is better", "×", AxisScale::kLogarithmic),
                   page_axis("memory, times the leanest; less is better", "×", AxisScale::kLogarithmic));
  for (const Mean& speed : speeds)
    if (const Mean* const own = find_of(memory, speed.contender))
      add_point(scatter, own->contender, speed.times_the_best, own->times_the_best,
                speed.is_partial ? Dot::kHollow : Dot::kFull);
  return scatter;
}

/// Two pictures of all that takes the place of malloc, then a table of groups for each kind.
Json overview(const BenchDocument& document) {
  Json section = page_section(
      "Overview", Level::kMain, "overview",
      Json::array({"Each figure is a contender's speed as a share of the best of the row, the geometric mean "
                   "over a group's rows: 1.00 is the best in every row, 0.50 takes twice the time (or "
                   "memory, where that is what the group measures). Marked: the best of the group, pools "
                   "included. †: ran in fewer rows than others, and is not marked."}));
  const auto only_mallocs = [&](std::vector<Mean> means) {
    std::erase_if(means, [&](const Mean& one) { return is_pool(document.contenders[one.contender].kind); });
    return means;
  };
  std::vector<const GroupSamples*> timed = all_groups(document);
  std::erase_if(timed, [](const GroupSamples* group) { return !is_of_times(*find_group(group->name)); });
  if (const std::vector<const RowSamples*> rows = rows_of(timed); !rows.empty()) {
    const std::vector<Mean> speeds = only_mallocs(means_of(rows));
    section["parts"].push_back(memory_against_time(speeds, means_of(rows, kPeakMemory)));
    section["parts"].push_back(time_bars(speeds, rows.size()));
  }
  section["parts"].push_back(overview_table(document));
  if (Json pools = pools_table(document); !pools["rows"].empty())
    section["parts"].push_back(std::move(pools));
  return section;
}

Json source_section(const BenchDocument& document, const SourceInfo& source) {
  Json notes = Json::array(
      {source.compared_with == nullptr ? source.claim : fmt::format("Published: {}", source.claim)});
  if (const std::string words = words_on_designs(document, source); !words.empty())
    notes.push_back("Measured, as means over the rows: " + words);
  Json section =
      page_section(title_of(source), Level::kMain, fmt::format("source-{}", source.id), std::move(notes));
  std::vector<const GroupSamples*> timed = groups_with_figures(document, source);
  std::erase_if(timed, [](const GroupSamples* group) { return !is_of_times(*find_group(group->name)); });
  const std::vector<const RowSamples*> rows = rows_of(timed);
  if (rows.empty()) return section;
  const std::vector<Mean> speeds = means_of(rows);
  section["parts"].push_back(time_bars(speeds, rows.size()));
  section["parts"].push_back(memory_against_time(speeds, means_of(rows, kPeakMemory)));
  return section;
}

Json group_section(const BenchDocument& document, const GroupSamples& group) {
  const GroupInfo& info = *find_group(group.name);
  const char* const subject = is_of_times(info) ? "One operation is" : "Each figure is";
  Json section = page_section(title_of(group), Level::kSub, link_of(group),
                              Json::array({fmt::format("{} {}.", subject, info.operation)}));
  section["parts"] = figures_of_group(document, group);
  for (Json& table : tables_of_group(document, group)) section["parts"].push_back(std::move(table));
  return section;
}

const char* button_group_of(ContenderKind kind) {
  if (is_ours(kind)) return "tarn";
  return kind == ContenderKind::kPool ? "pools" : "malloc";
}

Json contenders_of(const BenchDocument& document) {
  Json contenders = Json::array();
  for (const DocumentContender& one : document.contenders)
    contenders.push_back(page_contender(one.name, is_ours(one.kind) ? Side::kOurs : Side::kOthers,
                                        button_group_of(one.kind),
                                        one.library.empty() ? one.version : one.version + ", preloaded"));
  return contenders;
}

/// \param contenders of the page
Json contenders_section(const Json& contenders) {
  const auto in_words = [](const Json& text) { return Json{{"text", text}, {"mark", "words"}}; };
  Json table = table_part({}, {}, Json::array({"name", in_words("what it is")}));
  for (const Json& one : contenders)
    table["rows"].push_back(
        contender_row(table["rows"].size(), Json::array({one.at("name"), in_words(one.at("what"))})));
  Json section =
      page_section("Contenders", Level::kMain, "contenders",
                   Json::array({"Every figure is a median over rounds; thin lines through marks span the "
                                "quartiles. The contenders took turns within a round. Only comparisons "
                                "within this page mean anything: another machine gives other figures."}));
  section["parts"].push_back(std::move(table));
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
  const MeanRatio beside_best = standing_of(document, *tarn, groups);
  if (beside_best.count() == 0) return {};
  std::string text = document.contenders[*tarn].name + " is ";
  if (const auto system = find_kind(document, ContenderKind::kSystem))
    if (const MeanRatio beside_system = standing_beside(*tarn, groups, *system); beside_system.count() != 0)
      text += words_on(beside_system, document.contenders[*system].name) + " and ";
  return text + fmt::format("{}, as geometric means over {} rows (worst {:.2f}, {}).",
                            words_on(beside_best, "the best other malloc of each row"), beside_best.count(),
                            beside_best.worst_speed(), beside_best.worst_row());
}

std::string words_on_run(const BenchDocument& document) {
  const Json& header = document.header;
  const int rounds = document.results.rounds_done;
  std::string text = fmt::format("{} round{}, scale {:g}", rounds, rounds == 1 ? "" : "s, interleaved",
                                 header.at("scale").get<double>());
  if (header.at("pinned").get<bool>()) text += ", pinned to cores";
  return text + fmt::format(", {}, tarn {}", header.at("date").get<std::string>(),
                            header.at("library").get<std::string>());
}

Json warnings_of(const BenchDocument& document) {
  Json warnings = Json::array();
  if (document.results.interrupted_by != 0)
    warnings.push_back(
        "The run was interrupted: rows it did not reach are missing, and others have fewer rounds.");
  if (document.header.at("quick").get<bool>())
    warnings.push_back("A quick run: fewer rows and rounds, for a first look only.");
  if (all_groups(document).empty()) warnings.push_back("There are no results.");
  return warnings;
}

Json sections_of(const BenchDocument& document) {
  Json sections = Json::array();
  if (!all_groups(document).empty()) sections.push_back(overview(document));
  for (const SourceInfo& source : bench_sources()) {
    const std::vector<const GroupSamples*> groups = groups_with_figures(document, source);
    if (groups.empty()) continue;
    sections.push_back(source_section(document, source));
    for (const GroupSamples* group : groups) sections.push_back(group_section(document, *group));
  }
  return sections;
}

}  // namespace

std::string bench_page(const BenchDocument& document) {
  Json page = empty_page("Memory allocators compared");
  page["sentence"] = sentence_of(document);
  page["warnings"] = warnings_of(document);
  page["about"] = {words_on_machine(document.header.at("machine")), words_on_run(document)};
  page["command"] = format_command(document.header.at("command").get<std::vector<std::string>>());
  page["reading"].push_back(
      "Times are per operation, and less is better; a speed is the best time divided by the contender's, and "
      "more is better. In tables, green is the best of its column; the stronger the other colour, the "
      "further from it.");
  page["contenders"] = contenders_of(document);
  for (const auto& [contender, group, failure] : document.results.failures)
    page["failures"].push_back(page_failure(
        contender,
        fmt::format("{}: {} ({})", group.empty() ? "everywhere" : "in " + group, failure.what, failure.when),
        failure.error_lines));
  page["sections"] = sections_of(document);
  page["sections"].push_back(contenders_section(page["contenders"]));
  return page_text(page);
}

}  // namespace tarn::tool
