// The command line of `tarn tune`, and what follows from it before anything is measured.
#pragma once
#include <string>
#include <vector>

#include "commands/commands.h"
#include "commands/result_output.h"
#include "trace/script.h"
#include "trace/tune/contest.h"
#include "tune/search.h"

namespace tarn::tool {

struct TuneOptions {
  std::string trace_file;  // or the number of a process, which is recorded first
  double recorded_seconds = 10;
  std::string conf_file;
  std::string most_time = "5%";
  double program_seconds = 0;  // that the program takes by itself; 0: unknown
  std::string least = "peak";
  double least_gain = tune::Bounds{}.least_gain_percent;
  std::vector<std::string> tried;
  std::vector<std::string> only;
  int rounds = 0;  // by the time that a replay takes
  bool is_quick = false;
  bool is_serial = false;
  bool is_partial = false;
  trace::Window window;
  double timeout_seconds = 600;
  ResultOutput output;
  bool is_quiet = false;
};

void add_tune_options(CLI::App& command, TuneOptions& options);

/// \throws UsageError if a value is none, or a result could not be written where it is to go. \why before
/// the first replay: a search of minutes must not end so
void require_valid(const TuneOptions& options);

/// \pre these, and all below: the options are valid
tune::Bounds bounds_of(const TuneOptions& options);

/// \param replay_seconds of one replay: short ones are noisier, so there are more of them
ContestRounds rounds_of(const TuneOptions& options, double replay_seconds);

std::vector<tune::Setting> candidates_of(const TuneOptions& options);

/// Where the size classes go that the file of settings names: tarn.conf has tarn.classes, beside it.
std::string classes_file_of(const TuneOptions& options);

}  // namespace tarn::tool
