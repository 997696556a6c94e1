// Runs every group on every contender that has it, in rounds, each contender and group in a fresh process.
//
// 1. A round runs all groups; within a group the contenders run one after the other, and each round starts
//    with another one, so that what disturbs the machine disturbs all of them alike. Interrupted, a run has
//    whole rounds of everything.
//
// 2. Rows that measure first touch ("cold") have a process of their own each, and so have traces, which
//    tarn_replay runs.
//
// 3. A process that fails takes its contender out of that group: what it measured before is not to be
//    trusted. One that cannot be preloaded, or brings no malloc, is taken out as a whole, and so is one that
//    hangs twice.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/contenders.h"
#include "engine/verification.h"
#include "system/progress.h"

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
  BenchRun(const BenchPlan& plan, SignalWatch& signals, Progress& progress);
  BenchResults to_end();

 private:
  struct Job {
    std::size_t group;
    std::size_t contender;
    int most_rounds;
    double usual_seconds;  // by the catalogue
    bool is_out = false;
    double seconds = 0;  // of its last run; 0: it has not run
  };

  void plan_jobs();
  std::vector<std::size_t> jobs_of_round(int round) const;
  void run_round(int round);
  void run_job(Job& job, int round);
  bool run_process(Job& job, const BenchRow* alone, std::size_t row_count, int round);
  std::vector<std::string> command_of(const Job& job, const BenchRow* alone) const;
  std::optional<Failure> failure_of_run(const RunResult& run, const BenchContender& contender,
                                        const std::vector<Json>& lines, std::size_t row_count) const;
  void take_out(Job& job, Failure failure, bool is_whole);
  void keep(const Job& job, const std::vector<Json>& lines);
  std::optional<double> seconds_left(int round, const std::vector<std::size_t>& jobs,
                                     std::size_t place) const;
  double expected_seconds(const Job& job) const;

  const BenchPlan& plan_;
  SignalWatch& signals_;
  Progress& progress_;
  BenchResults results_;
  std::vector<Job> jobs_;        // in the order of the first round
  std::vector<int> timeouts_;    // of each contender
  double measured_seconds_ = 0;  // of jobs that have run, and what is usual of them
  double usual_seconds_ = 0;
};

}  // namespace tarn::tool
