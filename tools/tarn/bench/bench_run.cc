// Rounds, processes and what becomes of their lines.
#include "bench/bench_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/catalogue.h"
#include "system/clock.h"
#include "system/files.h"

namespace tarn::tool {
namespace {

constexpr int kWrongBlocksStatus = 3;  // bench/program/verify.h
constexpr std::size_t kMostOutputBytes = 4 << 20;
constexpr int kMostTimeouts = 2;
constexpr std::size_t kShownErrorLines = 5;

Environment environment_of(const BenchContender& contender) {
  Environment environment;
  environment.remove("LD_PRELOAD");
  if (!contender.library.empty()) environment.preload(contender.library);
  for (const auto& [name, value] : contender.settings) environment.set(name, value);
  return environment;
}

bool is_replay(const BenchRow* alone) { return alone != nullptr && !alone->replay.empty(); }

/// Of a line, what is a figure.
Json figures_of(const Json& line) {
  Json figures = Json::object();
  for (const auto& [name, value] : line.items())
    if (name != "group" && name != "row") figures[name] = value;
  return figures;
}

}  // namespace

BenchRun::BenchRun(const BenchPlan& plan, SignalWatch& signals, Progress& progress)
    : plan_(plan), signals_(signals), progress_(progress), timeouts_(plan.contenders.size(), 0) {
  for (const std::string& group : plan.groups) results_.groups.push_back({group, {}});
  results_.failures = plan.failures;
  plan_jobs();
}

void BenchRun::plan_jobs() {
  for (std::size_t group = 0; group < plan_.groups.size(); ++group) {
    std::vector<RowSamples>& rows = results_.groups[group].rows;
    const GroupInfo* const info = find_group(plan_.groups[group]);
    for (std::size_t contender = 0; contender < plan_.contenders.size(); ++contender) {
      const auto part = plan_.contenders[contender].groups.find(plan_.groups[group]);
      if (part == plan_.contenders[contender].groups.end()) continue;
      jobs_.push_back({.group = group,
                       .contender = contender,
                       .most_rounds = std::min(plan_.rounds, info->most_rounds),
                       .usual_seconds = info->row_seconds * static_cast<double>(part->second.rows.size())});
      for (const BenchRow& row : part->second.rows) {
        const auto is_same = [&](const RowSamples& samples) { return samples.row.name == row.name; };
        if (std::none_of(rows.begin(), rows.end(), is_same)) rows.push_back({row, {}});
      }
    }
  }
}

/// Within each group the contenders rotate from round to round.
std::vector<std::size_t> BenchRun::jobs_of_round(int round) const {
  std::vector<std::size_t> order;
  for (std::size_t first = 0; first < jobs_.size();) {
    std::size_t end = first;
    while (end < jobs_.size() && jobs_[end].group == jobs_[first].group) ++end;
    const std::size_t count = end - first;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t job = first + (i + static_cast<std::size_t>(round)) % count;
      if (round < jobs_[job].most_rounds) order.push_back(job);
    }
    first = end;
  }
  return order;
}

double BenchRun::expected_seconds(const Job& job) const {
  if (job.is_out) return 0;
  if (job.seconds > 0) return job.seconds;
  return measured_seconds_ / usual_seconds_ * job.usual_seconds;
}

std::optional<double> BenchRun::seconds_left(int round, const std::vector<std::size_t>& jobs,
                                             std::size_t place) const {
  if (usual_seconds_ == 0) return std::nullopt;
  double seconds = 0;
  for (std::size_t i = place; i < jobs.size(); ++i) seconds += expected_seconds(jobs_[jobs[i]]);
  for (const Job& job : jobs_) seconds += expected_seconds(job) * std::max(job.most_rounds - round - 1, 0);
  return seconds;
}

void BenchRun::run_round(int round) {
  const std::vector<std::size_t> jobs = jobs_of_round(round);
  for (std::size_t place = 0; place < jobs.size() && results_.interrupted_by == 0; ++place) {
    Job& job = jobs_[jobs[place]];
    if (job.is_out) continue;
    progress_.begin_run(fmt::format("round {} of {}: {}, {}", round + 1, plan_.rounds,
                                    plan_.groups[job.group], plan_.contenders[job.contender].name),
                        seconds_left(round, jobs, place));
    const timespec start = now();
    run_job(job, round);
    const double seconds = seconds_between(start, now());
    if (job.seconds == 0) {
      measured_seconds_ += seconds;
      usual_seconds_ += job.usual_seconds;
    }
    job.seconds = seconds;
    progress_.end_run();
  }
  if (results_.interrupted_by == 0) results_.rounds_done = round + 1;
}

/// One process for the rows of a group, and one for each that is alone.
void BenchRun::run_job(Job& job, int round) {
  const BenchContender& contender = plan_.contenders[job.contender];
  const std::vector<BenchRow>& rows = contender.groups.at(plan_.groups[job.group]).rows;
  const auto alone_count = static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), is_alone));
  if (alone_count != rows.size() && !run_process(job, nullptr, rows.size() - alone_count, round)) return;
  for (const BenchRow& row : rows)
    if (is_alone(row) && !run_process(job, &row, 1, round)) return;
}

