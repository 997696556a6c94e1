// Reading and checking.
#include "trace/tune/tune_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "commands/classes/conf_file.h"
#include "commands/option_values.h"
#include "system/files/files.h"
#include "system/files/usage_error.h"
#include "trace/replay/prepared_trace.h"

namespace tarn::tool {
namespace {

namespace fs = std::filesystem;

constexpr int kFewestRounds = 2, kMostTuneRounds = 100, kQuickTuneRounds = 3;
constexpr int kFewestFreshRounds = 5;
// Without --rounds there are as many as take a second: the shorter a replay, the noisier its time.
constexpr double kSecondsOfRounds = 1;
constexpr int kFewestUsualRounds = 5, kMostUsualRounds = 15;
constexpr double kMostTuneSeconds = 7 * 24 * 3600;

/// "5", "5%", "2.5 %"
double percent_of(const char* option, const std::string& text) {
  std::size_t end = 0;
  double percent = -1;
  try {
    percent = std::stod(text, &end);
  } catch (const std::exception&) {
    end = std::string::npos;
  }
  const std::string rest = end == std::string::npos ? "?" : text.substr(end);
  if (rest != "" && rest != "%" && rest != " %")
    throw UsageError(fmt::format("{} takes a share as 5%, not '{}'", option, text));
  require_range(option, percent, 0, 1000);
  return percent;
}

int searched_rounds(const TuneOptions& options, double replay_seconds) {
  if (options.is_quick) return kQuickTuneRounds;
  if (options.rounds != 0) return options.rounds;
  return static_cast<int>(
      std::clamp<double>(kSecondsOfRounds / replay_seconds, kFewestUsualRounds, kMostUsualRounds));
}

void require_known_keys(const std::vector<std::string>& keys) {
  for (const std::string& key : keys) {
    const auto& table = internal::kOptionTable;
    if (std::none_of(std::begin(table), std::end(table),
                     [&](const auto& option) { return key == option.key; }))
      throw UsageError(fmt::format("unknown option '{}' in --only: `tarn options` lists them", key));
  }
}

tune::Setting tried_setting(const std::string& text) {
  (void)parse_setting(text, "--try");
  const std::size_t equals = text.find('=');
  tune::Setting setting{text.substr(0, equals), text.substr(equals + 1)};
  if (setting.key == "classes_file") setting.value = fs::absolute(setting.value).lexically_normal().string();
  return setting;
}

void require_valid_output(const TuneOptions& options) {
  options.output.check({".json"}, [](const std::string& file) { require_writable(file); });
  if (options.conf_file.empty()) return;
  require_writable(options.conf_file);
  const std::string classes_file = classes_file_of(options);
  require_writable(classes_file);
  if (!is_value_of_conf(classes_file))
    throw UsageError(fmt::format("a file of options cannot hold the path '{}': name another place with --out",
                                 classes_file));
}

}  // namespace

tune::Bounds bounds_of(const TuneOptions& options) {
  if (options.least != "peak" && options.least != "mean")
    throw UsageError(fmt::format("--least takes peak or mean, not '{}'", options.least));
  require_range("--least-gain", options.least_gain, 0, 100);
  return {.aim = options.least == "peak" ? tune::Aim::kPeak : tune::Aim::kMean,
          .most_time_percent = percent_of("--most-time", options.most_time),
          .least_gain_percent = options.least_gain,
          .program_seconds = options.program_seconds};
}

ContestRounds rounds_of(const TuneOptions& options, double replay_seconds) {
  const int searched = searched_rounds(options, replay_seconds);
  return {.searched = searched, .verified = std::max(kFewestFreshRounds, 2 * searched - 1)};
}

std::vector<tune::Setting> candidates_of(const TuneOptions& options) {
  std::vector<tune::Setting> candidates = tune::usual_candidates();
  candidates.push_back({"classes_file", kFittedClasses});
  for (const std::string& text : options.tried)
    if (const tune::Setting own = tried_setting(text);
        std::find(candidates.begin(), candidates.end(), own) == candidates.end())
      candidates.push_back(own);
  if (options.only.empty()) return candidates;
  require_known_keys(options.only);
  std::erase_if(candidates, [&](const tune::Setting& setting) {
    return std::find(options.only.begin(), options.only.end(), setting.key) == options.only.end();
  });
  if (candidates.empty()) throw UsageError("nothing is left to try: name values with --try KEY=VALUE");
  return candidates;
}

std::string classes_file_of(const TuneOptions& options) {
  const fs::path conf = fs::absolute(options.conf_file).lexically_normal();
  fs::path classes = conf;
  classes.replace_extension(".classes");
  return classes == conf ? conf.string() + ".classes" : classes.string();
}

void require_valid(const TuneOptions& options) {
  (void)bounds_of(options);
  (void)candidates_of(options);
  if (options.rounds != 0) require_range("--rounds", options.rounds, kFewestRounds, kMostTuneRounds);
  if (options.program_seconds != 0)
    require_range("--program-time", options.program_seconds, 0.001, kMostTuneSeconds);
  require_range("--for", options.recorded_seconds, 0.01, kMostTuneSeconds);
  require_range("--timeout", options.timeout_seconds, 0.001, kMostTuneSeconds);
  require_valid_output(options);
}

void add_tune_options(CLI::App& command, TuneOptions& options) {
  add_word(command, "TRACE|PID", options.trace_file,
           "A trace of a program's calls, or a process to be recorded first (docs/look/tune.md)")
      .required();
  add_value(command, "--for TIME", options.recorded_seconds,
            "Of a process: record so long, or until Ctrl-C (10s)")
      .as_seconds();
  add_value(command, "--out FILE", options.conf_file,
            "Write the settings, for tarn run --conf and TARN_CONF_FILE; a fitted table of size classes "
            "goes beside it");
  add_value(command, "--most-time PERCENT", options.most_time,
            "Most additional time that less memory may cost (5%)");
  add_value(command, "--program-time TIME", options.program_seconds,
            "The program itself takes so long: --most-time is a share of that, not of its calls alone")
      .as_seconds();
  add_value(command, "--least peak|mean", options.least,
            "What is to become less: peak, or mean over the calls (peak)");
  add_value(command, "--least-gain PERCENT", options.least_gain,
            "A gain that is worth a setting, in percent (1)");
  add_values(command, "--try KEY=VALUE", options.tried, "Try this value too; repeatable");
  add_list(command, "--only KEY,...", options.only, "Of all that is tried, only these options");
  const AddedOption rounds =
      add_value(command, "--rounds N", options.rounds,
                "Replays of each configuration (5, of short ones up to 15); fresh ones are 2N-1 or more");
  add_flag(command, "--quick", options.is_quick, "Three rounds, then five fresh ones").excludes(rounds);
  add_flag(command, "--serial", options.is_serial,
           "One thread makes all calls, in one order: the same memory each time");
  add_flag(command, "--partial", options.is_partial, "Of a truncated trace, use what is whole");
  add_window_options(command, options.window);
  add_value(command, "--timeout TIME", options.timeout_seconds, "Kill a replay that takes longer (600s)")
      .as_seconds();
  add_result_output(command, options.output, "gains, prices, verdicts and what is proposed (.json)");
  add_flag(command, "--quiet", options.is_quiet, "No progress");
}

}  // namespace tarn::tool
