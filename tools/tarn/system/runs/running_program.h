// A program under way: what it writes, whether it has ended, whether its time is over. supervision.h waits
// for one or several of them.
//
// Order of calls: look() again and again until has_ended(), then reap(), then take_result(). A program that
// is not reaped is killed when its object goes.
#pragma once
#include <poll.h>

#include <vector>

#include "system/runs/child_process.h"
#include "system/runs/runner.h"

namespace tarn::tool {

class RunningProgram {
 public:
  /// Starts it. \pre the request outlives this object \throws std::system_error if the system has no process
  /// or descriptor to give
  RunningProgram(const RunRequest& request, const SignalWatch& signals);
  ~RunningProgram();
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

  pid_t pid() const { return child_.pid; }
  bool is_captured() const { return request_.streams == Streams::kCaptured; }
  double elapsed_seconds() const;
  /// Until its timeout; infinite without one.
  double seconds_left() const;
  void add_descriptors(std::vector<pollfd>& waited) const;

  /// Takes what it has written, sees whether it has ended, kills it if its time is over. Does not wait.
  void look();
  bool has_ended() const { return has_ended_; }
  /// Whether it, or a process that it started, can still write into its streams.
  bool is_writing() const { return child_.output.is_open() || child_.errors.is_open(); }

  /// What the tool received: kills a captured program, is passed on to another one.
  void receive(const ReceivedSignal& signal);
  /// Kills the program and its process group; the reason and the code become those of its result.
  void end_by_force(Ending reason, int code);
  bool was_killed() const { return was_killed_; }

  /// \pre has_ended() \post of a captured program's process group nothing is left
  void reap();
  /// How it ended. \pre has_ended()
  Ending ending() const { return result_.ending; }
  int code() const { return result_.code; }
  /// \pre reaped
  RunResult take_result();

 private:
  void look_whether_ended();
  void drain();

  const RunRequest& request_;
  StartedChild child_;
  RunResult result_;
  timespec end_ = {};
  bool has_ended_ = false;
  bool was_killed_ = false;
  bool is_reaped_ = false;
};

}  // namespace tarn::tool
