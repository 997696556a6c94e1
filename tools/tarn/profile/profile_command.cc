// `tarn profile`: a sampled heap profile of a running program, switched on and off from outside.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <optional>

#include "commands/commands.h"
#include "look/processes/target.h"
#include "observer/text/printable.h"
#include "profile/documents/call_tree_text.h"
#include "profile/documents/documents.h"
#include "profile/reports/growth.h"
#include "profile/reports/lifetimes.h"
#include "profile/reports/top_sites.h"
#include "profile/stacks/json.h"
#include "system/files/output_files.h"
#include "system/files/usage_error.h"
#include "system/terminal/progress.h"
#include "system/terminal/terminal.h"
#include "taken/profile_documents.h"
#include "taken/sampling_run.h"
#include "taken/taken_profile.h"

namespace tarn::tool {
namespace {

constexpr double kLongestProfile = 24 * 3600;  // seconds
constexpr std::size_t kMostSites = 200;        // whose live bytes are told over time

struct ProfileOptions {
  Target target;
  double seconds = 30;
  std::string interval;  // "": one that fits
  std::vector<std::string> files;
  bool shows_allocated = false, shows_temporary = false, at_peak = false, shows_growth = false,
       as_json = false, stops = false, never_stops = false;
  bool shows_types = false, shows_tree = false, shows_lifetimes = false, has_full_names = false;
  std::string callers_of, skip_file;
  std::optional<std::size_t> rows;

  profile::Measure measure() const {
    return shows_temporary   ? profile::Measure::kTemporary
           : shows_allocated ? profile::Measure::kAllocated
                             : profile::Measure::kLive;
  }
  SamplingPlan plan() const {
    return {.seconds = seconds,
            .interval = interval.empty() ? 0 : sample_interval(interval),
            .stop = stops         ? StopThreads::kAtOnce
                    : never_stops ? StopThreads::kNever
                                  : StopThreads::kIfNeeded,
            .needs_live = measure() == profile::Measure::kLive && !shows_lifetimes,
            .lives = lives(),
            .at_peak = at_peak,
            .has_looks = shows_growth || as_json || !files.empty(),
            .has_early = shows_growth};
  }
  std::optional<observer::Lives> lives() const {
    if (shows_lifetimes) return observer::Lives::kAll;
    return shows_temporary ? std::optional(observer::Lives::kTemporary) : std::nullopt;
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
    "  tarn profile 4711 --lifetimes                 how long blocks live, by function\n"
    "  tarn profile --core core.4711                 of a program that ran with TARN_PROFILE=512K\n"
    "\n"
    "Ctrl-C ends the profile early; it is written all the same, and switched off. Files and JSON have at\n"
    "most 1 GiB together, also of a program that forges what it tells.";

class Profiler {
 public:
  explicit Profiler(const ProfileOptions& options)
      : options_(options),
        skipped_(options.skip_file.empty()
                     ? profile::SkippedNames()
                     : profile::SkippedNames::parse(profile::read_list(options.skip_file))),
        source_(open_target_to_switch(options.target)) {}

  int run() {
    if (source_->kind() != observer::SourceKind::kProcess) {
      if (options_.shows_growth || options_.at_peak)
        throw UsageError("--growth and --peak are for a process that runs");
      profile_ = named(profile_that_is_there(*source_, options_.lives()));
      return report();
    }
    TakenProfiles taken = take_profiles(*source_, options_.plan(), progress_);
    if (options_.shows_growth && !taken.early)
      throw observer::ObserveError(
          "the profile ended before a tenth of its time: there is nothing to compare it with");
    if (taken.early) first_ = named(std::move(*taken.early));
    profile_ = named(std::move(taken.last));
    return report();
  }

 private:
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

  int report() {
    write_profile_files(*profile_, options_.files, options_.measure());
    if (options_.as_json) {
      print_document(profile::text_of(first_ ? profile::growth_json(growth_between(*first_, *profile_),
                                                                    live_over_time(*profile_, kMostSites))
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
      return profile::growth_text(growth_between(*first_, *profile_), live_over_time(*profile_, kMostSites),
                                  {.rows = options_.most_rows(), .columns = columns}) +
             profile::remarks_on_growth(*first_, *profile_);
    if (options_.shows_lifetimes)
      return lifetimes_text(*profile_,
                            {.names = options_.names(), .rows = options_.most_rows(), .columns = columns});
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
  Progress progress_{ProgressStyle::kLateLine};
  std::unique_ptr<profile::NamedProfile> first_, profile_;
};

int profile_program(const ProfileOptions& options) {
  require_range("--for", options.seconds, 0.01, kLongestProfile);
  require_profile_files(options.files, options.target.core_file.empty() ? OverTime::kYes : OverTime::kNo);
  if (const SamplingPlan plan = options.plan(); plan.lives && plan.interval == 1)
    throw UsageError("how long blocks live is told by samples: --interval 64 takes most blocks of that size");
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
  const AddedOption lifetimes =
      add_flag(command, "--lifetimes", options->shows_lifetimes,
               "Tell how long the blocks of each function lived: up to a millisecond, a second, longer");
  for (const AddedOption& other : {allocated, temporary, peak, types, tree}) lifetimes.excludes(other);
  for (const AddedOption& other : {types, tree, lifetimes}) callers.excludes(other).excludes(growth);
  lifetimes.excludes(growth);
  tree.excludes(types).excludes(growth);
  types.excludes(growth);
  add_value(command, "--skip FILE", options->skip_file,
            "Tell of the callers of these functions too, as of those of a program's own malloc: a part of a "
            "name a line, as in --callers");
  add_flag(command, "--full-names", options->has_full_names,
           "Names with parameters and all template arguments")
      .excludes(growth);
  add_top(command, options->rows, "20; 60 calls of a tree");
  add_flag(command, "--json", options->as_json, "Print JSON").excludes(tree).excludes(callers);
  on_call(command, invocation, options, profile_program);
}

}  // namespace tarn::tool
