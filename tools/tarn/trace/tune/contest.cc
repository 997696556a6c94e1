// A contender for each configuration.
#include "trace/tune/contest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "base/options/option_parser.h"

namespace tarn::tool {
namespace {

// How many settings are joined, and how many added to them, is known only when each was measured alone.
constexpr std::size_t kExpectedJoined = 3, kExpectedAdded = 8;

// \why a setting that is hopelessly slow would take most of the search's time. A busy machine is allowed for.
constexpr double kHopelessFactor = 10, kHopelessMargin = 5;

std::string environment_name_of(const std::string& key) {
  return internal::environment_name(*internal::find_option(key)).text;
}

const char* name_of(tune::Step step) {
  switch (step) {
    case tune::Step::kAlone:
      return "each alone, ";
    case tune::Step::kJoined:
      return "joined, ";
    case tune::Step::kAdded:
      return "each added, ";
    case tune::Step::kVerified:
      break;
  }
  return "verifying, ";
}

/// What is wrong with a contender; empty if it can be compared. Less memory because calls got none is no
/// gain.
std::string failure_of(const ReplayEntry& contender, double failed_calls_of_defaults) {
  if (contender.failure) return contender.failure->what;
  const double failed = contender.runs.back().failed_calls;
  return failed > failed_calls_of_defaults ? fmt::format("{:.0f} calls got no memory", failed) : "";
}

}  // namespace

std::string text_of(const tune::Configuration& configuration) {
  if (configuration.empty()) return "defaults";
  std::vector<std::string> words;
  for (const tune::Setting& setting : configuration) words.push_back(setting.key + ":" + setting.value);
  return fmt::format("{}", fmt::join(words, " "));
}

Environment environment_of_defaults() {
  Environment environment;
  for (const char* name : {"LD_PRELOAD", "TARN_CONF", "TARN_CONF_FILE"}) environment.remove(name);
  for (const internal::OptionInfo& option : internal::kOptionTable)
    environment.remove(internal::environment_name(option).text);
  return environment;
}

Contest::Contest(ReplayPlan plan, Allocator tarn, std::string fitted_file, Session& session)
    : plan_(std::move(plan)),
      tarn_(std::move(tarn)),
      fitted_file_(std::move(fitted_file)),
      session_(session) {}

Allocator Contest::tarn_with(const tune::Configuration& configuration) const {
  Allocator tarn = {text_of(configuration), tarn_.library};
  for (const tune::Setting& setting : configuration)
    tarn.settings.emplace_back(environment_name_of(setting.key),
                               setting.value == kFittedClasses ? fitted_file_ : setting.value);
  return tarn;
}

Entries<Replay> Contest::replay(const std::vector<tune::Configuration>& configurations) {
  std::vector<Allocator> allocators;
  for (const tune::Configuration& configuration : configurations)
    allocators.push_back(tarn_with(configuration));
  const double hopeless =
      seconds_of_defaults_ > 0 ? kHopelessFactor * seconds_of_defaults_ + kHopelessMargin : 0;
  ReplayResults results = run_replays(plan_, allocators, session_, hopeless);
  if (results.interrupted_by != 0) throw Interrupted{results.interrupted_by};
  if (const std::string why = failure_of(results.contenders.front(), 1e300); !why.empty())
    throw std::runtime_error(fmt::format("the trace cannot be replayed with the defaults: {}", why));
  return std::move(results.contenders);
}

Replay Contest::try_defaults() {
  plan_.rounds = 1;
  plan_.part = "defaults, ";
  plan_.runs_after = 0;
  const Replay trial = replay({{}}).front().runs.front();
  seconds_of_defaults_ = trial.seconds;
  return trial;
}

std::size_t Contest::expected_runs_after(tune::Step step) const {
  const auto searched = static_cast<std::size_t>(rounds_.searched);
  const std::size_t verifying = 2 * static_cast<std::size_t>(rounds_.verified);
  const std::size_t adding = was_added_ ? 0 : (2 + kExpectedAdded) * searched;
  switch (step) {
    case tune::Step::kAlone:
      return (2 + kExpectedJoined) * searched + adding + verifying;
    case tune::Step::kJoined:
      return adding + verifying;
    case tune::Step::kAdded:
      return verifying;
    case tune::Step::kVerified:
      break;
  }
  return 0;
}

tune::Measurements Contest::taken_from(const ReplayEntry& contender, double failed_calls_of_defaults) {
  if (std::string why = failure_of(contender, failed_calls_of_defaults); !why.empty()) {
    failures_[contender.allocator.name] = std::move(why);
    return {};
  }
  tune::Measurements measurements;
  for (const Replay& run : contender.runs) {
    measurements.peak_bytes.push_back(run.peak().bytes);
    measurements.mean_bytes.push_back(run.mean_bytes());
    measurements.seconds.push_back(run.seconds);
  }
  return measurements;
}

std::vector<tune::Measurements> Contest::measure(tune::Step step,
                                                 const std::vector<tune::Configuration>& configurations) {
  was_added_ = was_added_ || step == tune::Step::kAdded;
  plan_.rounds = rounds_.of(step);
  plan_.part = name_of(step);
  plan_.runs_after = expected_runs_after(step);
  const Entries<Replay> contenders = replay(configurations);
  const double failed_calls = contenders.front().runs.back().failed_calls;
  std::vector<tune::Measurements> all;
  for (const ReplayEntry& contender : contenders) all.push_back(taken_from(contender, failed_calls));
  return all;
}

}  // namespace tarn::tool
