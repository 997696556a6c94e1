// A trace's calls made again under several allocators, in rounds (engine/rounds/rounds.h): one process
// for each allocator and round. Every run is judged as `tarn compare` judges programs.
#pragma once
#include <string>
#include <vector>

#include "engine/contenders/session.h"
#include "engine/rounds/entry.h"
#include "trace/script.h"

namespace tarn::tool {

struct ReplayPlan {
  std::string program;           // tarn_replay
  std::string script_file = {};  // what it maps
  Environment environment = {};
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
  std::vector<MemoryAt> samples = {};
  std::vector<std::pair<std::string, double>> latencies = {};  // "p99" and ns
  std::string malloc_library;                                  // that has the malloc which was called

  /// The sample with the most resident memory. \pre there are samples
  const MemoryAt& peak() const;
  double mean_bytes() const;
  /// The most bytes that were live, as asked for, whenever that was.
  double peak_live_bytes() const;
  /// What of the most resident memory the most live bytes do not account for. \why both peaks, which need not
  /// be at one time: an allocator that keeps what was freed stays at its peak long after the program's
  double waste_percent() const;
};

using ReplayEntry = Entry<Replay>;

struct ReplayResults {
  Entries<Replay> contenders;
  int interrupted_by = 0;  // a signal
};

/// What the replaying program writes. \throws std::exception if it is not that
Replay parse_replay(const std::string& text);

/// The figures that are compared, and the most live bytes, which are the program's.
const std::vector<Metric<Replay>>& replay_metrics();

/// \param hopeless_seconds if not 0, a contender that is not the first is ended when it takes longer
ReplayResults run_replays(const ReplayPlan& plan, const std::vector<Allocator>& allocators, Session& session,
                          double hopeless_seconds = 0);

/// The replaying program: in $TARN_REPLAY_PROGRAM, beside the tool or where it is installed. \throws
/// UsageError if it is nowhere
std::string find_replay_program();

}  // namespace tarn::tool
