// What every command needs that runs programs to measure them: signals as data, orphans that end with the
// programs they come from, and progress.
//
// Threads: one. At most one exists at a time.
#pragma once
#include <cstdint>

#include "engine/contenders/allocators.h"
#include "system/processes/signals.h"
#include "system/runs/runner.h"
#include "system/servers/server_run.h"
#include "system/terminal/progress.h"

namespace tarn::tool {

enum class Telling : std::uint8_t { kQuiet, kProgress };

class Session {
 public:
  explicit Session(Telling telling);

  SignalWatch& signals() { return signals_; }
  Progress& progress() { return progress_; }

  /// Runs a program on an allocator, in the environment with the allocator's library and settings.
  RunResult run(RunRequest request, const Allocator& allocator, const Environment& environment);
  /// The same of a server; its load runs as the request says.
  ServerResult run_server(ServerRequest request, const Allocator& allocator, const Environment& environment);

 private:
  SignalWatch signals_;
  Progress progress_;
};

}  // namespace tarn::tool
