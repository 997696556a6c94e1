// Turns, and the verdict on outputs.
#include "engine/comparison.h"

namespace tarn::tool {

ComparisonRun::ComparisonRun(const ComparisonPlan& plan, Session& session)
    : plan_(plan), session_(session), judges_(plan.workloads.size()) {
  for (const Workload& workload : plan.workloads)
    results_.comparisons.push_back({workload, entries_for<ProgramRun>(plan.allocators)});
}

RoundsPlan ComparisonRun::rounds_plan() const {
  RoundsPlan plan = {.groups = {}, .contenders = {}, .seats = {}, .warmups = plan_.warmups};
  for (const Allocator& allocator : plan_.allocators) plan.contenders.push_back(allocator.name);
  for (std::size_t group = 0; group < plan_.workloads.size(); ++group) {
    plan.groups.push_back(plan_.workloads[group].name);
    for (std::size_t contender = 0; contender < plan_.allocators.size(); ++contender)
      plan.seats.push_back({.group = group, .contender = contender, .rounds = plan_.workloads[group].rounds});
  }
  return plan;
}

TurnEnd ComparisonRun::run_turn(const Turn& turn) {
  const Workload& workload = plan_.workloads[turn.group];
  Entry<ProgramRun>& entry = results_.comparisons[turn.group].contenders[turn.contender];
  const RunResult run = session_.run({.command = workload.command,
                                      .environment = {},
                                      .directory = workload.directory,
                                      .stdin_path = workload.stdin_path,
                                      .timeout_seconds = plan_.timeout_seconds,
                                      .on_tick = {}},
                                     entry.allocator, plan_.environment);
  if (run.ending == Ending::kInterrupted) {
    results_.interrupted_by = run.code;
    return TurnEnd::kInterrupted;
  }
  entry.failure = failure_of(run, entry.allocator, workload.expected_status, plan_.timeout_seconds);
  if (entry.failure) {
    entry.failure->when = turn.when;
    return TurnEnd::kSeatIsOut;
  }
  if (!turn.is_warmup) entry.runs.push_back({run.cost});
  if (!workload.is_output_compared) return TurnEnd::kDone;
  if (entry.allocator.is_system())
    judges_[turn.group].add_system_run(run);
  else
    judges_[turn.group].add(turn.contender, run, turn.when);
  return TurnEnd::kDone;
}

/// One more run of the system's allocator, should it have run once only.
void ComparisonRun::confirm_output(std::size_t workload) {
  if (!judges_[workload].needs_system_run() || results_.interrupted_by != 0) return;
  session_.progress().begin_run("is the program's output always the same?");
  run_turn({.group = workload, .contender = 0, .round = 0, .is_warmup = true, .when = "another run"});
}

ComparisonResults ComparisonRun::to_end() {
  Rounds(rounds_plan(), session_.progress()).to_end([this](const Turn& turn) { return run_turn(turn); });
  for (std::size_t workload = 0; workload < judges_.size(); ++workload) {
    confirm_output(workload);
    Comparison& comparison = results_.comparisons[workload];
    comparison.output = judges_[workload].judge(comparison.contenders);
  }
  session_.progress().clear();
  return std::move(results_);
}

}  // namespace tarn::tool
