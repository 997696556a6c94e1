// A trace's calls made again under several allocators: one process for each allocator and round, interleaved,
// each round starting with another allocator. Every run is judged as `tarn compare` judges programs.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "engine/allocators.h"
#include "engine/statistics.h"
#include "engine/verification.h"
#include "system/environment.h"
#include "system/progress.h"
#include "system/signals.h"
#include "trace/script.h"

namespace tarn::tool {

struct ReplayPlan {
  std::string program;      // tarn_replay
  std::string script_file;  // what it maps
  std::vector<Allocator> allocators;
  Environment environment;
  std::vector<std::pair<std::string, std::string>> tarn_settings;
  int rounds = 3;
  double timeout_seconds = 600;
  bool is_serial = false;
  bool is_verified = false;
  // Of progress, where these replays are a part of more.
  std::string part = {};       // stands before the round
  std::size_t runs_after = 0;  // of the parts that follow
};

struct MemoryAt {
  double seconds;
  double bytes;       // resident, beyond what the process had at its start
  double live_bytes;  // as the program asked for
};

struct Replay {
  double seconds = 0;
  double failed_calls = 0;
  std::vector<MemoryAt> samples;
  std::vector<std::pair<std::string, double>> latencies;  // "p99" and ns
  std::string malloc_library;                             // whose malloc was called

  /// The sample with the most resident memory. \pre there are samples
  const MemoryAt& peak() const;
  double mean_bytes() const;
  /// The most bytes that were live, as asked for, whenever that was.
  double peak_live_bytes() const;
};

struct ReplayContender {
  Allocator allocator;
  std::vector<Replay> runs;
  std::optional<Failure> failure;
  std::vector<std::pair<std::string, std::string>> settings = {};  // of its environment alone
  std::optional<double> timeout_seconds = {};                      // instead of the plan's

  bool is_comparable() const { return !failure && !runs.empty(); }
  Summary summary_of(double (*value_of)(const Replay&)) const;
};

struct ReplayResults {
  std::vector<ReplayContender> contenders;
  int interrupted_by = 0;  // a signal
};

/// What the replaying program writes. \throws std::exception if it is not that
Replay parse_replay(const std::string& text);

ReplayResults run_replays(const ReplayPlan& plan, SignalWatch& signals, Progress& progress);
/// The same for these contenders instead of the plan's allocators.
ReplayResults run_replays(const ReplayPlan& plan, std::vector<ReplayContender> contenders,
                          SignalWatch& signals, Progress& progress);

/// The replaying program: in $TARN_REPLAY_PROGRAM, beside the tool or where it is installed. \throws
/// UsageError if it is nowhere
std::string find_replay_program();

}  // namespace tarn::tool
