// The wait for one or several programs: their output, their ends, their timeouts, the signals that the tool
// receives meanwhile, and work that is due now and then.
//
// Threads: for a process with one thread only.
#pragma once
#include <functional>
#include <limits>
#include <vector>

#include "system/figures/clock.h"
#include "system/processes/signals.h"
#include "system/runs/running_program.h"

namespace tarn::tool {

/// How long a wait lasts at most, and how often its condition is looked at when nothing happens.
struct Patience {
  double most_seconds = std::numeric_limits<double>::infinity();
  double look_every_seconds = std::numeric_limits<double>::infinity();
};

class Supervision {
 public:
  /// `on_tick`, if there is one, is called about twice a second during each wait.
  Supervision(SignalWatch& signals, std::function<void()> on_tick);

  /// \pre the program outlives the waits that follow
  void add(RunningProgram& program) { programs_.push_back(&program); }
  /// Has something done every so many seconds during the waits that follow.
  void every(double seconds, std::function<void()> work);

  /// Waits. A signal for the tool kills the captured programs: wait for their ends too.
  void wait_until(const std::function<bool()>& is_over, const Patience& patience = {});
  /// Waits for the program's end and for what is still written into its streams, and reaps it.
  void finish(RunningProgram& program);
  /// The last signal for the tool; 0: none came.
  int interrupted_by() const { return interrupted_by_; }

 private:
  struct Work {
    double period_seconds;
    timespec last;
    std::function<void()> work;

    double seconds_left() const { return period_seconds - seconds_since(last); }
  };

  void handle_signals();
  void do_what_is_due();
  void wait_for_events(double most_seconds);

  SignalWatch& signals_;
  std::vector<RunningProgram*> programs_;
  std::vector<Work> works_;
  int interrupted_by_ = 0;
};

}  // namespace tarn::tool
