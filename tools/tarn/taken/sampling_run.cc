#include "taken/sampling_run.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <csignal>
#include <utility>
#include <vector>

#include "observer/snapshot/snapshot.h"
#include "observer/watch/watch_beat.h"
#include "system/figures/clock.h"
#include "system/figures/format.h"
#include "system/processes/signals.h"
#include "taken/fitted_interval.h"
#include "taken/live_looks.h"
#include "taken/taken_profile.h"

namespace tarn::tool {
namespace {

// So long a slow call is waited for, or a tenth of the time; then threads are stopped for a moment.
constexpr double kPatience = 1;  // seconds

/// Switches on, and off again whatever happens; unless the program has done so, or another watches by now.
class Switched {
 public:
  Switched(const observer::SamplingWords& words, std::uint64_t interval)
      : words_(words), beat_(words.lease()) {
    words_.set(interval);
  }
  ~Switched() {
    try {
      if (is_on()) words_.set(0);
    } catch (const observer::ObserveError&) {
      // The process has ended, and the profile with it.
    }
  }
  Switched(const Switched&) = delete;
  Switched& operator=(const Switched&) = delete;

  bool is_on() const { return beat_.is_kept() && words_.interval() != 0; }
  /// \why asked before and after: who was ended meanwhile would switch on what nobody switches off
  void change(std::uint64_t interval) const {
    if (!is_on()) return;
    words_.set(interval);
    if (!beat_.is_kept()) words_.set(0);
  }

 private:
  const observer::SamplingWords& words_;
  observer::WatchBeat beat_;
};

/// What a later look is compared with: sums of stacks, by their numbers.
observer::Sampling sums_of(observer::Sampling sampling) {
  sampling.live = std::vector<observer::SampledBlock>();
  for (observer::SampledStack& stack : sampling.stacks) stack.addresses = std::vector<observer::Address>();
  return sampling;
}

double samples_in(const observer::Sampling& sampling) {
  double samples = 0;
  for (const observer::SampledStack& stack : sampling.stacks) samples += static_cast<double>(stack.samples);
  return samples;
}

bool is_over(SignalWatch& signals, double seconds) {
  pollfd descriptor{signals.descriptor(), POLLIN, 0};
  if (poll(&descriptor, 1, static_cast<int>(seconds * 1000)) <= 0) return false;
  while (const std::optional<ReceivedSignal> signal = signals.next())
    if (signal->number != SIGCHLD) return true;
  return false;
}

class SamplingRun {
 public:
  SamplingRun(observer::Source& source, const observer::SamplingWords& words, const SamplingPlan& plan,
              SignalWatch& signals, Progress& progress)
      : source_(source), words_(words), plan_(plan), signals_(signals), progress_(progress) {}

  /// \param on nullptr: it was on before, at that interval
  TakenProfiles to_end(std::uint64_t interval, const Switched* on);

 private:
  void wait(const Switched* on);
  void tell_progress(double gone);
  void look(double gone, const Switched* on);
  void look_for_peak(double gone);
  void ring();
  void fit(double gone, const Switched& on);
  void end_without_process(double gone);
  double live_bytes() const {
    return static_cast<double>(observer::read_snapshot(source_).totals.live_bytes);
  }
  profile::HeapProfile read(double seconds);
  TakenProfiles with_looks();

