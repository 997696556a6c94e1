#include "profile/run/run_profile.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>

#include "observer/leaks/leaks.h"
#include "observer/process/attached_process.h"
#include "observer/snapshot/snapshot.h"
#include "observer/watch/sampling.h"
#include "profile/reports/leak_report.h"
#include "profile/reports/top_sites.h"
#include "profile/run/run_to_end.h"
#include "profile/stacks/json.h"
#include "system/figures/format.h"
#include "system/files/files.h"
#include "system/files/usage_error.h"
#include "system/terminal/terminal.h"
#include "taken/profile_documents.h"
#include "taken/taken_profile.h"

namespace tarn::tool {
namespace {

/// What was read of one process at its end.
struct AtEnd {
  TracedProcess process;
  std::unique_ptr<profile::NamedProfile> profile;
  profile::LeaksAtEnd leaks;
  profile::Amount reachable;  // live blocks left out, since something points to them
};

/// What was read of all of them.
struct AllAtEnd {
  std::vector<AtEnd> seen;
  RunToEnd run;
};

profile::Amount amount_of(const observer::SampledBlock& sample) {
  const double blocks = observer::blocks_of(sample);
  return {blocks, blocks * static_cast<double>(sample.requested)};
}

// Leaves only what nothing points to. \returns what was left out.
profile::Amount keep_unreachable(const observer::Source& source, observer::Sampling& sampling,
                                 const std::vector<observer::Address>& registers) {
  const observer::Snapshot snapshot = observer::read_snapshot(source);
  const observer::Look look = observer::look_for_leaks(source, snapshot, registers);
  std::ranges::sort(sampling.live, {}, &observer::SampledBlock::block);
  auto lost = look.suspects.begin();  // by address too
  profile::Amount reachable;
  std::erase_if(sampling.live, [&](const observer::SampledBlock& sample) {
    while (lost != look.suspects.end() && lost->block.address < sample.block) ++lost;
    if (lost != look.suspects.end() && lost->block.address == sample.block) return false;
    reachable += amount_of(sample);
    return true;
  });
  return reachable;
}

profile::Suppressions suppressions_of(const RunProfileOptions& options) {
  profile::Suppressions all;
  for (const std::string& file : options.suppression_files) all.add(profile::read_list(file), file);
  return all;
}

/// A document tells of all stacks, a search for leaks of those that leaked.
profile::HeapProfile profile_at_end(const observer::Source& source, const observer::SamplingWords& words,
                                    observer::Sampling& sampling, const RunProfileOptions& options) {
  if (options.finds_leaks && options.profile_files().empty())
    words.read_stacks_of_live(sampling);
  else
    words.read_stacks(sampling);
  const ProfileStart start{.sampling = {}, .began_with_program = true};
  const std::uint64_t interval = sampling.interval;
  return taken_profile(source, start, std::move(sampling), interval, 0,
                       options.finds_leaks ? BySize::kYes : BySize::kNo);
}

/// \throws observer::ObserveError of a program whose calls were not sampled from its start.
AtEnd read_at_end(observer::Source& source, const TracedProcess& process,
                  const std::vector<observer::Address>& registers, const RunProfileOptions& options) {
  AtEnd end;
  end.process = process;
  const observer::SamplingWords words(source);
  observer::Sampling sampling = words.read_live();
  if (sampling.interval == 0 && !observer::read_snapshot(source).spans.empty())
    throw observer::ObserveError("it sampled nothing: it has other options of tarn");
  if (options.finds_leaks && !options.reports_reachable)
    end.reachable = keep_unreachable(source, sampling, registers);
  end.profile = std::make_unique<profile::NamedProfile>(profile_at_end(source, words, sampling, options),
                                                        symbol_places(source));
  if (options.finds_leaks) end.leaks = profile::leaks_at_end(*end.profile, suppressions_of(options));
  if (options.finds_leaks && options.profile_files().empty()) end.profile.reset();
  return end;
}

std::string reachable_text(const profile::Amount& reachable) {
  if (reachable.blocks <= 0) return "";
  return fmt::format(
      "{} more in {} blocks is live, and something points to it (--reachable tells of it too).\n",
      format_bytes(reachable.bytes), format_count(static_cast<std::uint64_t>(reachable.blocks + 0.5)));
}

std::string leaks_text(const AtEnd& end, std::size_t most) {
  const std::size_t columns = columns_of(STDERR_FILENO, kWidthOfText);
  return profile::leak_report_text(end.leaks, {.leaks = most, .columns = columns}) +
         reachable_text(end.reachable);
}

bool has_leaks(const AtEnd& end) { return profile::verdict_of(end.leaks) == profile::LeakVerdict::kLeaks; }

std::string name_in_words(const TracedProcess& process) {
  return process.in_words() + (process.runs_on ? ", which runs on" : "");
}

/// The reports of several processes, each text once: forked copies have the leaks of their parent.
void tell_leaks_of_several(const std::vector<AtEnd>& seen, std::size_t most) {
  std::map<std::string, std::string> told;  // text, and the process that it was of
  std::vector<std::string> without;
  for (const AtEnd& end : seen) {
    const std::string text = leaks_text(end, most), name = name_in_words(end.process);
    if (!has_leaks(end)) {
      without.push_back(name);
    } else if (const auto [first, is_new] = told.try_emplace(text, name); is_new) {
      fmt::print(stderr, "tarn: leaks of {}:\n\n{}\n", name, text);
    } else {
      fmt::print(stderr, "tarn: leaks of {}: the same as those of {}\n\n", name, first->second);
    }
  }
  constexpr std::size_t kNamed = 8;
  const std::size_t rest = without.size() - std::min(without.size(), kNamed);
  without.resize(without.size() - rest);
  if (!without.empty())
    fmt::print(stderr, "no leaks in {}{}\n", fmt::join(without, ", "),
               rest == 0 ? "" : fmt::format(" and {} more processes", rest));
}

void tell_unseen(const RunToEnd& run) {
  for (const std::string& remark : run.remarks) fmt::print(stderr, "tarn: {}\n", remark);
  for (const UnseenProcess& unseen : run.unseen)
    fmt::print(stderr, "tarn: not looked at: {}: {}\n", unseen.process.in_words(), unseen.why);
}

profile::Json process_json(const TracedProcess& process) {
  return {{"pid", process.pid}, {"name", process.name}, {"runs_on", process.runs_on}};
}

/// All leaks in one document; which process has them, and what was not looked at.
profile::Json leaks_json(const AllAtEnd& all) {
  profile::LeaksAtEnd sum;
  profile::Json processes = profile::Json::array(), unseen = profile::Json::array();
  for (const AtEnd& end : all.seen) {
    profile::add_to(sum, end.leaks);
    processes.push_back(process_json(end.process));
    processes.back()["leaked"] = profile::to_json(end.leaks.total);
  }
  for (const UnseenProcess& one : all.run.unseen) {
    unseen.push_back(process_json(one.process));
    unseen.back()["why"] = one.why;
  }
  profile::Json json = profile::leak_report_json(sum);
  json["processes"] = std::move(processes);
  json["not_looked_at"] = std::move(unseen);
  return json;
}

// \returns whether a run is to fail: there are leaks, or nobody looked whether there are.
bool tell_leaks(const AllAtEnd& all, const RunProfileOptions& options) {
  const std::string json = profile::text_of(leaks_json(all));
  for (const std::string& file : options.output.files)
    if (form_of_file(file) == ProfileForm::kJson) write_file(file, json);
  if (options.output.as_json)
    fmt::print(stderr, "{}", json);
  else if (all.seen.size() == 1)
    fmt::print(stderr, "{}", leaks_text(all.seen.front(), options.most_rows()));
  else
    tell_leaks_of_several(all.seen, options.most_rows());
  return !all.run.unseen.empty() || std::any_of(all.seen.begin(), all.seen.end(), has_leaks);
}

void tell_profile(const profile::NamedProfile& profile, const RunProfileOptions& options) {
  if (options.output.as_json) return fmt::print(stderr, "{}", profile::text_of(profile_json(profile)));
  fmt::print(stderr, "{}",
             top_sites_text(profile, {.measure = profile::Measure::kAllocated,
                                      .rows = options.most_rows(),
                                      .columns = columns_of(STDERR_FILENO, kWidthOfText)}));
}

/// The profile of all processes: of more than one, each stack begins with its process, "sh (4711)".
/// \returns nullptr where nothing was asked for it.
std::unique_ptr<profile::NamedProfile> joined_profile(std::vector<AtEnd>& seen) {
  const auto count = std::ranges::count_if(seen, [](const AtEnd& end) { return end.profile != nullptr; });
  std::unique_ptr<profile::NamedProfile> all;
  for (AtEnd& end : seen) {
    if (end.profile == nullptr) continue;
    if (count > 1) end.profile->put_behind_stacks(end.process.in_words());
    if (all == nullptr)
      all = std::move(end.profile);
    else
      all->add(std::move(end.profile));
  }
  return all;
}

}  // namespace

std::vector<std::string> RunProfileOptions::profile_files() const {
  std::vector<std::string> files = output.files;
  if (finds_leaks)
    std::erase_if(files, [](const std::string& file) { return form_of_file(file) == ProfileForm::kJson; });
  return files;
}

void add_profile_options(CLI::App& command, RunProfileOptions& options) {
  add_value(command, "--profile [BYTES]", options.interval,
            "When it ends, tell who allocated, from a sample each so many bytes (64K)")
      .value_may_be_left_out("64K");
  add_flag(command, "--leaks", options.finds_leaks,
           "When it ends, tell which live blocks nothing points to, with the stacks that made them; "
           "then the exit status is 23");
  add_flag(command, "--reachable", options.reports_reachable,
           "With --leaks: all blocks that are live at the end are leaks");
  add_values(command, "--suppressions FILE", options.suppression_files,
             "With --leaks: leaks that are known, as LeakSanitizer reads them; repeatable");
  add_top(command, options.rows, "20");
  add_values(command, "-o,--output FILE", options.output.files,
             "Write a file: statistics (.json); with --profile or --leaks, as its ending says: " +
                 profile_forms_in_words() + "; repeatable");
}

void check(const RunProfileOptions& options) {
  if (options.finds_leaks && !options.interval.empty() && sample_interval(options.interval) != 1)
    throw UsageError("--leaks takes every block: leave --profile out, or give it 1");
  if (!options.interval.empty()) static_cast<void>(sample_interval(options.interval));
  if (!options.finds_leaks && (options.reports_reachable || !options.suppression_files.empty()))
    throw UsageError("--reachable and --suppressions are for --leaks");
  if (!options.is_wanted() && options.rows) throw UsageError("--top is for --profile and --leaks");
  if (options.is_wanted())
    require_profile_files(options.output.files, OverTime::kNo);
  else
    options.output.check({".json"}, [](const std::string& file) { require_writable(file); });
  try {
    static_cast<void>(suppressions_of(options));
  } catch (const profile::ListError& error) {
    throw UsageError(error.what());
  }
}

int run_with_profile(const std::vector<std::string>& command, Environment environment,
                     const RunProfileOptions& options) {
  environment.set("TARN_PROFILE", options.finds_leaks ? "1" : options.interval);
  AllAtEnd all;
  all.run = run_to_end(command, environment,
                       [&](observer::Source& source, const TracedProcess& process, const auto& registers) {
                         all.seen.push_back(read_at_end(source, process, registers, options));
                       });
  const std::unique_ptr<profile::NamedProfile> profile = joined_profile(all.seen);
  if (profile != nullptr)
    write_profile_files(*profile, options.profile_files(),
                        options.finds_leaks ? profile::Measure::kLive : profile::Measure::kAllocated);
  bool fails = false;
  if (options.finds_leaks)
    fails = tell_leaks(all, options);
  else if (profile != nullptr)
    tell_profile(*profile, options);
  else
    fmt::print(stderr, "tarn: no profile\n");
  tell_unseen(all.run);
  const int status = all.run.exit_status();
  return status == 0 && fails ? kFailedCheckStatus : status;
}

}  // namespace tarn::tool
