// The page's data, put into its frame. page/ holds the frame, its style and its script.
#include "bench/bench_page.h"

#include "bench/bench_report.h"
#include "bench/catalogue.h"
#include "bench_page_assets.h"
#include "page/page_text.h"
#include "system/format.h"

namespace tarn::tool {
namespace {

/// What the page shows beside a row's figure: medians of the program's further figures.
bool is_detail(const std::string& key, const RowSamples& samples) {
  return key != samples.row.metric && key != kPeakMemory && key != kMemoryAfter && key != "operations" &&
         key != "batches" && key != "timeline";
}

Json details_of(const RowSamples& samples, std::size_t contender) {
  Json details = Json::object();
  for (const auto& [key, value] : samples.runs.at(contender).front().items()) {
    if (is_detail(key, samples) && value.is_number())
      details[key] = summary_of(samples, contender, key).median;
  }
  return details;
}

Json entry_json(const RowSamples& samples, const RowEntry& entry) {
  Json json = {{"c", entry.contender},
               {"median", entry.own.median},
               {"low", entry.own.lower_quartile},
               {"high", entry.own.upper_quartile},
               {"best", entry.is_best},
               {"equal", entry.is_equal},
               {"peak", summary_of(samples, entry.contender, kPeakMemory).median},
               {"after", summary_of(samples, entry.contender, kMemoryAfter).median}};
  if (Json details = details_of(samples, entry.contender); !details.empty())
    json["details"] = std::move(details);
  const Json& first = samples.runs.at(entry.contender).front();
  if (const auto timeline = first.find("timeline"); timeline != first.end()) json["timeline"] = *timeline;
  return json;
}

Json group_json(const GroupSamples& group) {
  const GroupInfo& info = *find_group(group.name);
  Json rows = Json::array();
  for (const RowSamples& samples : group.rows) {
    Json results = Json::array();
    for (const RowEntry& entry : entries_of(samples)) results.push_back(entry_json(samples, entry));
    if (results.empty()) continue;
    rows.push_back({{"name", samples.row.name},
                    {"series", samples.row.series},
                    {"bytes", samples.row.bytes},
                    {"threads", samples.row.threads},
                    {"cold", samples.row.is_cold},
                    {"results", std::move(results)}});
  }
  return {{"name", group.name}, {"title", title_of(info, group.name)}, {"operation", info.operation},
          {"unit", info.unit},  {"axis", name_of(info.axis)},          {"rows", std::move(rows)}};
}

Json sources_json(const BenchDocument& document) {
  Json sources = Json::array();
  for (const SourceInfo& source : bench_sources()) {
    Json groups = Json::array();
    for (const GroupSamples* group : groups_of_source(document, source.id)) {
      Json json = group_json(*group);
      if (!json["rows"].empty()) groups.push_back(std::move(json));
    }
    if (groups.empty()) continue;
    sources.push_back({{"id", source.id},
                       {"title", source.title},
                       {"claim", source.claim},
                       {"measured", words_on_designs(document, source)},
                       {"groups", std::move(groups)}});
  }
  return sources;
}

Json failures_json(const BenchDocument& document) {
  Json failures = Json::array();
  for (const BenchFailure& one : document.results.failures)
    failures.push_back({{"contender", one.contender},
                        {"group", one.group},
                        {"what", one.failure.what},
                        {"when", one.failure.when},
                        {"lines", one.failure.error_lines}});
  return failures;
}

Json page_data(const BenchDocument& document) {
  const Json& header = document.header;
  Json contenders = Json::array();
  for (const DocumentContender& contender : document.contenders)
    contenders.push_back({{"name", contender.name},
                          {"kind", name_of(contender.kind)},
                          {"package", contender.version},
                          {"what", contender.library.empty() ? "" : "preloaded"}});
  return {{"tarn", header.at("tarn")},
          {"date", header.at("date")},
          {"command", format_command(header.at("command").get<std::vector<std::string>>())},
          {"rounds", document.results.rounds_done},
          {"scale", header.at("scale")},
          {"quick", header.at("quick")},
          {"pinned", header.at("pinned")},
          {"interrupted", document.results.interrupted_by != 0},
          {"machine", header.at("machine")},
          {"contenders", std::move(contenders)},
          {"failures", failures_json(document)},
          {"sources", sources_json(document)}};
}

}  // namespace

std::string bench_page(const BenchDocument& document) {
  return page_text({kPageFrame, kPageStyle, kPageScript}, page_data(document));
}

}  // namespace tarn::tool
