// `tarn profile`: a sampled heap profile of a running program, switched on and off from outside.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <optional>

#include "commands/commands.h"
#include "look/processes/target.h"
#include "observer/watch/watch_beat.h"
#include "profile/documents/documents.h"
#include "profile/reports/growth.h"
#include "profile/reports/top_sites.h"
#include "profile/stacks/json.h"
#include "profile/taken/profile_documents.h"
#include "profile/taken/taken_profile.h"
#include "system/figures/clock.h"
#include "system/figures/format.h"
#include "system/files/output_files.h"
#include "system/processes/signals.h"
#include "system/terminal/progress.h"
#include "system/terminal/terminal.h"

namespace tarn::tool {
namespace {

constexpr double kLongestProfile = 24 * 3600;  // seconds

struct ProfileOptions {
  Target target;
  double seconds = 30;
  std::string interval = "512K";
  std::vector<std::string> files;
  bool shows_allocated = false, shows_growth = false, as_json = false, stops = false;
  std::size_t rows = 20;

  profile::Measure measure() const {
    return shows_allocated ? profile::Measure::kAllocated : profile::Measure::kLive;
  }
};

constexpr const char* kProfileExamples =
    "  tarn profile game_server                      what is live after 30 s, by the calls that asked for "
    "it\n"
    "  tarn profile 4711 --for 5 -o heap.pb.gz       then: go tool pprof -http=: heap.pb.gz\n"
    "  tarn profile 4711 --allocated -o flame.html   who allocates most, as a flame graph\n"
    "  tarn profile 4711 --for 60 --growth           what became more between the start and the end\n"
    "  tarn profile --core core.4711                 of a program that ran with TARN_PROFILE=512K\n"
    "\n"
    "Ctrl-C ends the profile early; it is written all the same, and switched off. Files and JSON have at\n"
    "most 1 GiB together, also of a program that forges what it tells.";

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

bool is_over(SignalWatch& signals, double seconds) {
  pollfd descriptor{signals.descriptor(), POLLIN, 0};
  if (poll(&descriptor, 1, static_cast<int>(seconds * 1000)) <= 0) return false;
  while (const std::optional<ReceivedSignal> signal = signals.next())
    if (signal->number != SIGCHLD) return true;
  return false;
}

class Profiler {
 public:
  explicit Profiler(const ProfileOptions& options)
      : options_(options), source_(open_target_to_switch(options.target)), words_(*source_) {}

  int run() {
    if (source_->kind() != observer::SourceKind::kProcess) return show_what_is_there();
    if (const std::uint64_t interval = words_.interval(); interval != 0) {
      fmt::print(stderr,
                 "tarn: a profile is on already, a sample each {}: it stays on, and --interval is ignored\n",
                 format_bytes(static_cast<double>(interval)));
      take(interval, nullptr);
    } else {
      const std::uint64_t chosen = sample_interval(options_.interval);
      const Switched on(words_, chosen);
      take(chosen, &on);
    }
    if (early_) first_ = named(std::move(*early_));
    profile_ = named(std::move(last_));
    return report();
  }

 private:
  /// Waits, and reads at the end. Names come later: they take long, and the program need not be watched
  /// meanwhile. \param on nullptr: it was on before.
  void take(std::uint64_t interval, const Switched* on) {
    SignalWatch signals;
    start_.began_with_program = false;
    interval_ = interval;
    if (on != nullptr) start_.sampling = sums_of(words_.read());
    if (options_.stops) words_.ring();
    const timespec began = now();
    bool is_noticed = on == nullptr;
    for (double gone = 0; gone < options_.seconds; gone = seconds_since(began)) {
      constexpr double kTick = 0.1;
      if (is_over(signals, std::min(kTick, options_.seconds - gone))) break;
      if (!is_noticed && words_.is_noticed()) is_noticed = true;
      progress_.begin_run(
          is_noticed
              ? fmt::format("sampling: {:.0f} of {:.0f} s (Ctrl-C ends and writes)", gone, options_.seconds)
              : std::string("waiting for a slow call of the program (--stop does not wait)"));
      if (!words_.can_be_read()) throw_ended(gone);
      if (on != nullptr && !on->is_on()) {
        tell_switched_off();
        break;
      }
      if (options_.shows_growth && !early_ && gone > options_.seconds / 10) early_ = read(gone);
    }
    const double seconds = seconds_since(began);
    progress_.clear();
    if (!is_noticed && !words_.is_noticed())
      fmt::print(stderr,
                 "tarn: no call of the program has come to the allocator's slow path meanwhile: nothing was "
                 "sampled (--stop reaches each call)\n");
    last_ = read(seconds);
  }

