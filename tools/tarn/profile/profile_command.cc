// `tarn profile`: a sampled heap profile of a running program, switched on and off from outside.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <optional>

#include "commands/commands.h"
#include "look/processes/target.h"
#include "observer/text/printable.h"
#include "observer/watch/watch_beat.h"
#include "profile/documents/call_tree_text.h"
#include "profile/documents/documents.h"
#include "profile/reports/growth.h"
#include "profile/reports/top_sites.h"
#include "profile/stacks/json.h"
#include "system/figures/clock.h"
#include "system/figures/format.h"
#include "system/files/output_files.h"
#include "system/processes/signals.h"
#include "system/terminal/progress.h"
#include "system/terminal/terminal.h"
#include "taken/fitted_interval.h"
#include "taken/profile_documents.h"
#include "taken/taken_profile.h"

namespace tarn::tool {
namespace {

constexpr double kLongestProfile = 24 * 3600;  // seconds
// So long a slow call is waited for, or a tenth of the time; then threads are stopped for a moment.
constexpr double kPatience = 1;

struct ProfileOptions {
  Target target;
  double seconds = 30;
  std::string interval;  // "": one that fits
  std::vector<std::string> files;
  bool shows_allocated = false, shows_temporary = false, at_peak = false, shows_growth = false,
       as_json = false, stops = false, never_stops = false;
  bool shows_types = false, shows_tree = false, has_full_names = false;
  std::string callers_of, skip_file;
  std::optional<std::size_t> rows;

  profile::Measure measure() const {
    return shows_temporary   ? profile::Measure::kTemporary
           : shows_allocated ? profile::Measure::kAllocated
                             : profile::Measure::kLive;
  }
  profile::NameForm names() const {
    return has_full_names ? profile::NameForm::kFull : profile::NameForm::kShort;
  }
  std::size_t most_rows() const { return rows.value_or(20); }
  std::size_t most_calls() const {
    constexpr std::size_t kCalls = 60;
    const std::size_t given = rows.value_or(kCalls);
    return given == 0 ? SIZE_MAX : given;
  }
};

constexpr const char* kProfileExamples =
    "  tarn profile game_server                      what is live after 30 s, by the calls that asked for "
    "it\n"
    "  tarn profile 4711 --for 5 -o heap.pb.gz       then: go tool pprof -http=: heap.pb.gz\n"
    "  tarn profile 4711 --allocated -o flame.html   who allocates most, as a flame graph\n"
    "  tarn profile 4711 --for 1h --peak             what was live when that was most\n"
    "  tarn profile 4711 --types                     which objects it is\n"
    "  tarn profile 4711 --tree                      by what called what, from main on\n"
    "  tarn profile 4711 --callers push_back         who calls it, and with how much\n"
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
      : options_(options),
        skipped_(options.skip_file.empty()
                     ? profile::SkippedNames()
                     : profile::SkippedNames::parse(profile::read_list(options.skip_file))),
        source_(open_target_to_switch(options.target)),
        words_(*source_) {}

  int run() {
    if (source_->kind() != observer::SourceKind::kProcess) {
      if (options_.shows_growth || options_.at_peak)
        throw UsageError("--growth and --peak are for a process that runs");
      return show_what_is_there();
    }
    if (options_.shows_temporary) words_.require_temporary();
    if (const std::uint64_t interval = words_.interval(); interval != 0) {
      fmt::print(stderr,
                 "tarn: a profile is on already, a sample each {}: it stays on, and --interval is ignored\n",
                 format_bytes(static_cast<double>(interval)));
      take(interval, nullptr);
    } else {
      const std::uint64_t chosen =
          options_.interval.empty() ? FittedInterval::kFirst : sample_interval(options_.interval);
      const Switched on(words_, chosen);
      take(chosen, &on);
    }
    if (options_.shows_growth && !early_)
      throw observer::ObserveError(
          "the profile ended before a tenth of its time: there is nothing to compare it with");
    if (early_) first_ = named(std::move(*early_));
    profile_ = named(std::move(last_));
    return report();
  }

