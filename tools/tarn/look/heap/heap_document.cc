#include "look/heap/heap_document.h"

#include <fmt/format.h>

#include <map>

#include "observer/objects/class_names.h"
#include "observer/text/printable.h"
#include "system/files/files.h"
#include "system/files/usage_error.h"
#include "tarn/version.h"

namespace tarn::tool {
namespace {

constexpr const char* kSchema = "tarn heap";

using observer::CensusGroup;

Json to_json(const CensusGroup& group) {
  return {{"class", group.class_name},
          {"name", group.is_class() ? observer::short_class_name(group.class_name) : ""},
          {"block_bytes", group.block_bytes},
          {"pool", group.pool},
          {"blocks", group.blocks},
          {"bytes", group.bytes}};
}

CensusGroup group_of(const Json& json) {
  const auto name = [&](const char* key) { return observer::printable(json.at(key).get<std::string>()); };
  return {name("class"), json.at("block_bytes"), name("pool"), json.at("blocks"), json.at("bytes")};
}

Json pools_of(const observer::Census& census) {
  std::map<std::string, CensusGroup> pools;
  for (const CensusGroup& group : census.groups) {
    if (group.pool.empty()) continue;
    pools[group.pool].blocks += group.blocks;
    pools[group.pool].bytes += group.bytes;
  }
  Json json = Json::array();
  for (const auto& [name, sum] : pools)
    json.push_back({{"name", name}, {"blocks", sum.blocks}, {"bytes", sum.bytes}});
  return json;
}

EarlierCensus earlier_census_of(const Json& json) {
  EarlierCensus earlier;
  earlier.time = json.at("time");
  earlier.program = observer::printable(json.at("program").get<std::string>());
  earlier.has_contents = json.at("contents_read");
  for (const Json& group : json.at("groups")) earlier.groups.push_back(group_of(group));
  return earlier;
}

}  // namespace

Json heap_document(const observer::Snapshot& snapshot, const observer::Census& census,
                   observer::Contents contents) {
  Json groups = Json::array();
  for (const CensusGroup& group : census.groups) groups.push_back(to_json(group));
  return observer::document_json(kSchema, kHeapDocumentVersion, snapshot.library_version,
                                 {{"program", snapshot.program},
                                  {"pid", snapshot.pid},
                                  {"library_file", snapshot.library},
                                  {"time", snapshot.time},
                                  {"is_exact", snapshot.exactness.is_exact},
                                  {"moved_blocks", snapshot.exactness.moved_blocks},
                                  {"contents_read", contents == observer::Contents::kRead},
                                  {"blocks", census.blocks},
                                  {"bytes", census.bytes},
                                  {"class_blocks", census.class_blocks},
                                  {"class_bytes", census.class_bytes},
                                  {"sensitive_blocks", census.sensitive_blocks},
                                  {"sensitive_bytes", census.sensitive_bytes},
                                  {"unread_bytes", census.unread_bytes},
                                  {"pools", pools_of(census)},
                                  {"groups", std::move(groups)}});
}

Json heap_growth_document(const std::vector<observer::Growth>& growth, double seconds) {
  Json json = Json::array();
  for (const observer::Growth& change : growth) {
    Json group = to_json(change.group);
    group["blocks_grown"] = change.blocks;
    group["bytes_grown"] = change.bytes;
    json.push_back(std::move(group));
  }
  return observer::document_json("tarn heap growth", kHeapDocumentVersion, TARN_VERSION_STRING,
                                 {{"seconds", seconds}, {"groups", std::move(json)}});
}

EarlierCensus read_heap_document(const std::string& path) {
  const std::optional<std::string> text = read_file(path);
  if (!text) throw UsageError(fmt::format("{} cannot be read: --since takes a file that --save wrote", path));
  try {
    const Json json = Json::parse(*text);
    if (json.at("schema") == kSchema && json.at("version") != kHeapDocumentVersion)
      throw UsageError(fmt::format("{} is of another version of tarn: save it again with this one", path));
    if (json.at("schema") == kSchema) return earlier_census_of(json);
  } catch (const Json::exception&) {  // the same as a file of another kind
  }
  throw UsageError(fmt::format("{} holds no census: --since takes a file that --save wrote", path));
}

}  // namespace tarn::tool
