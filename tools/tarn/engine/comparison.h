// A program run on several allocators, round robin, so that whatever disturbs the machine disturbs all of
// them alike. Each round starts with another allocator. Every run is verified; one that fails is named and
// never compared.
//
// 1. Warm-up rounds verify and fill the file caches; their costs are thrown away.
// 2. A run that ends otherwise than expected takes its allocator out of the rounds that follow.
// 3. Standard output must be that of the system allocator's first run. If the system allocator itself writes
//    something else another time, the program is not deterministic, and only exit statuses are compared.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "engine/allocators.h"
#include "engine/verification.h"
#include "system/environment.h"
#include "system/measurement.h"
#include "system/progress.h"
#include "system/signals.h"

namespace tarn::tool {

struct ComparisonPlan {
  std::vector<std::string> command;
  std::vector<Allocator> allocators;                               // the system's first
  Environment environment;                                         // without anything preloaded
  std::vector<std::pair<std::string, std::string>> tarn_settings;  // for tarn alone
  int rounds = 5;
  int warmups = 1;
  double timeout_seconds = 600;
  std::string stdin_path = "/dev/null";
  int expected_status = 0;
};

struct Contender {
  Allocator allocator;
  std::vector<Measurement> runs;
  std::optional<Failure> failure;

  bool is_comparable() const { return !failure && !runs.empty(); }
};

enum class OutputVerdict : std::uint8_t { kIdentical, kNotDeterministic, kNotCompared };

struct Comparison {
  std::vector<Contender> contenders;
  OutputVerdict output = OutputVerdict::kNotCompared;
  int interrupted_by = 0;  // a signal
};

class ComparisonRun {
 public:
  ComparisonRun(const ComparisonPlan& plan, SignalWatch& signals, Progress& progress);
  Comparison to_end();

 private:
  enum class Purpose : std::uint8_t { kVerify, kMeasure };
  struct OutputFailure {
    std::size_t contender;
    Failure failure;
  };

  void run_round(int index);
  void run_once(std::size_t contender, Purpose purpose, const std::string& when);
  void check_output(std::size_t contender, const RunResult& run, const std::string& when);
  void confirm_output();
  void judge_output();
  bool is_over() const { return result_.interrupted_by != 0; }
  std::size_t runs_left(int round, std::size_t place) const;
  RunRequest request_for(const Allocator& allocator) const;

  const ComparisonPlan& plan_;
  SignalWatch& signals_;
  Progress& progress_;
  Comparison result_;
  std::optional<OutputDigest> reference_;
  std::size_t system_runs_ = 0;  // since the reference, which is the first
  bool is_deterministic_ = true;
  std::vector<OutputFailure> output_failures_;
};

}  // namespace tarn::tool