/// \param alone the only row of the process; nullptr: all that are not alone
std::vector<std::string> BenchRun::command_of(const Job& job, const BenchRow* alone) const {
  const std::string& group = plan_.groups[job.group];
  const BenchOffer& offer = plan_.contenders[job.contender].groups.at(group).offer;
  std::vector<std::string> command = {offer.program};
  const std::vector<std::string> words = is_replay(alone) ? alone->replay : plan_.shape.arguments();
  command.insert(command.end(), words.begin(), words.end());
  if (is_replay(alone)) return command;
  command.insert(command.end(), {"--contestant", offer.contestant, "--group", group});
  if (alone != nullptr) command.insert(command.end(), {"--row", alone->name});
  return command;
}

bool BenchRun::run_process(Job& job, const BenchRow* alone, std::size_t row_count, int round) {
  const BenchContender& contender = plan_.contenders[job.contender];
  const RunResult run = run_program({.command = command_of(job, alone),
                                     .environment = environment_of(contender).entries(),
                                     .timeout_seconds = plan_.timeout_seconds,
                                     .kept_output_bytes = kMostOutputBytes,
                                     .on_tick = [this] { progress_.tick(); }},
                                    signals_);
  if (run.ending == Ending::kInterrupted) {
    results_.interrupted_by = run.code;
    return false;
  }
  const std::vector<Json> lines =
      is_replay(alone) ? lines_of_replay(*alone, run.output.kept()) : json_lines(run.output.kept());
  if (std::optional<Failure> failure = failure_of_run(run, contender, lines, row_count)) {
    failure->when = fmt::format("round {}", round + 1);
    const bool is_hanging = run.ending == Ending::kTimedOut && ++timeouts_[job.contender] >= kMostTimeouts;
    // A benchmark program begins with a line; a replay that fails writes none.
    const bool is_silent = lines.empty() && !is_replay(alone);
    const bool is_unusable = failure->what.starts_with("could not be preloaded") || is_silent;
    take_out(job, std::move(*failure), is_hanging || (is_unusable && run.ending != Ending::kTimedOut));
    return false;
  }
  keep(job, lines);
  return true;
}

std::optional<Failure> BenchRun::failure_of_run(const RunResult& run, const BenchContender& contender,
                                                const std::vector<Json>& lines, std::size_t row_count) const {
  const Allocator allocator = {contender.name, contender.library};
  std::optional<Failure> failure = failure_of(run, allocator, 0, plan_.timeout_seconds);
  if (failure) {
    if (run.ending == Ending::kExited && run.code == kWrongBlocksStatus)
      failure->what = "returned wrong blocks";
    return failure;
  }
  const std::vector<std::string> words = run.errors.last_lines(kShownErrorLines);
  const std::string origin = lines.empty() ? "" : lines.front().value("malloc", "");
  if (!contender.library.empty() && !is_same_file(origin, contender.library))
    return Failure{fmt::format("could not be preloaded: it defines no malloc, the program has that of {}",
                               origin.empty() ? "nobody" : origin),
                   "", words};
  const std::size_t figure_count = lines.empty() ? 0 : lines.size() - 1;  // the first line is of the malloc
  if (figure_count != row_count)
    return Failure{fmt::format("gave figures of {} rows instead of {}", figure_count, row_count), "", words};
  // Less time and memory because calls got none is no gain.
  if (const double failed_calls = lines.back().value("failed_calls", 0.0); failed_calls != 0)
    return Failure{fmt::format("{:.0f} calls got no memory", failed_calls), "", words};
  return std::nullopt;
}

void BenchRun::take_out(Job& job, Failure failure, bool is_whole) {
  const std::string& name = plan_.contenders[job.contender].name;
  results_.failures.push_back({name, is_whole ? "" : plan_.groups[job.group], std::move(failure)});
  for (Job& other : jobs_) {
    if (&other == &job || (is_whole && other.contender == job.contender)) other.is_out = true;
  }
  for (RowSamples& samples : results_.groups[job.group].rows) samples.runs.erase(job.contender);
}

void BenchRun::keep(const Job& job, const std::vector<Json>& lines) {
  std::vector<RowSamples>& rows = results_.groups[job.group].rows;
  for (const Json& line : lines) {
    const auto samples = std::find_if(rows.begin(), rows.end(), [&](const RowSamples& one) {
      return one.row.name == line.value("row", "") && line.contains(one.row.metric);
    });
    if (samples != rows.end()) samples->runs[job.contender].push_back(figures_of(line));
  }
}

BenchResults BenchRun::to_end() {
  for (int round = 0; round < plan_.rounds && results_.interrupted_by == 0; ++round) run_round(round);
  progress_.clear();
  return std::move(results_);
}

}  // namespace tarn::tool
