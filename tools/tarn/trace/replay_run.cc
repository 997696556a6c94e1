// Rounds of replays.
#include "trace/replay_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <numeric>

#include "report/results.h"
#include "system/files.h"
#include "system/runner.h"
#include "system/usage_error.h"

namespace tarn::tool {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMostOutputBytes = 4 << 20;

double timeout_of(const ReplayPlan& plan, const ReplayContender& contender) {
  return contender.timeout_seconds.value_or(plan.timeout_seconds);
}

RunRequest request_for(const ReplayPlan& plan, const ReplayContender& contender, Progress& progress) {
  Environment environment = plan.environment;
  const Allocator& allocator = contender.allocator;
  if (!allocator.is_system()) environment.preload(allocator.library);
  if (allocator.name == kTarnName)
    for (const auto& [name, value] : plan.tarn_settings) environment.set(name, value);
  for (const auto& [name, value] : contender.settings) environment.set(name, value);
  std::vector<std::string> command = {plan.program, plan.script_file};
  if (plan.is_verified) command.emplace_back("verify");
  if (plan.is_serial) command.emplace_back("fixed-addresses");
  return {.command = std::move(command),
          .environment = environment.entries(),
          .timeout_seconds = timeout_of(plan, contender),
          .kept_output_bytes = kMostOutputBytes,
          .on_tick = [&progress] { progress.tick(); }};
}

void take_run(const ReplayPlan& plan, const RunResult& run, ReplayContender& contender) {
  contender.failure = failure_of(run, contender.allocator, 0, timeout_of(plan, contender));
  if (contender.failure) return;
  try {
    contender.runs.push_back(parse_replay(run.output.kept()));
  } catch (const std::exception&) {
    contender.failure = Failure{"its output is not that of a replay", "", run.errors.last_lines(2)};
  }
}

void run_round(const ReplayPlan& plan, int round, ReplayResults& results, SignalWatch& signals,
               Progress& progress) {
  const std::size_t count = results.contenders.size();
  for (std::size_t place = 0; place < count && results.interrupted_by == 0; ++place) {
    ReplayContender& contender = results.contenders[(static_cast<std::size_t>(round) + place) % count];
    if (contender.failure) continue;
    const std::size_t rounds_after = static_cast<std::size_t>(plan.rounds - round - 1);
    const std::string when = fmt::format("round {}", round + 1);
    progress.begin_run(fmt::format("{}{} of {}: {}", plan.part, when, plan.rounds, contender.allocator.name),
                       plan.runs_after + rounds_after * count + count - place);
    const RunResult run = run_program(request_for(plan, contender, progress), signals);
    progress.end_run();
    if (run.ending == Ending::kInterrupted)
      results.interrupted_by = run.code;
    else
      take_run(plan, run, contender);
    if (contender.failure) contender.failure->when = when;
  }
}

}  // namespace

const MemoryAt& Replay::peak() const {
  return *std::max_element(samples.begin(), samples.end(),
                           [](const MemoryAt& a, const MemoryAt& b) { return a.bytes < b.bytes; });
}

double Replay::mean_bytes() const {
  const double sum = std::accumulate(samples.begin(), samples.end(), 0.0,
                                     [](double all, const MemoryAt& sample) { return all + sample.bytes; });
  return sum / static_cast<double>(samples.size());
}

double Replay::peak_live_bytes() const {
  double most = 0;
  for (const MemoryAt& sample : samples) most = std::max(most, sample.live_bytes);
  return most;
}

Summary ReplayContender::summary_of(double (*value_of)(const Replay&)) const {
  std::vector<double> values;
  for (const Replay& run : runs) values.push_back(value_of(run));
  return summarize(std::move(values));
}

Replay parse_replay(const std::string& text) {
  const Json json = Json::parse(text);
  Replay replay = {.seconds = json.at("seconds"),
                   .failed_calls = json.at("failed_calls"),
                   .samples = {},
                   .latencies = {},
                   .malloc_library = json.at("malloc")};
  for (const Json& sample : json.at("samples"))
    replay.samples.push_back({sample.at(0), sample.at(1), sample.at(2)});
  for (const auto& [name, nanoseconds] : json.at("latency_ns").items())
    replay.latencies.emplace_back(name, nanoseconds);
  if (replay.samples.empty()) throw std::runtime_error("no samples");
  return replay;
}

ReplayResults run_replays(const ReplayPlan& plan, SignalWatch& signals, Progress& progress) {
  std::vector<ReplayContender> contenders;
  for (const Allocator& allocator : plan.allocators) contenders.push_back({allocator, {}, std::nullopt});
  return run_replays(plan, std::move(contenders), signals, progress);
}

ReplayResults run_replays(const ReplayPlan& plan, std::vector<ReplayContender> contenders,
                          SignalWatch& signals, Progress& progress) {
  ReplayResults results;
  results.contenders = std::move(contenders);
  for (int round = 0; round < plan.rounds && results.interrupted_by == 0; ++round)
    run_round(plan, round, results, signals, progress);
  progress.clear();
  return results;
}

std::string find_replay_program() {
  if (const char* named = std::getenv("TARN_REPLAY_PROGRAM"); named != nullptr && *named != 0) {
    if (!is_file(named)) throw UsageError(fmt::format("TARN_REPLAY_PROGRAM names no file: '{}'", named));
    return named;
  }
  const fs::path own = own_directory();
  for (const char* place : {"libexec", "../libexec/tarn"})
    if (const fs::path found = own / place / "tarn_replay"; is_file(found))
      return found.lexically_normal().string();
  throw UsageError(
      fmt::format("tarn_replay is neither in {0}/libexec nor in {0}/../libexec/tarn: build it, or set "
                  "TARN_REPLAY_PROGRAM to its path",
                  own.string()));
}

}  // namespace tarn::tool
