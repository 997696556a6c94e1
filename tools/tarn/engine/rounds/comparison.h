// Programs run on several allocators in rounds. Every run is verified; one that fails is named and never
// compared.
//
// 1. Warm-up rounds verify and fill the file caches; their costs are thrown away.
// 2. A run that ends otherwise than expected takes its allocator out of that program's rounds.
// 3. Outputs are compared at the end (OutputJudge): a server's load's, where no figures are read of it.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "engine/contenders/session.h"
#include "engine/rounds/entry.h"
#include "engine/rounds/rounds.h"
#include "engine/rounds/workload.h"
#include "system/runs/runner.h"

namespace tarn::tool {

enum class OutputVerdict : std::uint8_t { kIdentical, kNotDeterministic, kNotCompared };

/// Whether a program writes the same under every allocator: its standard output must be that of the system
/// allocator's first run. Where the system's allocator itself writes something else another time, the program
/// is not deterministic, and its output says nothing.
class OutputJudge {
 public:
  void add_system_run(const RunResult& run);
  void add(std::size_t contender, const RunResult& run, const std::string& when);

  /// Whether a second run of the system's allocator is needed: does it agree with itself?
  bool needs_system_run() const { return !differences_.empty() && system_runs_ == 1; }

  /// \post a contender whose output differs has a failure, if the program is deterministic
  OutputVerdict judge(Entries<ProgramRun>& entries);

 private:
  struct Difference {
    std::size_t contender;
    Failure failure;
  };

  std::optional<OutputDigest> reference_;
  std::size_t system_runs_ = 0;  // since the reference, which is the first
  bool is_deterministic_ = true;
  std::vector<Difference> differences_;
};

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