 private:
  /// Waits, and reads at the end. Names come later: they take long, and the program need not be watched
  /// meanwhile. \param on nullptr: it was on before.
  void take(std::uint64_t interval, const Switched* on) {
    SignalWatch signals;
    start_.began_with_program = on == nullptr && began_with_program(*source_);
    first_interval_ = interval_ = interval;
    if (on != nullptr) start_.sampling = sums_of(words_.read());
    FittedInterval fitted(options_.seconds);
    const bool fits = on != nullptr && options_.interval.empty();
    if (options_.stops) ring();
    const timespec began = now();
    bool is_noticed = on == nullptr;
    for (double gone = 0; gone < options_.seconds; gone = seconds_since(began)) {
      constexpr double kTick = 0.1;
      if (is_over(signals, std::min(kTick, options_.seconds - gone))) break;
      if (!is_noticed && words_.is_noticed()) is_noticed = true;
      if (!is_noticed && !has_rung_ && gone > std::min(kPatience, options_.seconds / 10)) ring();
      progress_.begin_run(is_noticed ? fmt::format("sampling: {:.0f} of {:.0f} s (Ctrl-C ends and writes)",
                                                   gone, options_.seconds)
                                     : std::string("waiting for a slow call of the program"));
      if (!words_.can_be_read()) return end_without_process(gone);
      if (on != nullptr && !on->is_on()) {
        tell_switched_off();
        break;
      }
      if (options_.at_peak) look_for_peak(gone);
      if (fits && fitted.is_due(gone)) fit(fitted, gone, *on);
      if (options_.shows_growth && !early_ && gone > options_.seconds / 10) early_ = read(gone);
    }
    const double seconds = seconds_since(began);
    progress_.clear();
    if (!is_noticed && !words_.is_noticed())
      fmt::print(stderr,
                 "tarn: no call of the program has come to the allocator meanwhile{}: nothing was sampled\n",
                 options_.never_stops ? "'s slow path, and --no-stop was given" : "");
    last_ = read(seconds);
    if (options_.at_peak && peak_ && peak_->live_bytes > live_bytes()) last_ = std::move(peak_->profile);
  }

  double live_bytes() const {
    return static_cast<double>(observer::read_snapshot(*source_).totals.live_bytes);
  }

  /// Keeps the profile of the most live bytes. \why not of each that is a little more: it reads all samples
  void look_for_peak(double gone) {
    constexpr double kMore = 1.02;
    source_->refresh();
    const double live = live_bytes();
    if (!peak_ || live > kMore * peak_->live_bytes) peak_ = Peak{live, read(gone)};
  }

  /// Lets each thread notice at its next call. \why not where it is refused, as beside a debugger: the first
  /// slow call tells all of them too
  void ring() {
    has_rung_ = true;
    if (options_.never_stops) return;
    try {
      words_.ring();
    } catch (const observer::ObserveError&) {
      if (options_.stops) throw;
    }
  }

  /// Chooses the interval anew, by the samples that there are.
  void fit(FittedInterval& fitted, double gone, const Switched& on) {
    double samples = 0;
    observer::Sampling sampling;
    words_.read_stacks(sampling);
    for (const observer::SampledStack& stack : sampling.stacks) samples += static_cast<double>(stack.samples);
    for (const observer::SampledStack& stack : start_.sampling.stacks)
      samples -= static_cast<double>(stack.samples);
    source_->refresh();
    const double live = options_.measure() == profile::Measure::kLive ? live_bytes() : 0;
    if (fitted.fit(gone, samples, live) == interval_) return;
    interval_ = fitted.interval();
    on.change(interval_);
  }

  void tell_switched_off() {
    progress_.clear();
    fmt::print(
        stderr,
        "tarn: the profile was ended early: by the program, or since this tool was stopped for seconds\n");
  }

  /// What was most live before stays, and is what --peak is for.
  void end_without_process(double seconds) {
    progress_.clear();
    if (peak_) {
      fmt::print(stderr, "tarn: the process ended {:.1f} s after its profile began\n", seconds);
      last_ = std::move(peak_->profile);
      return;
    }
    throw observer::ObserveError(
        fmt::format("the process ended {:.1f} s after its profile began, and its memory is gone: `tarn run "
                    "--profile` reads it at the end",
                    seconds));
  }

  profile::HeapProfile read(double seconds) {
    source_->refresh();
    profile::HeapProfile profile = taken_profile(*source_, start_, words_.read(), interval_, seconds);
    profile.first_interval_bytes = first_interval_;
    return profile;
  }

  std::unique_ptr<profile::NamedProfile> named(profile::HeapProfile&& raw) {
    auto result = std::make_unique<profile::NamedProfile>(
        std::move(raw), symbol_places(*source_),
        [this](std::size_t done, std::size_t of) {
          progress_.begin_run(fmt::format("names: {} of {} addresses", done, of));
        },
        skipped_);
    progress_.clear();
    return result;
  }

  int show_what_is_there() {
    first_interval_ = interval_ = words_.interval();
    start_.began_with_program = began_with_program(*source_);
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
    fmt::print("{}", text_of_report(columns));
    for (const std::string& file : options_.files) fmt::print(stderr, "written: {}\n", file);
    return 0;
  }