  observer::Source& source_;
  const observer::SamplingWords& words_;
  const SamplingPlan& plan_;
  SignalWatch& signals_;
  Progress& progress_;
  ProfileStart start_;
  FittedInterval fitted_{plan_.seconds};
  LiveLooks looks_;
  std::uint64_t first_interval_ = 0, interval_ = 0;
  bool has_rung_ = false, is_noticed_ = false, has_ended_ = false;
  double peak_bytes_ = 0;
  std::optional<profile::HeapProfile> peak_;
  TakenProfiles taken_;
};

TakenProfiles SamplingRun::to_end(std::uint64_t interval, const Switched* on) {
  start_.began_with_program = on == nullptr && began_with_program(source_);
  first_interval_ = interval_ = interval;
  is_noticed_ = on == nullptr;
  if (on != nullptr) {
    observer::Sampling before = words_.read();
    for (const observer::SampledBlock& sample : before.live)
      start_.last_made_ns = std::max(start_.last_made_ns, sample.made_ns);
    start_.sampling = sums_of(std::move(before));
  }
  const timespec began = now();
  wait(on);
  const double seconds = seconds_since(began);
  progress_.clear();
  if (has_ended_) return with_looks();
  if (!is_noticed_ && !words_.is_noticed())
    fmt::print(stderr,
               "tarn: no call of the program has come to the allocator meanwhile{}: nothing was sampled\n",
               plan_.stop == StopThreads::kNever ? "'s slow path, and --no-stop was given" : "");
  taken_.last = read(seconds);
  if (plan_.has_looks) looks_.take(source_, words_, seconds);
  if (peak_ && peak_bytes_ > live_bytes()) taken_.last = std::move(*peak_);
  return with_looks();
}

TakenProfiles SamplingRun::with_looks() {
  taken_.last.looks = looks_.end();
  if (start_.began_with_program)
    for (profile::LiveLook& look : taken_.last.looks) look.older_bytes = 0;
  return std::move(taken_);
}

void SamplingRun::wait(const Switched* on) {
  constexpr double kTick = 0.1;  // seconds
  if (plan_.stop == StopThreads::kAtOnce) ring();
  const timespec began = now();
  for (double gone = 0; gone < plan_.seconds; gone = seconds_since(began)) {
    if (is_over(signals_, std::min(kTick, plan_.seconds - gone))) return;
    gone = seconds_since(began);
    is_noticed_ = is_noticed_ || words_.is_noticed();
    if (!is_noticed_ && !has_rung_ && gone > std::min(kPatience, plan_.seconds / 10)) ring();
    tell_progress(gone);
    if (!words_.can_be_read()) return end_without_process(gone);
    if (on != nullptr && !on->is_on()) {
      progress_.clear();
      fmt::print(stderr,
                 "tarn: the profile was ended early: by the program, or since this tool was stopped "
                 "for seconds\n");
      return;
    }
    try {
      look(gone, on);
    } catch (const observer::ObserveError&) {
      if (words_.can_be_read()) throw;
      return end_without_process(gone);
    }
  }
}

void SamplingRun::tell_progress(double gone) {
  progress_.begin_run(
      is_noticed_ ? fmt::format("sampling: {:.0f} of {:.0f} s (Ctrl-C ends and writes)", gone, plan_.seconds)
                  : std::string("waiting for a slow call of the program"));
}

void SamplingRun::look(double gone, const Switched* on) {
  if (plan_.at_peak) look_for_peak(gone);
  if (on != nullptr && plan_.interval == 0 && fitted_.is_due(gone)) fit(gone, *on);
  if (plan_.has_early && !taken_.early && gone > plan_.seconds / 10) taken_.early = read(gone);
  if (plan_.has_looks && looks_.is_due(gone)) looks_.take(source_, words_, gone);
}

/// Keeps the profile of the most live bytes. \why not of each that is a little more: it reads all samples
void SamplingRun::look_for_peak(double gone) {
  constexpr double kMore = 1.02;
  source_.refresh();
  const double live = live_bytes();
  if (peak_ && live <= kMore * peak_bytes_) return;
  peak_bytes_ = live;
  peak_ = read(gone);
}

/// Lets each thread notice at its next call. \why not where it is refused, as beside a debugger: the first
/// slow call tells all of them too
void SamplingRun::ring() {
  has_rung_ = true;
  if (plan_.stop == StopThreads::kNever) return;
  try {
    words_.ring();
  } catch (const observer::ObserveError&) {
    if (plan_.stop == StopThreads::kAtOnce) throw;
  }
}

/// Chooses the interval anew, by the samples that there are.
void SamplingRun::fit(double gone, const Switched& on) {
  observer::Sampling sampling;
  words_.read_stacks(sampling);
  source_.refresh();
  const double live = plan_.needs_live ? live_bytes() : 0;
  const std::uint64_t fitting = fitted_.fit(gone, samples_in(sampling) - samples_in(start_.sampling), live);
  if (fitting != interval_) on.change(interval_ = fitting);
}

/// What was most live before stays, and is what --peak is for.
void SamplingRun::end_without_process(double gone) {
  progress_.clear();
  if (!peak_)
    throw observer::ObserveError(
        fmt::format("the process ended {:.1f} s after its profile began, and its memory is gone: `tarn run "
                    "--profile` reads it at the end",
                    gone));
  fmt::print(stderr, "tarn: the process ended {:.1f} s after its profile began\n", gone);
  taken_.last = std::move(*peak_);
  has_ended_ = true;
}

profile::HeapProfile SamplingRun::read(double seconds) {
  source_.refresh();
  profile::HeapProfile profile = taken_profile(source_, start_, words_.read(), interval_, seconds);
  profile.first_interval_bytes = first_interval_;
  return profile;
}

}  // namespace

TakenProfiles take_profiles(observer::Source& source, const SamplingPlan& plan, Progress& progress) {
  const observer::SamplingWords words(source);
  if (plan.lives) words.require(*plan.lives);
  SignalWatch signals;
  SamplingRun run(source, words, plan, signals, progress);
  if (const std::uint64_t interval = words.interval(); interval != 0) {
    fmt::print(stderr,
               "tarn: a profile is on already, a sample each {}: it stays on, and --interval is ignored\n",
               format_bytes(static_cast<double>(interval)));
    return run.to_end(interval, nullptr);
  }
  const std::uint64_t chosen = plan.interval == 0 ? FittedInterval::kFirst : plan.interval;
  const Switched on(words, chosen);
  return run.to_end(chosen, &on);
}

profile::HeapProfile profile_that_is_there(const observer::Source& source,
                                           std::optional<observer::Lives> lives) {
  const observer::SamplingWords words(source);
  if (lives) words.require(*lives);
  const ProfileStart start{{}, began_with_program(source), 0};
  profile::HeapProfile profile = taken_profile(source, start, words.read(), words.interval(), 0);
  profile.first_interval_bytes = profile.interval_bytes;
  if (profile.stacks.empty())
    throw observer::ObserveError("it has no samples: the program ran without TARN_PROFILE");
  return profile;
}

}  // namespace tarn::tool
