// JSON of results.
#include "report/results.h"

#include "observer/text/json_text.h"
#include "tarn/version.h"

namespace tarn::tool {
namespace {

double ratio(double value, double base) { return base == 0 ? 1 : value / base; }

}  // namespace

Json to_json(const Measurement& run) {
  return {{"wall_seconds", run.wall_seconds},     {"user_seconds", run.user_seconds},
          {"system_seconds", run.system_seconds}, {"peak_rss_bytes", run.peak_rss_bytes},
          {"minor_faults", run.minor_faults},     {"major_faults", run.major_faults}};
}

Json to_json(const Summary& summary) {
  return {{"median", summary.median},
          {"minimum", summary.minimum},
          {"lower_quartile", summary.lower_quartile},
          {"upper_quartile", summary.upper_quartile},
          {"maximum", summary.maximum},
          {"spread_percent", summary.spread_percent()}};
}

Summary summary_in(const Json& allocator, const std::string& key) {
  const Json& summary = allocator.at("summary").at(key);
  return {.count = allocator.at("runs").size(),
          .lower_quartile = summary.at("lower_quartile").get<double>(),
          .median = summary.at("median").get<double>(),
          .upper_quartile = summary.at("upper_quartile").get<double>()};
}

Json to_json(const Failure& failure) {
  return {{"what", failure.what}, {"when", failure.when}, {"last_error_lines", failure.error_lines}};
}

Json compared_to_json(const Summary& own, const Summary& best, const Summary& of_system) {
  Json json = to_json(own);
  json["ratio_to_best"] = ratio(own.median, best.median);
  json["equal_to_best"] = is_within_noise(own, best);
  json["ratio_to_system"] = nullptr;
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

Json result_header(const std::string& command_name) {
  return {{"result_of", command_name},
          {"tarn", TARN_VERSION_STRING},
          {"date", current_date()},
          {"machine", to_json(describe_machine())}};
}

std::string text_of(const Json& json) { return observer::json_text(json, 2) + "\n"; }

}  // namespace tarn::tool
