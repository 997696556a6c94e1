// Rounds, processes and what becomes of their lines.
#include "bench/rows/bench_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/rows/catalogue.h"
#include "system/files/files.h"

namespace tarn::tool {
namespace {

constexpr int kWrongBlocksStatus = 3;  // bench/program/verify.h
constexpr int kMostTimeouts = 2;

bool is_replay(const BenchRow* alone) { return alone != nullptr && !alone->replay.empty(); }

/// Of a line, what is a figure.
Json figures_of(const Json& line) {
  Json figures = Json::object();
  for (const auto& [name, value] : line.items())
    if (name != "group" && name != "row") figures[name] = value;
  return figures;
}

}  // namespace

BenchRun::BenchRun(const BenchPlan& plan, Session& session)
    : plan_(plan), session_(session), timeouts_(plan.contenders.size(), 0) {
  for (const std::string& group : plan.groups) results_.groups.push_back({group, {}});
  results_.failures = plan.failures;
}

/// A seat for each contender in each of its groups; and the rows of the results.
RoundsPlan BenchRun::plan_rounds() {
  RoundsPlan rounds = {.groups = plan_.groups};
  for (const BenchContender& contender : plan_.contenders) rounds.contenders.push_back(contender.name);
  for (std::size_t group = 0; group < plan_.groups.size(); ++group) {
    std::vector<RowSamples>& rows = results_.groups[group].rows;
    const GroupInfo* const info = find_group(plan_.groups[group]);
    for (std::size_t contender = 0; contender < plan_.contenders.size(); ++contender) {
      const auto part = plan_.contenders[contender].groups.find(plan_.groups[group]);
      if (part == plan_.contenders[contender].groups.end()) continue;
      rounds.seats.push_back(
          {.group = group,
           .contender = contender,
           .rounds = std::min(plan_.rounds, info->most_rounds),
           .usual_seconds = info->row_seconds * static_cast<double>(part->second.rows.size())});
      for (const BenchRow& row : part->second.rows) {
        const auto is_same = [&](const RowSamples& samples) { return samples.row.name == row.name; };
        if (std::none_of(rows.begin(), rows.end(), is_same)) rows.push_back({row, {}});
      }
    }
  }
  return rounds;
}

/// One process for the rows of a group, and one for each that is alone.
TurnEnd BenchRun::run_turn(const Turn& turn) {
  const std::vector<BenchRow>& rows =
      plan_.contenders[turn.contender].groups.at(plan_.groups[turn.group]).rows;
  const auto alone_count = static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), is_alone));
  TurnEnd end = TurnEnd::kDone;
  if (alone_count != rows.size()) end = run_process(turn, nullptr, rows.size() - alone_count);
  for (const BenchRow& row : rows)
    if (is_alone(row) && end == TurnEnd::kDone) end = run_process(turn, &row, 1);
  return end;
}

/// \param alone the only row of the process; nullptr: all that are not alone
std::vector<std::string> BenchRun::command_of(const Turn& turn, const BenchRow* alone) const {
  const std::string& group = plan_.groups[turn.group];
  const BenchOffer& offer = plan_.contenders[turn.contender].groups.at(group).offer;
  std::vector<std::string> command = {offer.program};
  const std::vector<std::string> words = is_replay(alone) ? alone->replay : plan_.shape.arguments();
  command.insert(command.end(), words.begin(), words.end());
  if (is_replay(alone)) return command;
  command.insert(command.end(), {"--contestant", offer.contestant, "--group", group});
  if (alone != nullptr) command.insert(command.end(), {"--row", alone->name});
  return command;
}

TurnEnd BenchRun::run_process(const Turn& turn, const BenchRow* alone, std::size_t row_count) {
  const BenchContender& contender = plan_.contenders[turn.contender];
  const RunResult run = session_.run({.command = command_of(turn, alone),
                                      .timeout_seconds = plan_.timeout_seconds,
                                      .kept_output_bytes = kMostFigureBytes},
                                     {contender.name, contender.library, contender.settings}, {});
  if (run.ending == Ending::kInterrupted) {
    results_.interrupted_by = run.code;
    return TurnEnd::kInterrupted;
  }
  const std::vector<Json> lines =
      is_replay(alone) ? lines_of_replay(*alone, run.output.kept()) : json_lines(run.output.kept());
  if (std::optional<Failure> failure = failure_of_run(run, contender, lines, row_count)) {
    failure->when = turn.when;
    const bool is_hanging = run.ending == Ending::kTimedOut && ++timeouts_[turn.contender] >= kMostTimeouts;
    // A benchmark program begins with a line; a replay that fails writes none.
    const bool is_silent = lines.empty() && !is_replay(alone);
    const bool is_unusable = failure->what.starts_with("could not be preloaded") || is_silent;
    return take_out(turn, std::move(*failure),
                    is_hanging || (is_unusable && run.ending != Ending::kTimedOut));
  }
  keep(turn, lines);
  return TurnEnd::kDone;
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

TurnEnd BenchRun::take_out(const Turn& turn, Failure failure, bool is_whole) {
  const std::string& name = plan_.contenders[turn.contender].name;
  results_.failures.push_back({name, is_whole ? "" : plan_.groups[turn.group], std::move(failure)});
  for (RowSamples& samples : results_.groups[turn.group].rows) samples.runs.erase(turn.contender);
  return is_whole ? TurnEnd::kContenderIsOut : TurnEnd::kSeatIsOut;
}

void BenchRun::keep(const Turn& turn, const std::vector<Json>& lines) {
  std::vector<RowSamples>& rows = results_.groups[turn.group].rows;
  for (const Json& line : lines) {
    const auto samples = std::find_if(rows.begin(), rows.end(), [&](const RowSamples& one) {
      return one.row.name == line.value("row", "") && line.contains(one.row.metric);
    });
    if (samples != rows.end()) samples->runs[turn.contender].push_back(figures_of(line));
  }
}

BenchResults BenchRun::to_end() {
  results_.rounds_done =
      Rounds(plan_rounds(), session_.progress()).to_end([this](const Turn& turn) { return run_turn(turn); });
  return std::move(results_);
}

}  // namespace tarn::tool
