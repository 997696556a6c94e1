// Rounds, verification and the verdict on outputs.
#include "engine/comparison.h"

#include <fmt/format.h>

#include <algorithm>

namespace tarn::tool {

ComparisonRun::ComparisonRun(const ComparisonPlan& plan, SignalWatch& signals, Progress& progress)
    : plan_(plan), signals_(signals), progress_(progress) {
  for (const Allocator& allocator : plan.allocators)
    result_.contenders.push_back({allocator, {}, std::nullopt});
}

RunRequest ComparisonRun::request_for(const Allocator& allocator) const {
  Environment environment = plan_.environment;
  if (!allocator.is_system()) environment.preload(allocator.library);
  if (allocator.name == kTarnName)
    for (const auto& [name, value] : plan_.tarn_settings) environment.set(name, value);
  return {.command = plan_.command,
          .environment = environment.entries(),
          .streams = Streams::kCaptured,
          .stdin_path = plan_.stdin_path,
          .timeout_seconds = plan_.timeout_seconds,
          .on_tick = [this] { progress_.tick(); }};
}

void ComparisonRun::run_once(std::size_t contender, Purpose purpose, const std::string& when) {
  Contender& current = result_.contenders[contender];
  RunResult run = run_program(request_for(current.allocator), signals_);
  progress_.end_run();
  if (run.ending == Ending::kInterrupted) {
    result_.interrupted_by = run.code;
    return;
  }
  current.failure = failure_of(run, current.allocator, plan_.expected_status, plan_.timeout_seconds);
  if (current.failure) {
    current.failure->when = when;
    return;
  }
  if (purpose == Purpose::kMeasure) current.runs.push_back(run.cost);
  check_output(contender, run, when);
}

void ComparisonRun::check_output(std::size_t contender, const RunResult& run, const std::string& when) {
  if (result_.contenders[contender].allocator.is_system()) {
    ++system_runs_;
    if (!reference_) reference_ = run.output;
    is_deterministic_ = is_deterministic_ && run.output == *reference_;
    return;
  }
  if (!reference_) return;
  const auto difference = run.output.first_difference(*reference_);
  if (!difference) return;
  const std::string what =
      fmt::format("standard output differs from {}'s {} byte {} ({} bytes instead of {})", kSystemName,
                  difference->is_exact ? "at" : "behind", difference->offset, run.output.byte_count(),
                  reference_->byte_count());
  output_failures_.push_back({contender, {what, when, run.errors.last_lines(2)}});
}

/// One more run of the system's allocator, should it have run once only: does it agree with itself?
void ComparisonRun::confirm_output() {
  if (output_failures_.empty() || system_runs_ != 1 || is_over()) return;
  progress_.begin_run("is the program's output always the same?", 1);
  run_once(0, Purpose::kVerify, "another run");
}

void ComparisonRun::judge_output() {
  if (!reference_) return;
  result_.output = is_deterministic_ ? OutputVerdict::kIdentical : OutputVerdict::kNotDeterministic;
  if (!is_deterministic_) return;
  for (OutputFailure& found : output_failures_) {
    Contender& contender = result_.contenders[found.contender];
    if (!contender.failure) contender.failure = std::move(found.failure);
  }
}

std::size_t ComparisonRun::runs_left(int round, std::size_t place) const {
  const auto running = static_cast<std::size_t>(std::count_if(
      result_.contenders.begin(), result_.contenders.end(), [](const Contender& c) { return !c.failure; }));
  const auto rounds_after = static_cast<std::size_t>(plan_.warmups + plan_.rounds - round - 1);
  const std::size_t in_this_round = result_.contenders.size() - place;
  return std::max<std::size_t>(rounds_after * running + std::min(in_this_round, running), 1);
}

void ComparisonRun::run_round(int index) {
  const bool is_warmup = index < plan_.warmups;
  const std::string when =
      is_warmup ? fmt::format("warm-up {}", index + 1) : fmt::format("round {}", index - plan_.warmups + 1);
  const std::string total = is_warmup ? "" : fmt::format(" of {}", plan_.rounds);
  const std::size_t count = result_.contenders.size();
  for (std::size_t place = 0; place < count && !is_over(); ++place) {
    const std::size_t contender = (static_cast<std::size_t>(index) + place) % count;
    if (result_.contenders[contender].failure) continue;
    progress_.begin_run(fmt::format("{}{}: {}", when, total, result_.contenders[contender].allocator.name),
                        runs_left(index, place));
    run_once(contender, is_warmup ? Purpose::kVerify : Purpose::kMeasure, when);
  }
}

Comparison ComparisonRun::to_end() {
  for (int index = 0; index < plan_.warmups + plan_.rounds && !is_over(); ++index) run_round(index);
  confirm_output();
  judge_output();
  progress_.clear();
  return std::move(result_);
}

}  // namespace tarn::tool
