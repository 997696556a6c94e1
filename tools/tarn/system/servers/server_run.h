// Runs a server once under a load: starts it, waits until it is ready, runs the load, tells the server to
// stop, and says what the server cost while the load ran.
//
// 1. A port that is taken already is refused: the load would drive somebody else's server.
// 2. The server starts. It is ready when the port accepts a connection and it has written the text, as far as
//    they are asked for.
// 3. The load runs to its end; meanwhile the server's memory is read now and then.
// 4. For a while nothing is asked of the server, if that is wanted: does it give memory back?
// 5. SIGTERM to the server; SIGKILL if it takes too long. Whatever happened: no process is left.
//
// The server's processes are the one that was started, all that it started, and theirs; also orphaned ones,
// except those of the load's session. \pre adopt_orphans()
//
// Threads: for a process with one thread only.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "system/figures/measurement.h"
#include "system/processes/signals.h"
#include "system/runs/runner.h"

namespace tarn::tool {

/// With neither a port nor a text the server is ready when it is started; with both, when both are there.
struct Readiness {
  /// TCP, of 127.0.0.1 or [::1]. Each trial is a connection that is closed at once.
  std::optional<int> port = std::nullopt;
  /// In what the server writes to standard output or standard error.
  std::string text = {};
  double most_seconds = 60;
};

struct ServerRequest {
  RunRequest server;  // captured; its on_tick is called during the whole, its timeout is best none
  Readiness readiness;
  RunRequest load;  // captured; keeps as much of its output as is to be read
  double stop_seconds = 10;
  double idle_seconds = 0;
  double sample_seconds = 0.1;
};

struct MemorySample {
  double seconds;       // since the load's start
  std::uint64_t bytes;  // resident_bytes() of the server's processes
};

enum class ServerTrouble : std::uint8_t {
  kPortTaken,
  kEndedBeforeReady,  // also: could not be started
  kNeverReady,
  kDiedUnderLoad,  // or after the load, before it was told to stop
  kLoadFailed,     // also: could not be started
  kLoadTimedOut,
  kStoppedBadly,   // told to stop, it ended with another status than 0 or 128 + SIGTERM, or by another signal
  kLeftProcesses,  // it stopped, and others of its processes did not
};

struct ServerFailure {
  ServerTrouble trouble;
  std::string what;  // a line: "the server was ended by SIGSEGV (Segmentation fault) under load"
};

struct ServerResult {
  RunResult server;  // of its whole life
  RunResult load;    // pid 0: it did not start. Killed by SIGKILL if the server died
  std::vector<MemorySample>
      memory;  // the first before the load's start, one at its end, the last when told to stop
  /// Between the load's start and its end: CPU time and page faults of the server's processes, wall time of
  /// the load. The peak is the server's whole life's: the largest reading, or the largest of its processes.
  Measurement under_load;
  double ready_seconds = 0;       // from the server's start
  bool had_to_be_killed = false;  // it did not stop on SIGTERM; no failure
  std::optional<ServerFailure> failure;
  int interrupted_by = 0;  // a signal for the tool: the run is void, without being a failure
};

/// \post neither program nor anything that they started is left \throws std::system_error if the system has
/// no process or descriptor to give
ServerResult run_server(const ServerRequest& request, SignalWatch& signals);

}  // namespace tarn::tool
