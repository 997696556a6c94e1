#include "compare/comparison_document.h"

#include <algorithm>

namespace tarn::tool {
namespace {

bool is_same_figure(const Figure& a, const Figure& b) {
  return a.key == b.key && a.quantity == b.quantity && a.better == b.better;
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
  Json allocators = to_json(figures_of(comparison));
  for (std::size_t i = 0; i < allocators.size(); ++i)
    for (const ProgramRun& run : comparison.contenders[i].runs)
      allocators[i]["runs"].push_back(json_of(run, workload));
  return {{"command", workload.command},
          {"load", workload.load ? Json(workload.load->command) : Json(nullptr)},
          {"stdin", workload.stdin_path},
          {"rounds", workload.rounds},
          {"expected_status", workload.expected_status},
          {"output", name_of(comparison.output)},
          {"allocators", std::move(allocators)}};
}

}  // namespace

std::vector<SuiteTable> suite_tables(const ComparisonResults& results, bool is_small) {
  std::vector<SuiteTable> tables;
  for (const Comparison& comparison : results.comparisons) {
    if (comparison.workload.is_small != is_small) continue;
    Figures figures = figures_of(comparison);
    for (Figure& figure : figures.all) {
      if (figure.best().count == 0) continue;
      auto table = std::find_if(tables.begin(), tables.end(), [&](const SuiteTable& rows) {
        return is_same_figure(rows.front().figure, figure);
      });
      if (table == tables.end()) table = tables.emplace(tables.end());
      table->push_back({&comparison, std::move(figure)});
    }
  }
  return tables;
}

std::optional<std::size_t> place_of_tarn(const SuiteTable& rows) {
  const Entries<ProgramRun>& contenders = rows.front().program->contenders;
  for (std::size_t i = 0; i < contenders.size(); ++i)
    if (contenders[i].allocator.name == kTarnName) return i;
  return std::nullopt;
}

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