  std::string text_of_report(std::size_t columns) const {
    const auto tree_text = [&](const std::vector<profile::CallNode>& tree) {
      return call_tree_text(tree, options_.measure(), options_.names(), columns);
    };
    if (first_)
      return profile::growth_text(growth_between(*first_, *profile_), options_.most_rows(), columns) +
             profile::remarks_on_growth(*first_, *profile_);
    if (options_.shows_tree)
      return tree_text(call_tree_of(*profile_, options_.most_calls(), {options_.measure()}));
    if (!options_.callers_of.empty()) {
      const auto callers =
          callers_tree_of(*profile_, options_.callers_of, options_.most_calls(), {options_.measure()});
      if (callers.size() > 1) return tree_text(callers);
      return fmt::format("no stack has a function with \"{}\" in its name\n",
                         observer::printable(options_.callers_of));
    }
    return top_sites_text(*profile_,
                          {.measure = options_.measure(),
                           .row_of = options_.shows_types ? profile::RowOf::kType : profile::RowOf::kSite,
                           .names = options_.names(),
                           .rows = options_.most_rows(),
                           .columns = columns});
  }

  const ProfileOptions& options_;
  const profile::SkippedNames skipped_;
  std::unique_ptr<observer::Source> source_;
  observer::SamplingWords words_;
  ProfileStart start_;
  bool has_rung_ = false;
  std::uint64_t first_interval_ = 0, interval_ = 0;
  Progress progress_{ProgressStyle::kLateLine};
  struct Peak {
    double live_bytes;
    profile::HeapProfile profile;
  };
  std::optional<Peak> peak_;
  std::optional<profile::HeapProfile> early_;
  profile::HeapProfile last_;
  std::unique_ptr<profile::NamedProfile> first_, profile_;
};

int profile_program(const ProfileOptions& options) {
  require_range("--for", options.seconds, 0.01, kLongestProfile);
  require_profile_files(options.files);
  if (!options.interval.empty()) static_cast<void>(sample_interval(options.interval));
  try {
    return Profiler(options).run();
  } catch (const profile::ListError& error) {
    throw UsageError(error.what());
  }
}

}  // namespace

void add_profile_command(CLI::App& app, Invocation& invocation) {
  CLI::App& command = add_command(app, "profile", "Sample who asks for a running program's memory.",
                                  "tarn profile PID|NAME [OPTIONS]", kProfileExamples);
  auto options = std::make_shared<ProfileOptions>();
  add_target(command, options->target);
  add_value(command, "--for TIME", options->seconds, "Until it is switched off again (30s)").as_seconds();
  add_value(command, "--interval BYTES", options->interval,
            "Bytes from one sample to the next, on average; 1 takes every block (chosen as it runs, so that "
            "about 4,000 samples are taken, and 1,000 live)");
  add_values(command, "-o,--output FILE", options->files,
             "Write to a file, whose ending says how: " + profile_forms_in_words() + "; repeatable");
  const AddedOption stop = add_flag(
      command, "--stop", options->stops,
      "Stop all threads for some microseconds at the start, so that each notices at its next call; else "
      "that is done only if no slow call has told all threads within a second, or a tenth of the time");
  add_flag(command, "--no-stop", options->never_stops, "Never stop them").excludes(stop);
  const AddedOption allocated = add_flag(command, "--allocated", options->shows_allocated,
                                         "Tell of all that was allocated meanwhile, not of what is live");
  const AddedOption temporary =
      add_flag(command, "--temporary", options->shows_temporary,
               "Tell of that what was freed within a millisecond: work that could be saved");
  const AddedOption peak = add_flag(command, "--peak", options->at_peak,
                                    "Tell what was live when that was most; looked at every 100 ms");
  peak.excludes(allocated).excludes(temporary);
  temporary.excludes(allocated);
  const AddedOption growth =
      add_flag(command, "--growth", options->shows_growth,
               "Tell what became more and less between a tenth of the time and the end")
          .excludes(peak)
          .excludes(temporary)
          .excludes(allocated);
  const AddedOption types = add_flag(command, "--types", options->shows_types,
                                     "Tell which objects it is, by the types that function names have");
  const AddedOption tree =
      add_flag(command, "--tree", options->shows_tree, "Tell what called what, from the start of threads on");
  const AddedOption callers = add_value(command, "--callers NAME", options->callers_of,
                                        "Tell what called the functions with this in their names; * stands "
                                        "for any text, ^ for the start, $ for the end");
  for (const AddedOption& other : {types, tree}) callers.excludes(other).excludes(growth);
  tree.excludes(types).excludes(growth);
  types.excludes(growth);
  add_value(command, "--skip FILE", options->skip_file,
            "Tell of the callers of these functions too, as of those of a program's own malloc: a part of a "
            "name a line, as in --callers");
  add_flag(command, "--full-names", options->has_full_names,
           "Names with parameters and all template arguments")
      .excludes(growth);
  add_value(command, "--top N", options->rows,
            "The most rows of a table (20) or calls of a tree (60); 0: all");
  add_flag(command, "--json", options->as_json, "Print JSON").excludes(tree).excludes(callers);
  on_call(command, invocation, options, profile_program);
}

}  // namespace tarn::tool
