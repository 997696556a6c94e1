// One program, supervised to its end.
#include "system/runner.h"

#include <sys/prctl.h>

#include "system/child_process.h"
#include "system/running_program.h"
#include "system/supervision.h"

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