  void tell_switched_off() {
    progress_.clear();
    fmt::print(
        stderr,
        "tarn: the profile was ended early: by the program, or since this tool was stopped for seconds\n");
  }

  [[noreturn]] void throw_ended(double seconds) {
    progress_.clear();
    throw observer::ObserveError(
        fmt::format("the process ended {:.1f} s after its profile began, and its memory is gone: `tarn run "
                    "--profile` reads it at the end",
                    seconds));
  }

  profile::HeapProfile read(double seconds) {
    source_->refresh();
    return taken_profile(*source_, start_, words_.read(), interval_, seconds);
  }

  std::unique_ptr<profile::NamedProfile> named(profile::HeapProfile&& raw) {
    auto result = std::make_unique<profile::NamedProfile>(
        std::move(raw), symbol_places(*source_), [this](std::size_t done, std::size_t of) {
          progress_.begin_run(fmt::format("names: {} of {} addresses", done, of));
        });
    progress_.clear();
    return result;
  }

  int show_what_is_there() {
    interval_ = words_.interval();
    profile_ = named(read(0));
    if (profile_->raw().stacks.empty())
      throw observer::ObserveError("it has no samples: the program ran without TARN_PROFILE");
    return report();
  }

  int report() {
    write_profile_files(*profile_, options_.files, options_.measure());
    if (options_.as_json) {
      print_document(profile::text_of(first_ ? profile::growth_json(growth_between(*first_, *profile_))
                                             : profile::profile_json(*profile_)));
      return 0;
    }
    const std::size_t columns = columns_of(STDOUT_FILENO, kWidthOfText);
    if (first_)
      fmt::print("{}", profile::growth_text(growth_between(*first_, *profile_), options_.rows, columns));
    else
      fmt::print("{}", profile::top_sites_text(*profile_, options_.measure(), options_.rows, columns));
    for (const std::string& file : options_.files) fmt::print(stderr, "written: {}\n", file);
    return 0;
  }

  const ProfileOptions& options_;
  std::unique_ptr<observer::Source> source_;
  observer::SamplingWords words_;
  ProfileStart start_;
  std::uint64_t interval_ = 0;
  Progress progress_{ProgressStyle::kLateLine};
  std::optional<profile::HeapProfile> early_;
  profile::HeapProfile last_;
  std::unique_ptr<profile::NamedProfile> first_, profile_;
};

int profile_program(const ProfileOptions& options) {
  require_range("--for", options.seconds, 0.01, kLongestProfile);
  require_profile_files(options.files);
  static_cast<void>(sample_interval(options.interval));
  return Profiler(options).run();
}

}  // namespace

void add_profile_command(CLI::App& app, Invocation& invocation) {
  CLI::App& command = add_command(app, "profile", "Sample who asks for a running program's memory.",
                                  "tarn profile PID|NAME [OPTIONS]", kProfileExamples);
  auto options = std::make_shared<ProfileOptions>();
  add_target(command, options->target);
  add_value(command, "--for S", options->seconds, "Seconds until it is switched off again (30)");
  add_value(command, "--interval BYTES", options->interval,
            "Bytes from one sample to the next, on average; 1 takes every block (512K)");
  add_values(command, "-o,--output FILE", options->files,
             "Write to a file, whose ending says how: " + profile_forms_in_words() + "; repeatable");
  add_flag(command, "--stop", options->stops,
           "Stop all threads for some microseconds at the start, so that each notices at its next call; else "
           "the first slow call of one tells all others");
  add_flag(command, "--allocated", options->shows_allocated,
           "Tell of all that was allocated meanwhile, not of what is live");
  add_flag(command, "--growth", options->shows_growth,
           "Tell what became more and less between a tenth of the time and the end");
  add_value(command, "--top N", options->rows, "The most rows of a table; 0: all (20)");
  add_flag(command, "--json", options->as_json, "Print JSON");
  on_call(command, invocation, options, profile_program);
}

}  // namespace tarn::tool
