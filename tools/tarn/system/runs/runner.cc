// One program, supervised to its end.
#include "system/runs/runner.h"

#include <sys/prctl.h>

#include "system/runs/child_process.h"
#include "system/runs/running_program.h"
#include "system/runs/supervision.h"

namespace tarn::tool {

void adopt_orphans() { prctl(PR_SET_CHILD_SUBREAPER, 1); }

RunResult run_program(const RunRequest& request, SignalWatch& signals) {
  RunningProgram program(request, signals);
  Supervision supervision(signals, request.on_tick);
  supervision.add(program);
  supervision.finish(program);
  if (request.streams == Streams::kCaptured) end_descendants();
  return program.take_result();
}

}  // namespace tarn::tool
