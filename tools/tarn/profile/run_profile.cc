#include "profile/run_profile.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <unordered_set>

#include "observer/leaks.h"
#include "observer/roots.h"
#include "observer/sampling.h"
#include "observer/snapshot.h"
#include "profile/json.h"
#include "profile/leak_report.h"
#include "profile/profile_documents.h"
#include "profile/run_to_end.h"
#include "profile/sample_interval.h"
#include "profile/taken_profile.h"
#include "profile/top_sites.h"
#include "system/files.h"
#include "system/format.h"
#include "system/terminal.h"
#include "system/usage_error.h"

namespace tarn::tool {
namespace {

constexpr int kSignalStatus = 128;
constexpr std::size_t kRows = 20, kWidthOfPipe = 100;

/// What was read at the end.
struct AtEnd {
  std::unique_ptr<profile::NamedProfile> profile;
  profile::Amount reachable;  // live blocks left out, since something points to them
};

profile::Amount amount_of(const observer::SampledBlock& sample) {
  const double blocks = observer::blocks_of(sample);
  return {blocks, blocks * static_cast<double>(sample.requested)};
}

// Leaves only what nothing points to. \returns what was left out.
profile::Amount keep_unreachable(const observer::Source& source, observer::Sampling& sampling) {
  const observer::Snapshot snapshot = observer::read_snapshot(source);
  const observer::Look look = observer::look_for_leaks(source, snapshot, observer::call_words(source.pid()));
  std::unordered_set<observer::Address> lost;
  for (const observer::Suspect& suspect : look.suspects) lost.insert(suspect.block.address);
  profile::Amount reachable;
  std::erase_if(sampling.live, [&](const observer::SampledBlock& sample) {
    if (lost.contains(sample.block)) return false;
    reachable += amount_of(sample);
    return true;
  });
  return reachable;
}

AtEnd read_at_end(observer::Source& source, const RunProfileOptions& options) {
  AtEnd end;
  const observer::SamplingWords words(source);
  observer::Sampling sampling = words.read();
  if (options.finds_leaks && !options.reports_reachable) end.reachable = keep_unreachable(source, sampling);
  const ProfileStart start{.sampling = {}, .began_with_program = true};
  const BySize by_size = options.finds_leaks ? BySize::kYes : BySize::kNo;
  end.profile = std::make_unique<profile::NamedProfile>(
      taken_profile(source, start, sampling, sampling.interval, 0, by_size),
      profile::places_of_process(source.pid()));
  return end;
}

profile::Suppressions suppressions_of(const RunProfileOptions& options) {
  std::string all;
  for (const std::string& file : options.suppression_files) {
    static_cast<void>(profile::Suppressions::read(file));  // so that a message names the file
    all += read_file(file).value_or("") + "\n";
  }
  return profile::Suppressions::parse(all, "suppressions");
}

// \returns whether there are leaks.
bool tell_leaks(const AtEnd& end, const RunProfileOptions& options) {
  const profile::LeakReport report = profile::leak_report_of(*end.profile, suppressions_of(options));
  const bool has_leaks = profile::verdict_of(report) == profile::LeakVerdict::kLeaks;
  if (!options.json_file.empty())
    write_file(options.json_file, profile::text_of(profile::leak_report_json(report)));
  fmt::print(stderr, "{}",
             profile::leak_report_text(report, {.columns = columns_of(STDERR_FILENO, kWidthOfPipe)}));
  if (end.reachable.blocks > 0)
    fmt::print(stderr,
               "{} more in {} blocks is live, and something points to it (--reachable tells of it too).\n",
               format_bytes(end.reachable.bytes),
               format_count(static_cast<std::uint64_t>(end.reachable.blocks + 0.5)));
  return has_leaks;
}

void tell_profile(const AtEnd& end) {
  fmt::print(stderr, "{}",
             profile::top_sites_text(*end.profile, profile::Measure::kAllocated, kRows,
                                     columns_of(STDERR_FILENO, kWidthOfPipe)));
}

int status_of(int status) {
  return WIFSIGNALED(status) ? kSignalStatus + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

void add_profile_options(CLI::App& command, RunProfileOptions& options) {
  command
      .add_option("--profile", options.interval,
                  "When it ends, tell who allocated, from a sample each so many bytes (512K)")
      ->type_name("[BYTES]")
      ->expected(0, 1)
      ->default_str("512K");
  command.add_flag("--leaks", options.finds_leaks,
                   "When it ends, tell which live blocks nothing points to, with the stacks that made them; "
                   "then the exit status is 23");
  command.add_flag("--reachable", options.reports_reachable,
                   "With --leaks: all blocks that are live at the end are leaks");
  command
      .add_option("--suppressions", options.suppression_files,
                  "With --leaks: leaks that are known, as LeakSanitizer reads them; repeatable")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command
      .add_option("-o,--output", options.files,
                  "With --profile or --leaks: a file, whose ending says how: " + profile_forms_in_words())
      ->type_name("FILE")
      ->allow_extra_args(false);
}

void check(const RunProfileOptions& options) {
  if (options.finds_leaks && !options.interval.empty() && sample_interval(options.interval) != 1)
    throw UsageError("--leaks takes every block: leave --profile out, or give it 1");
  if (!options.interval.empty()) static_cast<void>(sample_interval(options.interval));
  if (!options.finds_leaks && (options.reports_reachable || !options.suppression_files.empty()))
    throw UsageError("--reachable and --suppressions are for --leaks");
  require_profile_files(options.files);
  try {
    static_cast<void>(suppressions_of(options));
  } catch (const profile::SuppressionError& error) {
    throw UsageError(error.what());
  }
}

int run_with_profile(const std::vector<std::string>& command, Environment environment,
                     const RunProfileOptions& options) {
  environment.set("TARN_PROFILE", options.finds_leaks ? "1" : options.interval);
  AtEnd end;
  const RunToEnd run =
      run_to_end(command, environment, [&](observer::Source& source) { end = read_at_end(source, options); });
  if (!run.was_read) {
    fmt::print(stderr, "tarn: no profile: {}\n", run.obstacle);
    const int status = status_of(run.status);
    return options.finds_leaks && status == 0 ? kLeaksStatus : status;
  }
  write_profile_files(*end.profile, options.files,
                      options.finds_leaks ? profile::Measure::kLive : profile::Measure::kAllocated);
  bool has_leaks = false;
  if (options.finds_leaks)
    has_leaks = tell_leaks(end, options);
  else
    tell_profile(end);
  const int status = status_of(run.status);
  return status == 0 && has_leaks ? kLeaksStatus : status;
}

}  // namespace tarn::tool
