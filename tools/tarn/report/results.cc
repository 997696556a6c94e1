// JSON of results.
#include "report/results.h"

#include "tarn/version.h"

namespace tarn::tool {
namespace {

double ratio(double value, double base) { return base == 0 ? 1 : value / base; }

Json summary_json(const Figures& figures, const Figure& figure, std::size_t contender) {
  const std::optional<std::size_t> system = figures.find_contender(kSystemName);
  Json json = compared_to_json(figure.summaries[contender], figure.best(),
                               system ? figure.summaries[*system] : Summary());
  json["unit"] = unit_of(figure.quantity);
  if (figure.better == Better::kMore) json["more_is_better"] = true;
  return json;
}

Json contender_json(const Figures& figures, std::size_t contender) {
  const auto& [allocator, failure, run_count] = figures.contenders[contender];
  Json json = {{"name", allocator.name}, {"library", nullptr}, {"failure", nullptr}, {"summary", nullptr}};
  if (!allocator.is_system()) json["library"] = allocator.library;
  if (!allocator.version.empty()) json["version"] = allocator.version;
  if (!allocator.arguments.empty()) json["arguments"] = allocator.arguments;
  if (!allocator.settings.empty()) json["settings"] = allocator.settings;
  if (failure) json["failure"] = to_json(*failure);
  if (figures.contenders[contender].is_comparable())
    for (const Figure& figure : figures.all)
      json["summary"][figure.key] = summary_json(figures, figure, contender);
  json["runs"] = Json::array();
  return json;
}

}  // namespace

Json to_json(const Measurement& run) {
  return {{"wall_seconds", run.wall_seconds},     {"user_seconds", run.user_seconds},
          {"system_seconds", run.system_seconds}, {"peak_rss_bytes", run.peak_rss_bytes},
          {"minor_faults", run.minor_faults},     {"major_faults", run.major_faults}};
}

Json to_json(const Failure& failure) {
  return {{"what", failure.what}, {"when", failure.when}, {"last_error_lines", failure.error_lines}};
}

Json compared_to_json(const Summary& own, const Summary& best, const Summary& of_system) {
  Json json = {{"median", own.median},
               {"minimum", own.minimum},
               {"lower_quartile", own.lower_quartile},
               {"upper_quartile", own.upper_quartile},
               {"maximum", own.maximum},
               {"spread_percent", own.spread_percent()},
               {"ratio_to_best", ratio(own.median, best.median)},
               {"equal_to_best", is_within_noise(own, best)},
               {"ratio_to_system", nullptr}};
  if (of_system.count != 0) json["ratio_to_system"] = ratio(own.median, of_system.median);
  return json;
}

const char* unit_of(Quantity quantity) {
  switch (quantity) {
    case Quantity::kSeconds:
      return "s";
    case Quantity::kBytes:
      return "bytes";
    case Quantity::kCount:
      break;
  }
  return "count";
}

Json to_json(const Machine& machine) {
  return {{"cpu", machine.cpu_model},
          {"cores", machine.core_count},
          {"memory_bytes", machine.memory_bytes},
          {"kernel", machine.kernel},
          {"transparent_huge_pages", machine.transparent_huge_pages},
          {"glibc", machine.glibc_version},
          {"governor", machine.frequency_governor},
          {"load_at_start", machine.load}};
}

Json to_json(const Figures& figures) {
  Json json = Json::array();
  for (std::size_t i = 0; i < figures.contenders.size(); ++i) json.push_back(contender_json(figures, i));
  return json;
}

Json result_header(const std::string& command_name) {
  return observer::document_json(command_name, 1, TARN_VERSION_STRING,
                                 {{"date", current_date()}, {"machine", to_json(describe_machine())}});
}

Json with_present_head(Json result) {
  if (!result.is_object() || !result.contains("result_of") || !result.contains("tarn")) return result;
  result["schema"] = result["result_of"];
  result["library"] = result["tarn"];
  return result;
}

std::string text_of(const Json& json) { return observer::json_text(json, 2) + "\n"; }

}  // namespace tarn::tool
