// Programs run on several allocators in rounds. Every run is verified; one that fails is named and never
// compared.
//
// 1. Warm-up rounds verify and fill the file caches; their costs are thrown away.
// 2. A run that ends otherwise than expected takes its allocator out of that program's rounds.
// 3. Outputs are compared at the end (output_judge.h): a server's load's, where no figures are read of it.
#pragma once
#include <string>
#include <vector>

#include "engine/entry.h"
#include "engine/output_judge.h"
#include "engine/rounds.h"
#include "engine/session.h"
#include "engine/workload.h"

namespace tarn::tool {

struct ComparisonPlan {
  std::vector<Workload> workloads;
  std::vector<Allocator> allocators;  // the system's first
  Environment environment = {};
  int warmups = 1;
  double timeout_seconds = 600;
};

/// Of one workload.
struct Comparison {
  Workload workload;
  Entries<ProgramRun> contenders;
  OutputVerdict output = OutputVerdict::kNotCompared;
};

struct ComparisonResults {
  std::vector<Comparison> comparisons;
  int interrupted_by = 0;  // a signal
};

class ComparisonRun {
 public:
  ComparisonRun(const ComparisonPlan& plan, Session& session);
  ComparisonResults to_end();

 private:
  RoundsPlan rounds_plan() const;
  TurnEnd run_turn(const Turn& turn);
  TurnEnd run_program(const Turn& turn);
  TurnEnd run_server(const Turn& turn);
  RunRequest request_for(const Turn& turn) const;
  TurnEnd take(const Turn& turn, const RunResult& judged, ProgramRun run, std::optional<Failure> failure);
  std::optional<Failure> read_figures(const Turn& turn, const std::string& output, ProgramRun& run);
  void confirm_output(std::size_t workload);

  const ComparisonPlan& plan_;
  Session& session_;
  ComparisonResults results_;
  std::vector<OutputJudge> judges_;  // of each workload
};

}  // namespace tarn::tool
