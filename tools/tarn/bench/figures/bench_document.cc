// Samples to figures, and to JSON and back.
#include "bench/figures/bench_document.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <csignal>
#include <filesystem>

#include "bench/figures/bench_figures.h"
#include "bench/rows/catalogue.h"
#include "report/results.h"
#include "system/files/files.h"
#include "system/files/usage_error.h"

namespace tarn::tool {
namespace fs = std::filesystem;
namespace {

constexpr const char* kResultOf = "tarn bench";

/// More digits than these tell nothing.
double to_six_digits(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double unit = std::pow(10, std::floor(std::log10(std::abs(value))) - 5);
  return unit >= 1 ? std::round(value / unit) * unit
                   : std::round(value * std::round(1 / unit)) / std::round(1 / unit);
}

/// Summaries of a figure beside the best and the system allocator's.
Json summary_json(const BenchDocument& document, const RowSamples& samples, const std::string& metric,
                  std::size_t contender) {
  Summary own, best, of_system;
  for (const RowEntry& entry : entries_of(samples, metric)) {
    if (entry.contender == contender) own = entry.own;
    if (entry.mark == Mark::kBest) best = entry.own;
    if (document.contenders[entry.contender].kind == ContenderKind::kSystem) of_system = entry.own;
  }
  Json json = compared_to_json(own, best, of_system);
  for (Json& value : json)
    if (value.is_number_float()) value = to_six_digits(value.get<double>());
  return json;
}

Json entry_json(const BenchDocument& document, const RowSamples& samples, std::size_t contender) {
  Json summary = Json::object();
  for (const std::string& metric : {samples.row.metric, std::string(kPeakMemory), std::string(kMemoryAfter)})
    if (summary_of(samples, contender, metric).count != 0)
      summary[metric] = summary_json(document, samples, metric, contender);
  return {{"name", document.contenders[contender].name},
          {"summary", std::move(summary)},
          {"runs", samples.runs.at(contender)}};
}

Json row_json(const BenchDocument& document, const RowSamples& samples) {
  const BenchRow& row = samples.row;
  Json allocators = Json::array();
  for (const auto& [contender, runs] : samples.runs)
    allocators.push_back(entry_json(document, samples, contender));
  return {{"row", row.name},
          {"series", row.series},
          {"bytes", row.bytes},
          {"threads", row.threads},
          {"cold", row.is_cold},
          {"metric", row.metric},
          {"allocators", std::move(allocators)}};
}

Json failure_json(const BenchFailure& failure) {
  Json json = {{"name", failure.contender}, {"group", failure.group}};
  json.update(to_json(failure.failure));
  return json;
}

/// Everything but the rows.
Json frame_of(const BenchDocument& document) {
  Json json = document.header;
  json["rounds_done"] = document.results.rounds_done;
  json["interrupted"] = document.results.interrupted_by != 0;
  json["few_rounds"] = Json::array();
  for (const RoundsOfRow& row : rows_of_few_rounds(document, kLeastRounds - 1))
    json["few_rounds"].push_back(fmt::format("{}: {}", row.where, row.least));
  json["allocators"] = Json::array();
  for (const DocumentContender& contender : document.contenders) {
    Json entry = {{"name", contender.name},
                  {"kind", name_of(contender.kind)},
                  {"synchronised", contender.is_synchronised},
                  {"version", contender.version},
                  {"library", nullptr}};
    if (!contender.library.empty()) entry["library"] = contender.library;
    json["allocators"].push_back(std::move(entry));
  }
  json["failures"] = Json::array();
  for (const BenchFailure& failure : document.results.failures)
    json["failures"].push_back(failure_json(failure));
  return json;
}

std::string one_line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// The object with the elements of its last member, an array, on lines of their own.
std::string with_lines(Json object, const char* last_member, const std::vector<std::string>& elements,
                       const std::string& line_begin) {
  object.erase(last_member);
  const std::string others = one_line(object);
  return fmt::format("{},\"{}\":[{}{}]}}", others.substr(0, others.size() - 1), last_member, line_begin,
                     fmt::join(elements, "," + line_begin));
}

/// A library's path; its name alone when it lies beside the tool.
std::string told(const std::string& library) {
  const fs::path path = library;
  return is_same_file(path.parent_path(), own_directory()) ? path.filename().string() : library;
}

std::size_t index_of(const BenchDocument& document, const std::string& name) {
  for (std::size_t i = 0; i < document.contenders.size(); ++i)
    if (document.contenders[i].name == name) return i;
  throw std::out_of_range("no allocator " + name);
}

/// \throws an exception of the JSON library for what tables and page will ask for and is not there
void require_header(const Json& json) {
  for (const char* key : {"library", "date", "rounds", "scale", "quick", "pinned"}) json.at(key);
  for (const char* key : {"cpu", "cores", "kernel", "glibc", "transparent_huge_pages"})
    json.at("machine").at(key);
  json.at("command").get<std::vector<std::string>>();
}

void read_frame(const Json& json, BenchDocument& document) {
  require_header(json);
  for (const auto& [key, value] : json.items())
    if (key != "groups" && key != "allocators" && key != "failures") document.header[key] = value;
  document.results.rounds_done = json.at("rounds_done");
  document.results.interrupted_by = json.at("interrupted").get<bool>() ? SIGINT : 0;
  for (const Json& entry : json.at("allocators"))
    document.contenders.push_back(
        {entry.at("name"), kind_of(entry.at("kind")), entry.at("version"),
         entry.at("library").is_null() ? "" : entry.at("library").get<std::string>(),
         entry.value("synchronised", true)});
  for (const Json& entry : json.at("failures"))
    document.results.failures.push_back(
        {entry.at("name"), entry.at("group"),
         Failure{entry.at("what"), entry.at("when"), entry.at("last_error_lines")}});
}

void read_groups(const Json& json, BenchDocument& document) {
  for (const Json& group : json.at("groups")) {
    GroupSamples& samples = document.results.groups.emplace_back();
    samples.name = group.at("group");
    if (find_group(samples.name) == nullptr) throw std::out_of_range("no group " + samples.name);
    for (const Json& row : group.at("rows")) {
      RowSamples& of_row = samples.rows.emplace_back();
      of_row.row = row_from(samples.name, row);
      for (const Json& entry : row.at("allocators"))
        of_row.runs[index_of(document, entry.at("name"))] = entry.at("runs").get<std::vector<Json>>();
    }
  }
}

}  // namespace

BenchDocument document_of(const BenchPlan& plan, BenchResults results, Json header) {
  BenchDocument document = {.header = std::move(header), .results = std::move(results)};
  for (const BenchContender& contender : plan.contenders)
    document.contenders.push_back({contender.name, contender.kind, contender.version, told(contender.library),
                                   contender.is_synchronised});
  return document;
}

Json to_json(const BenchDocument& document) {
  Json json = frame_of(document);
  json["groups"] = Json::array();
  for (const GroupSamples& group : document.results.groups) {
    Json rows = Json::array();
    for (const RowSamples& samples : group.rows) rows.push_back(row_json(document, samples));
    json["groups"].push_back({{"group", group.name}, {"rows", std::move(rows)}});
  }
  return json;
}

std::string text_of(const BenchDocument& document) {
  std::string text = text_of(frame_of(document));
  text.erase(text.find_last_of('}') - 1);  // and the line end before it
  const Json json = to_json(document);
  std::vector<std::string> groups;
  for (const Json& group : json["groups"]) {
    std::vector<std::string> rows;
    for (const Json& row : group["rows"]) {
      std::vector<std::string> allocators;
      for (const Json& allocator : row["allocators"]) allocators.push_back(one_line(allocator));
      rows.push_back(with_lines(row, "allocators", allocators, "\n   "));
    }
    groups.push_back(with_lines(group, "rows", rows, "\n  "));
  }
  return text + fmt::format(",\n  \"groups\": [\n {}]\n}}\n", fmt::join(groups, ",\n "));
}

BenchDocument document_from(const Json& written, const std::string& file) {
  const Json json = with_present_head(written);
  BenchDocument document;
  try {
    if (json.value("schema", "") != kResultOf) throw std::out_of_range("schema is another command's");
    read_frame(json, document);
    read_groups(json, document);
  } catch (const std::exception& error) {
    throw UsageError(fmt::format("{} is no result of `tarn bench`: {}", file, error.what()));
  }
  return document;
}

}  // namespace tarn::tool
