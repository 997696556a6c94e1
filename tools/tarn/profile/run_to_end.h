// Runs a program and reads its heap when it is about to end, from outside: its exit handlers have run, and
// its memory is still there. The kernel stops it there for its tracer (PTRACE_O_TRACEEXIT); otherwise it runs
// as ever. Only the first process is looked at, not what it starts.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "observer/source.h"
#include "system/environment.h"

namespace tarn::tool {

struct RunToEnd {
  int status = 0;  // as of waitpid
  bool was_read = false;
  std::string obstacle;  // why it was not
};

/// What is done meanwhile.
struct RunHooks {
  /// In the new process: what its environment says may depend on its number.
  std::function<void(Environment&, int pid)> before_exec = {};
  /// Now and then. \returns in how many milliseconds it is to be called again
  std::function<int(int pid)> tick = {};
};

/// \param at_end reads the program's memory; what it throws is the obstacle. \pre the program can be found.
RunToEnd run_to_end(const std::vector<std::string>& command, const Environment& environment,
                    const std::function<void(observer::Source& source)>& at_end, const RunHooks& hooks = {});

}  // namespace tarn::tool
