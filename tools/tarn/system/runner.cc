// The wait for a child: its output, its end, the timeout, and the signals the tool receives meanwhile.
#include "system/runner.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>

#include "system/child_process.h"
#include "system/clock.h"

namespace tarn::tool {
namespace {

constexpr double kTickSeconds = 0.5;
constexpr double kOutputGraceSeconds = 1;  // for what a program left in the background and still writes
constexpr std::size_t kMostDrainedBytes = 2 * kOutputPipeBytes;

class Supervisor {
 public:
  Supervisor(const RunRequest& request, SignalWatch& signals)
      : request_(request), signals_(signals), child_(start_child(request, signals)) {
    result_.pid = child_.pid;
    result_.output = OutputDigest(request.kept_output_bytes);
  }

  RunResult run_to_end();

 private:
  bool is_captured() const { return request_.streams == Streams::kCaptured; }
  double elapsed() const { return seconds_between(child_.start.clock, now()); }
  void wait_for_end();
  void wait_for_events(double most_seconds);
  void handle_signals();
  void handle_timeout();
  void end_by_force(Ending reason, int code);
  void look_whether_ended();
  void drain();
  void drain_late_output();
  void reap();

  const RunRequest& request_;
  SignalWatch& signals_;
  StartedChild child_;
  RunResult result_;
  timespec end_ = {};
  bool has_ended_ = false;
  bool was_killed_ = false;
};

/// Moves what a descriptor holds into a sink; closes it at its end. Not more at a time than a full pipe, or a
/// program that writes for ever would keep the tool from looking at the clock.
template <typename Sink>
void drain_descriptor(Descriptor& source, Sink& sink) {
  static std::array<char, 64 * 1024> chunk;
  for (std::size_t taken = 0; source.is_open() && taken < kMostDrainedBytes;) {
    const ssize_t count = read(source.get(), chunk.data(), chunk.size());
    if (count > 0) {
      sink.append(std::string_view(chunk.data(), static_cast<std::size_t>(count)));
      taken += static_cast<std::size_t>(count);
    } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
      source.reset();
    } else if (errno == EAGAIN) {
      return;
    }
  }
}

void Supervisor::drain() {
  drain_descriptor(child_.output, result_.output);
  drain_descriptor(child_.errors, result_.errors);
}

void Supervisor::wait_for_events(double most_seconds) {
  pollfd waited[] = {{signals_.descriptor(), POLLIN, 0},
                     {child_.output.get(), POLLIN, 0},  // poll leaves out what is negative
                     {child_.errors.get(), POLLIN, 0}};
  poll(waited, std::size(waited), static_cast<int>(most_seconds * 1000) + 1);
}

/// \why the group dies before its leader is waited for: until then nobody else can get its number
void Supervisor::end_by_force(Ending reason, int code) {
  if (was_killed_) return;
  was_killed_ = true;
  result_.ending = reason;
  result_.code = code;
  kill(-child_.pid, SIGKILL);
}

void Supervisor::handle_signals() {
  while (const auto received = signals_.next()) {
    if (received->number == SIGCHLD) continue;
    if (is_captured())
      end_by_force(Ending::kInterrupted, received->number);
    else if (received->is_from_process)
      kill(child_.pid, received->number);
  }
}

void Supervisor::handle_timeout() {
  if (request_.timeout_seconds > 0 && elapsed() >= request_.timeout_seconds)
    end_by_force(Ending::kTimedOut, 0);
}

void Supervisor::look_whether_ended() {
  siginfo_t info = {};
  if (waitid(P_PID, static_cast<id_t>(child_.pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      info.si_pid == 0)
    return;
  end_ = now();
  has_ended_ = true;
}

void Supervisor::wait_for_end() {
  double next_tick = kTickSeconds;
  for (;;) {
    // Signals before the look: a SIGCHLD that comes between the two stays in the descriptor and ends the wait
    // below.
    handle_signals();
    look_whether_ended();
    if (has_ended_) return;
    drain();
    handle_timeout();
    if (elapsed() >= next_tick) {
      next_tick = elapsed() + kTickSeconds;
      if (request_.on_tick) request_.on_tick();
    }
    double until = next_tick - elapsed();
    if (request_.timeout_seconds > 0) until = std::min(until, request_.timeout_seconds - elapsed());
    wait_for_events(std::max(until, 0.0));
  }
}

void Supervisor::drain_late_output() {
  const timespec start = now();
  drain();
  while (!was_killed_ && (child_.output.is_open() || child_.errors.is_open())) {
    const double left = kOutputGraceSeconds - seconds_between(start, now());
    if (left <= 0) break;
    wait_for_events(left);
    drain();
    handle_signals();
  }
}

void Supervisor::reap() {
  int status = 0;
  rusage usage = {};
  while (wait4(child_.pid, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  result_.cost = cost_between(child_.start, end_, usage);
  if (child_.exec_error != 0) {
    result_.ending = Ending::kNotStarted;
    result_.code = child_.exec_error;
  } else if (!was_killed_) {
    result_.ending = WIFEXITED(status) ? Ending::kExited : Ending::kSignaled;
    result_.code = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
  }
}

RunResult Supervisor::run_to_end() {
  wait_for_end();
  if (is_captured()) {
    drain_late_output();
    kill(-child_.pid, SIGKILL);
  }
  reap();
  if (is_captured()) {
    end_descendants();
    drain();
  }
  return std::move(result_);
}

}  // namespace

void adopt_orphans() { prctl(PR_SET_CHILD_SUBREAPER, 1); }

RunResult run_program(const RunRequest& request, SignalWatch& signals) {
  return Supervisor(request, signals).run_to_end();
}

}  // namespace tarn::tool
