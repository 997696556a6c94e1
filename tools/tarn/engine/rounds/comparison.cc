// Turns, and the verdict on outputs.
#include "engine/rounds/comparison.h"

#include <fmt/format.h>

#include <utility>

namespace tarn::tool {
namespace {

constexpr std::size_t kKeptOutputBytes = 1 << 20;  // of which figures are read

}  // namespace

void OutputJudge::add_system_run(const RunResult& run) {
  ++system_runs_;
  if (!reference_) reference_ = run.output;
  is_deterministic_ = is_deterministic_ && run.output == *reference_;
}

void OutputJudge::add(std::size_t contender, const RunResult& run, const std::string& when) {
  if (!reference_) return;
  const auto difference = run.output.first_difference(*reference_);
  if (!difference) return;
  const std::string what =
      fmt::format("standard output differs from {}'s {} byte {} ({} bytes instead of {})", kSystemName,
                  difference->is_exact ? "at" : "behind", difference->offset, run.output.byte_count(),
                  reference_->byte_count());
  differences_.push_back({contender, {what, when, run.errors.last_lines(2)}});
}

OutputVerdict OutputJudge::judge(Entries<ProgramRun>& entries) {
  if (!reference_) return OutputVerdict::kNotCompared;
  if (!is_deterministic_) return OutputVerdict::kNotDeterministic;
  for (Difference& found : differences_)
    if (Entry<ProgramRun>& entry = entries[found.contender]; !entry.failure)
      entry.failure = std::move(found.failure);
  return OutputVerdict::kIdentical;
}

ComparisonRun::ComparisonRun(const ComparisonPlan& plan, Session& session)
    : plan_(plan), session_(session), judges_(plan.workloads.size()) {
  for (const Workload& workload : plan.workloads)
    results_.comparisons.push_back({workload, entries_for<ProgramRun>(plan.allocators)});
}

RoundsPlan ComparisonRun::rounds_plan() const {
  RoundsPlan plan = {.warmups = plan_.warmups};
  for (const Allocator& allocator : plan_.allocators) plan.contenders.push_back(allocator.name);
  for (std::size_t group = 0; group < plan_.workloads.size(); ++group) {
    plan.groups.push_back(plan_.workloads[group].name);
    for (std::size_t contender = 0; contender < plan_.allocators.size(); ++contender)
      plan.seats.push_back({.group = group, .contender = contender, .rounds = plan_.workloads[group].rounds});
  }
  return plan;
}

RunRequest ComparisonRun::request_for(const Turn& turn) const {
  const Workload& workload = plan_.workloads[turn.group];
  std::vector<std::string> command = workload.command;
  const std::vector<std::string>& more = plan_.allocators[turn.contender].arguments;
  command.insert(command.end(), more.begin(), more.end());
  return {.command = std::move(command),
          .directory = workload.directory,
          .stdin_path = workload.stdin_path,
          .timeout_seconds = workload.load ? 0 : plan_.timeout_seconds,
          .kept_output_bytes = workload.figures.empty() ? OutputDigest::kKeptBytes : kKeptOutputBytes};
}

/// The figures that the run printed. \returns what is missing
std::optional<Failure> ComparisonRun::read_figures(const Turn& turn, const std::string& output,
                                                   ProgramRun& run) {
  for (PrintedFigure& figure : results_.comparisons[turn.group].workload.figures) {
    const std::optional<LoadValue> found = figure.metric.value_in(output);
    if (!found) return Failure{fmt::format("its output has no figure '{}'", figure.metric.name), "", {}};
    figure.quantity = found->quantity;
    run.printed.push_back(found->value);
  }
  return std::nullopt;
}

/// \param judged the run whose output is compared
TurnEnd ComparisonRun::take(const Turn& turn, const RunResult& judged, ProgramRun run,
                            std::optional<Failure> failure) {
  Comparison& comparison = results_.comparisons[turn.group];
  Entry<ProgramRun>& entry = comparison.contenders[turn.contender];
  if (!failure) failure = read_figures(turn, judged.output.kept(), run);
  entry.failure = std::move(failure);
  if (entry.failure) {
    entry.failure->when = turn.when;
    return TurnEnd::kSeatIsOut;
  }
  if (!turn.is_warmup) entry.runs.push_back(std::move(run));
  const Workload& workload = comparison.workload;
  if (!workload.is_output_compared || !workload.figures.empty()) return TurnEnd::kDone;
  if (entry.allocator.is_system())
    judges_[turn.group].add_system_run(judged);
  else
    judges_[turn.group].add(turn.contender, judged, turn.when);
  return TurnEnd::kDone;
}

TurnEnd ComparisonRun::run_program(const Turn& turn) {
  const Allocator& allocator = plan_.allocators[turn.contender];
  const RunResult run = session_.run(request_for(turn), allocator, plan_.environment);
  if (run.ending == Ending::kInterrupted) {
    results_.interrupted_by = run.code;
    return TurnEnd::kInterrupted;
  }
  const Workload& workload = plan_.workloads[turn.group];
  return take(turn, run, {.cost = run.cost},
              failure_of(run, allocator, workload.expected_status, plan_.timeout_seconds));
}

TurnEnd ComparisonRun::run_server(const Turn& turn) {
  const Allocator& allocator = plan_.allocators[turn.contender];
  const Load& load = *plan_.workloads[turn.group].load;
  ServerRequest request = {.server = request_for(turn),
                           .readiness = load.readiness,
                           .load = {.command = load.command,
                                    .environment = plan_.environment.entries(),
                                    .directory = plan_.workloads[turn.group].directory,
                                    .timeout_seconds = plan_.timeout_seconds,
                                    .kept_output_bytes = kKeptOutputBytes},
                           .idle_seconds = load.idle_seconds};
  ServerResult run = session_.run_server(std::move(request), allocator, plan_.environment);
  if (run.interrupted_by != 0) {
    results_.interrupted_by = run.interrupted_by;
    return TurnEnd::kInterrupted;
  }
  return take(turn, run.load, {.cost = run.under_load, .memory = std::move(run.memory)},
              failure_of(run, allocator));
}

TurnEnd ComparisonRun::run_turn(const Turn& turn) {
  return plan_.workloads[turn.group].load ? run_server(turn) : run_program(turn);
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
