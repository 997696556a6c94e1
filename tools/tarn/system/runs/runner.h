// Runs one program once and says how it ended, what it cost and what it wrote. (server_run.h runs two at the
// same time: a server and its load.)
//
// Two ways: captured (compare, bench: own session, output drained and digested, killed with all it started on
// a timeout or a signal) and inherited (run: the program has the terminal, signals are passed on to it).
//
// Costs are those from exec on: the child reports the clock and its own usage just before, and both are
// subtracted. Peak RSS cannot be subtracted; the kernel carries it over exec. \why fork, not posix_spawn: a
// vforked child starts with the peak of the whole tool, a forked one with the few hundred KiB it shares by
// copy-on-write, which is less than any dynamically linked program reaches.
//
// Threads: for a process with one thread only.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "system/figures/measurement.h"
#include "system/processes/signals.h"
#include "system/runs/captured_output.h"

namespace tarn::tool {

enum class Streams : std::uint8_t { kCaptured, kInherited };

/// Kept of what a program writes that prints its figures as JSON.
inline constexpr std::size_t kMostFigureBytes = 4 << 20;

struct RunRequest {
  std::vector<std::string> command;
  std::vector<std::string> environment = {};  // NAME=value
  Streams streams = Streams::kCaptured;
  std::string directory = {};            // started in; empty: the tool's; captured only
  std::string stdin_path = "/dev/null";  // captured only
  double timeout_seconds = 0;            // captured only; 0 is none
  std::size_t kept_output_bytes = OutputDigest::kKeptBytes;
  std::function<void()> on_tick = nullptr;  // called about twice a second while the program runs
  // Captured only: called with each piece of what the program writes.
  std::function<void(std::string_view)> on_output = nullptr;
  std::function<void(std::string_view)> on_errors = nullptr;
};

enum class Ending : std::uint8_t {
  kExited,       // code: exit status
  kSignaled,     // code: the signal that ended it
  kTimedOut,     // killed by the runner
  kInterrupted,  // killed by the runner; code: the signal that the tool received
  kNotStarted,   // code: errno of exec
};

struct RunResult {
  Ending ending = Ending::kNotStarted;
  int code = 0;
  pid_t pid = 0;
  Measurement cost;
  OutputDigest output;
  ErrorText errors;
};

/// Makes orphans of whatever a captured program started children of the tool, so that the runner can end them
/// too.
void adopt_orphans();

/// Runs the program to its end. \post of a captured program no process is left \throws std::system_error if
/// the system has no process or descriptor to give
RunResult run_program(const RunRequest& request, SignalWatch& signals);

}  // namespace tarn::tool
