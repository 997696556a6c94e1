// Rounds of replays.
#include "trace/replay/replay_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <numeric>

#include "engine/rounds/rounds.h"
#include "report/results.h"
#include "system/files/files.h"
#include "system/files/usage_error.h"

namespace tarn::tool {
namespace fs = std::filesystem;
namespace {

class ReplayRun {
 public:
  ReplayRun(const ReplayPlan& plan, const std::vector<Allocator>& allocators, Session& session,
            double hopeless)
      : plan_(plan), session_(session), hopeless_seconds_(hopeless) {
    results_.contenders = entries_for<Replay>(allocators);
  }

  ReplayResults to_end();

 private:
  double timeout_of(std::size_t contender) const {
    return contender == 0 || hopeless_seconds_ == 0 ? plan_.timeout_seconds
                                                    : std::min(plan_.timeout_seconds, hopeless_seconds_);
  }
  std::vector<std::string> command() const;
  TurnEnd run_turn(const Turn& turn);
  std::optional<Failure> take(const RunResult& run, std::size_t contender);

  const ReplayPlan& plan_;
  Session& session_;
  const double hopeless_seconds_;
  ReplayResults results_;
};

std::vector<std::string> ReplayRun::command() const {
  std::vector<std::string> words = {plan_.program, plan_.script_file};
  if (plan_.is_verified) words.emplace_back("verify");
  if (plan_.is_serial) words.emplace_back("fixed-addresses");
  return words;
}

std::optional<Failure> ReplayRun::take(const RunResult& run, std::size_t contender) {
  ReplayEntry& entry = results_.contenders[contender];
  if (auto failure = failure_of(run, entry.allocator, 0, timeout_of(contender))) return failure;
  try {
    entry.runs.push_back(parse_replay(run.output.kept()));
  } catch (const std::exception&) {
    return Failure{"its output is not that of a replay", "", run.errors.last_lines(2)};
  }
  return std::nullopt;
}

TurnEnd ReplayRun::run_turn(const Turn& turn) {
  ReplayEntry& entry = results_.contenders[turn.contender];
  const RunResult run = session_.run({.command = command(),
                                      .timeout_seconds = timeout_of(turn.contender),
                                      .kept_output_bytes = kMostFigureBytes},
                                     entry.allocator, plan_.environment);
  if (run.ending == Ending::kInterrupted) {
    results_.interrupted_by = run.code;
    return TurnEnd::kInterrupted;
  }
  entry.failure = take(run, turn.contender);
  if (!entry.failure) return TurnEnd::kDone;
  entry.failure->when = turn.when;
  return TurnEnd::kSeatIsOut;
}

ReplayResults ReplayRun::to_end() {
  RoundsPlan rounds = {.groups = {""}, .part = plan_.part, .turns_after = plan_.runs_after};
  for (const ReplayEntry& entry : results_.contenders) {
    rounds.seats.push_back({.group = 0, .contender = rounds.contenders.size(), .rounds = plan_.rounds});
    rounds.contenders.push_back(entry.allocator.name);
  }
  Rounds(std::move(rounds), session_.progress()).to_end([this](const Turn& turn) { return run_turn(turn); });
  return std::move(results_);
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

double Replay::waste_percent() const {
  const double most = peak().bytes;
  return most == 0 ? 0 : 100 * (most - peak_live_bytes()) / most;
}

Replay parse_replay(const std::string& text) {
  const Json json = Json::parse(text);
  Replay replay = {.seconds = json.at("seconds"),
                   .failed_calls = json.at("failed_calls"),
                   .malloc_library = json.at("malloc")};
  for (const Json& sample : json.at("samples"))
    replay.samples.push_back({sample.at(0), sample.at(1), sample.at(2)});
  for (const auto& [name, nanoseconds] : json.at("latency_ns").items())
    replay.latencies.emplace_back(name, nanoseconds);
  if (replay.samples.empty()) throw std::runtime_error("no samples");
  return replay;
}

const std::vector<Metric<Replay>>& replay_metrics() {
  static const std::vector<Metric<Replay>> metrics = {
      {"seconds", "time", Quantity::kSeconds, [](const Replay& r) { return r.seconds; }},
      {"peak_bytes", "peak RSS", Quantity::kBytes, [](const Replay& r) { return r.peak().bytes; }},
      {"mean_bytes", "mean RSS", Quantity::kBytes, [](const Replay& r) { return r.mean_bytes(); }},
      {"peak_live_bytes", "peak live", Quantity::kBytes, [](const Replay& r) { return r.peak_live_bytes(); }},
  };
  return metrics;
}

ReplayResults run_replays(const ReplayPlan& plan, const std::vector<Allocator>& allocators, Session& session,
                          double hopeless_seconds) {
  return ReplayRun(plan, allocators, session, hopeless_seconds).to_end();
}

std::string find_replay_program() {
  if (const std::string named = file_named_by("TARN_REPLAY_PROGRAM"); !named.empty()) return named;
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
