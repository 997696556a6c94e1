// Runs a program and reads the heap of each of its processes when it is about to end, from outside: its exit
// handlers have run, and its memory is still there. The kernel stops it there for its tracer
// (PTRACE_O_TRACEEXIT), and all that it starts are traced like it; otherwise they run as ever. But a program
// that is set-uid gets no rights under a tracer, and no other tracer may attach.
//
// Processes that are left when the first one has ended have some seconds to end too; then, or at a signal,
// they are looked at as they are, stopped for that long, and left to run.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "observer/process/source.h"
#include "system/files/environment.h"

namespace tarn::tool {

struct TracedProcess {
  int pid = 0;
  std::string name;              // of its last program, as ps shows it
  bool runs_on = false;          // looked at before its end
  std::string in_words() const;  // "sh (4711)"
};

/// A process of which nothing was read.
struct UnseenProcess {
  TracedProcess process;
  std::string why;
};

struct RunToEnd {
  int status = 0;  // as of waitpid, of the first process
  std::vector<UnseenProcess> unseen;
  std::vector<std::string> remarks;

  /// The first process's, as a shell tells it.
  int exit_status() const;
};

enum class Begins : std::uint8_t { kByFork, kByExec };

/// What is done meanwhile.
struct RunHooks {
  /// In the new process: what its environment says may depend on its number.
  std::function<void(Environment&, int pid)> before_exec = {};
  /// A process has memory of its own from now on: a copy of its parent's, or a program's. It is stopped.
  std::function<void(const TracedProcess&, Begins)> on_begin = {};
  /// Now and then. \returns in how many milliseconds it is to be called again
  std::function<int()> tick = {};
};

/// Reads a process's memory; what it throws is why the process was not seen. `words` are of registers.
using ReadAtEnd = std::function<void(observer::Source& source, const TracedProcess& process,
                                     const std::vector<observer::Address>& words)>;

/// \pre the program can be found.
RunToEnd run_to_end(const std::vector<std::string>& command, const Environment& environment,
                    const ReadAtEnd& at_end, const RunHooks& hooks = {});

}  // namespace tarn::tool
