// JSON of results.
#include "report/results.h"

#include "tarn/version.h"

namespace tarn::tool {
namespace {

double ratio(double value, double base) { return base == 0 ? 1 : value / base; }

const char* name_of(OutputVerdict verdict) {
  switch (verdict) {
    case OutputVerdict::kIdentical:
      return "identical";
    case OutputVerdict::kNotDeterministic:
      return "not deterministic";
    case OutputVerdict::kNotCompared:
      break;
  }
  return "not compared";
}

Json summaries(const Comparison& comparison, const Contender& contender) {
  Json json = Json::object();
  const Contender& system = comparison.contenders.front();
  for (const Metric& metric : kMetrics) {
    const Summary of_system = system.is_comparable() ? summary_of(system, metric) : Summary();
    json[metric.key] =
        compared_to_json(summary_of(contender, metric), best_of(comparison, metric), of_system);
  }
  return json;
}

Json to_json(const Comparison& comparison, const Contender& contender) {
  Json runs = Json::array();
  for (const Measurement& run : contender.runs) runs.push_back(to_json(run));
  Json json = {
      {"name", contender.allocator.name}, {"library", nullptr}, {"failure", nullptr}, {"summary", nullptr}};
  if (!contender.allocator.is_system()) json["library"] = contender.allocator.library;
  if (contender.failure) json["failure"] = to_json(*contender.failure);
  if (contender.is_comparable()) json["summary"] = summaries(comparison, contender);
  json["runs"] = std::move(runs);
  return json;
}

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

std::string text_of(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Summary summary_of(const Contender& contender, const Metric& metric) {
  std::vector<double> values;
  for (const Measurement& run : contender.runs) values.push_back(metric.value_of(run));
  return summarize(std::move(values));
}

Summary best_of(const Comparison& comparison, const Metric& metric) {
  Summary best;
  for (const Contender& contender : comparison.contenders) {
    if (!contender.is_comparable()) continue;
    const Summary own = summary_of(contender, metric);
    if (best.count == 0 || own.median < best.median) best = own;
  }
  return best;
}

Json compare_results(const ComparisonPlan& plan, const Comparison& comparison) {
  Json json = result_header("tarn compare");
  json["command"] = plan.command;
  json["stdin"] = plan.stdin_path;
  json["rounds"] = plan.rounds;
  json["warmup_rounds"] = plan.warmups;
  json["timeout_seconds"] = plan.timeout_seconds;
  json["expected_status"] = plan.expected_status;
  json["tarn_settings"] = plan.tarn_settings;
  json["output"] = name_of(comparison.output);
  json["interrupted"] = comparison.interrupted_by != 0;
  json["allocators"] = Json::array();
  for (const Contender& contender : comparison.contenders)
    json["allocators"].push_back(to_json(comparison, contender));
  return json;
}

}  // namespace tarn::tool
