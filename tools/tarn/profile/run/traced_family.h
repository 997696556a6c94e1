// The tracer's side of a program and of all processes below it (PTRACE_SEIZE): which there are, which of
// their threads are stopped why, and when a process has come to its end.
//
// A process ends when the last of its threads does. The first thread is held at its end until the others have
// passed theirs, so that the process can be read by its own number; but where it alone ends, it is let go.
//
// Invariant: a thread is in `threads_` from its first stop until it is waited for; `running` of a process are
// those of its threads that have not come to their end.
// Threads: one, which is the tracer.
#pragma once
#include <sys/types.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "profile/run/run_to_end.h"

namespace tarn::tool {

class TracedFamily {
 public:
  TracedFamily(const ReadAtEnd& at_end, const RunHooks& hooks) : at_end_(at_end), hooks_(hooks) {}

  /// Begins with a process that waits to execute its program. \returns false when it cannot be traced
  /// (errno).
  bool begin(pid_t first);
  /// \param status as waitpid gave it
  void note(pid_t thread, int status);
  bool has_ended() const { return processes_.empty(); }
  bool has_first_ended() const { return first_status_.has_value(); }
  std::size_t count() const { return processes_.size(); }
  /// Stops each process that is left, looks at it, and lets it run untraced.
  void look_at_the_rest();
  RunToEnd result();

 private:
  struct Process {
    TracedProcess told;
    std::set<pid_t> running;
    bool borrows_memory = false;  // between vfork and exec
    bool is_leader_held = false, was_looked_at = false;
    std::string why_unseen;
  };
  struct Thread {
    pid_t process = 0;
    std::optional<int> held_with;  // stopped, to go on with this signal
  };

  Thread& thread_of(pid_t thread);
  void note_stop(pid_t thread, int status);
  void note_birth(pid_t child, bool borrows_memory);
  void begin_process(Process& process, Begins begins);
  void note_exec(pid_t process);
  void note_exit(pid_t thread);
  void note_gone(pid_t thread, int status);
  void finish(Process& process, int status);
  /// \param registers nullptr: those of threads that wait in calls are read.
  void look_at(Process& process, pid_t by, const std::vector<observer::Address>* registers = nullptr);
  bool stop_all_of(pid_t pid);
  void look_and_leave(pid_t pid);
  void let_go(pid_t thread, int signal);

  const ReadAtEnd& at_end_;
  const RunHooks& hooks_;
  std::map<pid_t, Process> processes_;
  std::map<pid_t, Thread> threads_;
  std::set<pid_t> unborn_;    // stopped at their first instruction; their parents have not told of them
  std::set<pid_t> foretold_;  // the parents told; these have not stopped
  pid_t first_ = 0, stopping_ = 0;
  std::optional<int> first_status_;
  RunToEnd result_;
};

}  // namespace tarn::tool
