// Measurements as JSON: raw runs, their summaries, and the machine. The pieces serve every command that
// measures; docs/command.md says what the names of fields do not.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/rounds/entry.h"
#include "system/files/machine.h"

namespace tarn::tool {

using Json = nlohmann::ordered_json;

Json to_json(const Measurement& run);
Json to_json(const Summary& summary);
/// The same back: the summary of a figure of an allocator, with as many values as it has runs.
Summary summary_in(const Json& allocator, const std::string& key);
Json to_json(const Machine& machine);
Json to_json(const Failure& failure);
/// A contender's summary beside the best one of all contenders, and the system allocator's (count 0: it has
/// none).
Json compared_to_json(const Summary& own, const Summary& best, const Summary& of_system);

/// What every result file begins with: which command made it, with which version, where and when.
Json result_header(const std::string& command_name);

/// Text of a JSON value, without what may not be shown.
std::string text_of(const Json& json);

/// "s", "bytes" or "count".
const char* unit_of(Quantity quantity);

/// A contender: its library, failure, summaries and runs.
/// \param run_json gives the JSON of a run
template <class Run, class RunJson>
Json entry_json(const Entry<Run>& entry, const Entries<Run>& entries, const std::vector<Metric<Run>>& metrics,
                const RunJson& run_json) {
  Json json = {
      {"name", entry.allocator.name}, {"library", nullptr}, {"failure", nullptr}, {"summary", nullptr}};
  if (!entry.allocator.is_system()) json["library"] = entry.allocator.library;
  if (!entry.allocator.version.empty()) json["version"] = entry.allocator.version;
  if (!entry.allocator.arguments.empty()) json["arguments"] = entry.allocator.arguments;
  if (!entry.allocator.settings.empty()) json["settings"] = entry.allocator.settings;
  if (entry.failure) json["failure"] = to_json(*entry.failure);
  const Entry<Run>& first = entries.front();
  const bool has_system = first.allocator.is_system() && first.is_comparable();
  if (entry.is_comparable())
    for (const Metric<Run>& metric : metrics) {
      json["summary"][metric.key] = compared_to_json(entry.summary_of(metric), best_of(entries, metric),
                                                     has_system ? first.summary_of(metric) : Summary());
      json["summary"][metric.key]["unit"] = unit_of(metric.quantity);
      if (metric.better == Better::kMore) json["summary"][metric.key]["more_is_better"] = true;
    }
  json["runs"] = Json::array();
  for (const Run& run : entry.runs) json["runs"].push_back(run_json(run));
  return json;
}

template <class Run, class RunJson>
Json entries_json(const Entries<Run>& entries, const std::vector<Metric<Run>>& metrics,
                  const RunJson& run_json) {
  Json json = Json::array();
  for (const Entry<Run>& entry : entries) json.push_back(entry_json(entry, entries, metrics, run_json));
  return json;
}

}  // namespace tarn::tool
