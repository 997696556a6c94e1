// Runs every group on every contender that has it, in rounds (engine/rounds/rounds.h), each contender
// and group in a fresh process.
//
// 1. Rows that measure first touch ("cold") have a process of their own each, and so have traces, which
//    tarn_replay runs.
//
// 2. A process that fails takes its contender out of that group: what it measured before is not to be
//    trusted. One that cannot be preloaded, or brings no malloc, is taken out as a whole, and so is one that
//    hangs twice.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/rows/contenders.h"
#include "engine/contenders/session.h"
#include "engine/contenders/verification.h"
#include "engine/rounds/rounds.h"

namespace tarn::tool {

/// What one contender's runs of one row gave: a JSON object each, the figures by name.
struct RowSamples {
  BenchRow row;
  std::map<std::size_t, std::vector<Json>> runs;  // by the contender's index
};

struct GroupSamples {
  std::string name;
  std::vector<RowSamples> rows;
};

struct BenchFailure {
  std::string contender;
  std::string group;  // empty: all of them
  Failure failure;
};

struct BenchPlan {
  std::vector<BenchContender> contenders;
  std::vector<std::string> groups;
  std::vector<BenchFailure> failures;  // before anything ran
  BenchShape shape;
  int rounds = 5;
  double timeout_seconds = 60;  // of one process
};

struct BenchResults {
  std::vector<GroupSamples> groups;
  std::vector<BenchFailure> failures;
  int rounds_done = 0;
  int interrupted_by = 0;  // a signal
};

class BenchRun {
 public:
  BenchRun(const BenchPlan& plan, Session& session);
  BenchResults to_end();

 private:
  RoundsPlan plan_rounds();
  TurnEnd run_turn(const Turn& turn);
  TurnEnd run_process(const Turn& turn, const BenchRow* alone, std::size_t row_count);
  std::vector<std::string> command_of(const Turn& turn, const BenchRow* alone) const;
  std::optional<Failure> failure_of_run(const RunResult& run, const BenchContender& contender,
                                        const std::vector<Json>& lines, std::size_t row_count) const;
  TurnEnd take_out(const Turn& turn, Failure failure, bool is_whole);
  void keep(const Turn& turn, const std::vector<Json>& lines);

  const BenchPlan& plan_;
  Session& session_;
  BenchResults results_;
  std::vector<int> timeouts_;  // of each contender
};

}  // namespace tarn::tool
