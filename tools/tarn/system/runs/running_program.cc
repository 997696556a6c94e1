// The steps of a program's life, as its supervisor takes them.
#include "system/runs/running_program.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <limits>

#include "system/figures/clock.h"

namespace tarn::tool {
namespace {

constexpr std::size_t kMostDrainedBytes = 2 * kOutputPipeBytes;

/// Moves what a descriptor holds into a sink; closes it at its end. Not more at a time than a full pipe, or a
/// program that writes for ever would keep the tool from looking at the clock.
template <typename Sink>
void drain_descriptor(Descriptor& source, Sink& sink, const std::function<void(std::string_view)>& listener) {
  static std::array<char, 64 * 1024> chunk;
  for (std::size_t taken = 0; source.is_open() && taken < kMostDrainedBytes;) {
    const ssize_t count = read(source.get(), chunk.data(), chunk.size());
    if (count > 0) {
      const std::string_view piece(chunk.data(), static_cast<std::size_t>(count));
      sink.append(piece);
      if (listener) listener(piece);
      taken += piece.size();
    } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
      source.reset();
    } else if (errno == EAGAIN) {
      return;
    }
  }
}

}  // namespace

RunningProgram::RunningProgram(const RunRequest& request, const SignalWatch& signals)
    : request_(request), child_(start_child(request, signals)) {
  result_.pid = child_.pid;
  result_.output = OutputDigest(request.kept_output_bytes);
}

RunningProgram::~RunningProgram() {
  if (is_reaped_) return;
  kill(is_captured() ? -child_.pid : child_.pid, SIGKILL);
  reap();
}

double RunningProgram::elapsed_seconds() const { return seconds_since(child_.start.clock); }

double RunningProgram::seconds_left() const {
  if (request_.timeout_seconds <= 0 || was_killed_ || has_ended_)
    return std::numeric_limits<double>::infinity();
  return request_.timeout_seconds - elapsed_seconds();
}

void RunningProgram::add_descriptors(std::vector<pollfd>& waited) const {
  waited.push_back({child_.output.get(), POLLIN, 0});  // poll leaves out what is negative
  waited.push_back({child_.errors.get(), POLLIN, 0});
}

void RunningProgram::look() {
  if (!has_ended_) look_whether_ended();
  drain();
  if (seconds_left() <= 0) end_by_force(Ending::kTimedOut, 0);
}

void RunningProgram::look_whether_ended() {
  siginfo_t info = {};
  if (waitid(P_PID, static_cast<id_t>(child_.pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      info.si_pid == 0)
    return;
  end_ = now();
  has_ended_ = true;
  if (child_.exec_error != 0) {
    result_.ending = Ending::kNotStarted;
    result_.code = child_.exec_error;
  } else if (!was_killed_) {
    result_.ending = info.si_code == CLD_EXITED ? Ending::kExited : Ending::kSignaled;
    result_.code = info.si_status;
  }
}

void RunningProgram::drain() {
  drain_descriptor(child_.output, result_.output, request_.on_output);
  drain_descriptor(child_.errors, result_.errors, request_.on_errors);
}

void RunningProgram::receive(const ReceivedSignal& signal) {
  if (is_captured())
    end_by_force(Ending::kInterrupted, signal.number);
  else if (signal.is_from_process)
    kill(child_.pid, signal.number);
}

/// \why the group dies before its leader is waited for: until then nobody else can get its number
void RunningProgram::end_by_force(Ending reason, int code) {
  if (was_killed_ || is_reaped_) return;
  was_killed_ = true;
  result_.ending = reason;
  result_.code = code;
  kill(-child_.pid, SIGKILL);
}

void RunningProgram::reap() {
  if (is_captured()) kill(-child_.pid, SIGKILL);
  rusage usage = {};
  while (wait4(child_.pid, nullptr, 0, &usage) < 0 && errno == EINTR) {
  }
  result_.cost = cost_between(child_.start, end_, usage);
  is_reaped_ = true;
}

RunResult RunningProgram::take_result() {
  drain();  // what its descendants wrote until they were killed
  return std::move(result_);
}

}  // namespace tarn::tool
