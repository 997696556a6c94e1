// Configurations of the library measured by replays of one trace: what the search of tools/tune asks for.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "trace/replay/replay_run.h"
#include "tune/search.h"

namespace tarn::tool {

/// The value of classes_file that stands for the table fitted to the trace, wherever it lies.
inline constexpr const char* kFittedClasses = "(fitted)";

struct ContestRounds {
  int searched = 5;
  int verified = 9;  // five at least

  int of(tune::Step step) const { return step == tune::Step::kVerified ? verified : searched; }
};

class Contest {
 public:
  /// \param plan what each replay has in common \param fitted_file the table that kFittedClasses stands for
  Contest(ReplayPlan plan, Allocator tarn, std::string fitted_file, Session& session);

  void set_rounds(ContestRounds rounds) { rounds_ = rounds; }

  /// One replay of the defaults. What takes ten times as long later is ended, and counts as failed.
  /// \throws Interrupted, std::runtime_error if it fails
  Replay try_defaults();

  /// \throws Interrupted, std::runtime_error if the defaults fail
  std::vector<tune::Measurements> measure(tune::Step step,
                                          const std::vector<tune::Configuration>& configurations);

  /// Why configurations failed, by their text.
  const std::map<std::string, std::string>& failures() const { return failures_; }

 private:
  Allocator tarn_with(const tune::Configuration& configuration) const;
  Entries<Replay> replay(const std::vector<tune::Configuration>& configurations);
  tune::Measurements taken_from(const ReplayEntry& contender, double failed_calls_of_defaults);
  std::size_t expected_runs_after(tune::Step step) const;

  ReplayPlan plan_;
  const Allocator tarn_;
  const std::string fitted_file_;
  ContestRounds rounds_;
  Session& session_;
  double seconds_of_defaults_ = 0;  // of the trial; 0: there was none
  bool was_added_ = false;          // the step kAdded is begun or over
  std::map<std::string, std::string> failures_;
};

/// "huge_pages:never thread_cache:64K", or "defaults".
std::string text_of(const tune::Configuration& configuration);

/// The environment without anything that sets an option of the library: the defaults of the machine.
Environment environment_of_defaults();

}  // namespace tarn::tool
