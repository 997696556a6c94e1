// One loop around poll for all programs.
#include "system/runs/supervision.h"

#include <poll.h>

#include <algorithm>

namespace tarn::tool {
namespace {

constexpr double kTickSeconds = 0.5;
constexpr double kOutputGraceSeconds = 1;   // for what a program left in the background and still writes
constexpr double kLongestWaitSeconds = 60;  // at a time; poll counts milliseconds in an int

}  // namespace

Supervision::Supervision(SignalWatch& signals, std::function<void()> on_tick) : signals_(signals) {
  if (on_tick) every(kTickSeconds, std::move(on_tick));
}

void Supervision::every(double seconds, std::function<void()> work) {
  works_.push_back({seconds, now(), std::move(work)});
}

void Supervision::handle_signals() {
  while (const auto received = signals_.next()) {
    if (received->number == SIGCHLD) continue;
    interrupted_by_ = received->number;
    for (RunningProgram* program : programs_) program->receive(*received);
  }
}

void Supervision::do_what_is_due() {
  for (Work& work : works_) {
    if (work.seconds_left() > 0) continue;
    work.last = now();
    work.work();
  }
}

void Supervision::wait_for_events(double most_seconds) {
  std::vector<pollfd> waited = {{signals_.descriptor(), POLLIN, 0}};
  for (const RunningProgram* program : programs_) {
    program->add_descriptors(waited);
    most_seconds = std::min(most_seconds, program->seconds_left());
  }
  for (const Work& work : works_) most_seconds = std::min(most_seconds, work.seconds_left());
  most_seconds = std::clamp(most_seconds, 0.0, kLongestWaitSeconds);
  poll(waited.data(), waited.size(), static_cast<int>(most_seconds * 1000) + 1);
}

void Supervision::wait_until(const std::function<bool()>& is_over, const Patience& patience) {
  const timespec start = now();
  for (;;) {
    // Signals before the looks: a SIGCHLD that comes between the two stays in the descriptor and ends the
    // wait below.
    handle_signals();
    for (RunningProgram* program : programs_) program->look();
    do_what_is_due();
    if (is_over()) return;
    const double left = patience.most_seconds - seconds_since(start);
    if (left <= 0) return;
    wait_for_events(std::min(left, patience.look_every_seconds));
  }
}

void Supervision::finish(RunningProgram& program) {
  wait_until([&] { return program.has_ended(); });
  wait_until([&] { return program.was_killed() || !program.is_writing(); }, {kOutputGraceSeconds});
  program.reap();
}

}  // namespace tarn::tool
