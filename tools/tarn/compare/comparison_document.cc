#include "compare/comparison_document.h"

namespace tarn::tool {
namespace {

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

Json json_of(const ProgramRun& run, const Workload& workload) {
  Json json = to_json(run.cost);
  for (std::size_t i = 0; i < run.printed.size(); ++i)
    json["printed"][workload.figures[i].metric.name] = run.printed[i];
  for (const MemorySample& sample : run.memory) json["memory"].push_back({sample.seconds, sample.bytes});
  return json;
}

Json json_of(const Comparison& comparison) {
  const Workload& workload = comparison.workload;
  const auto run_json = [&](const ProgramRun& run) { return json_of(run, workload); };
  return {{"command", workload.command},
          {"load", workload.load ? Json(workload.load->command) : Json(nullptr)},
          {"stdin", workload.stdin_path},
          {"rounds", workload.rounds},
          {"expected_status", workload.expected_status},
          {"output", name_of(comparison.output)},
          {"allocators", entries_json(comparison.contenders, metrics_of(workload), run_json)}};
}

}  // namespace

Json comparison_json(const ComparisonPlan& plan, const ComparisonResults& results) {
  Json json = result_header("tarn compare");
  json["warmup_rounds"] = plan.warmups;
  json["timeout_seconds"] = plan.timeout_seconds;
  json["interrupted"] = results.interrupted_by != 0;
  if (results.comparisons.size() == 1 && results.comparisons.front().workload.name.empty()) {
    json.update(json_of(results.comparisons.front()));
    return json;
  }
  json["programs"] = Json::array();
  for (const Comparison& comparison : results.comparisons) {
    Json program = {{"name", comparison.workload.name}, {"small", comparison.workload.is_small}};
    program.update(json_of(comparison));
    json["programs"].push_back(std::move(program));
  }
  return json;
}

}  // namespace tarn::tool
