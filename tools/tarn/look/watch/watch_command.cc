// `tarn watch`: a line about a program's memory each minute, and a command where it has become too much.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <system_error>

#include "base/options/option_parser.h"
#include "commands/commands.h"
#include "look/processes/followed_program.h"
#include "look/processes/memory_of_look.h"
#include "look/processes/screen_text.h"
#include "system/figures/clock.h"
#include "system/figures/format.h"
#include "system/files/environment.h"
#include "system/files/machine.h"
#include "system/files/usage_error.h"
#include "system/runs/runner.h"
#include "tarn/version.h"

namespace tarn::tool {
namespace {

constexpr double kMostHookSeconds = 600;

constexpr const char* kWatchExamples =
    "  tarn watch game_server\n"
    "  tarn watch game_server --above rss=2G --run './tell.sh \"$TARN_WATCH_BYTES\"'\n"
    "  tarn watch 4711 --every 5 --count 12 --json\n"
    "\n"
    "The command has TARN_WATCH_WHAT, _BYTES, _ABOVE, _PID, _PROGRAM and _JSON in its environment, no "
    "input,\n"
    "and ten minutes; what it leaves running is ended. Its output goes to standard error.";

struct WatchOptions {
  Target target;
  double every_seconds = 60;
  std::vector<std::string> above;
  std::string command;
  std::optional<int> count;
  bool as_json = false;
};

struct Threshold {
  std::string figure;
  std::uint64_t bytes;
  bool is_above = false;  // it was, at the last look
};

/// Of "rss=2G". \why the parser of an option: a size is then the same text everywhere
Threshold threshold_of(const std::string& text) {
  const std::size_t mark = std::min(text.find('='), text.size());
  const std::string figure = text.substr(0, mark);
  bool is_known = figure == "rss";
  for (const observer::PartName& part : observer::kParts) is_known |= figure == part.key;
  std::int64_t bytes = 0;
  if (!is_known || mark == text.size() ||
      !internal::parse_option_value(*internal::find_option("hard_limit"), text.substr(mark + 1), &bytes))
    throw UsageError(
        fmt::format("--above takes rss=2G, or another part of it (live, free_in_slabs, other: "
                    "see `tarn top --json`), not '{}'",
                    text));
  return {figure, static_cast<std::uint64_t>(bytes)};
}

/// Prints looks, and knows which thresholds the last one was above.
class Watching {
 public:
  Watching(const WatchOptions& options, SignalWatch& signals) : options_(options), signals_(signals) {
    for (const std::string& text : options.above) thresholds_.push_back(threshold_of(text));
  }

  /// Prints a look, and runs the command for each threshold that it is the first to be above. \returns false
  /// when a signal has ended the command.
  bool take(const FollowedProgram::Answer& answer);

 private:
  /// \returns those whose state has changed.
  std::vector<Threshold> compare();
  void print_json(const FollowedProgram::Answer& answer) const;
  void print_line(const FollowedProgram::Answer& answer);
  /// \returns false when a signal has ended it.
  bool try_command(const Threshold& threshold) const;
  bool run_command(const Threshold& threshold) const;

  const WatchOptions& options_;
  SignalWatch& signals_;
  std::vector<Threshold> thresholds_;
  std::string time_;
  Json memory_;  // null: the program is not up
  bool has_heading_ = false;
};

std::vector<Threshold> Watching::compare() {
  std::vector<Threshold> changed;
  for (Threshold& threshold : thresholds_) {
    const bool is_above = !memory_.is_null() && bytes_of(memory_, threshold.figure) > threshold.bytes;
    if (std::exchange(threshold.is_above, is_above) != is_above) changed.push_back(threshold);
  }
  return changed;
}

void Watching::print_json(const FollowedProgram::Answer& answer) const {
  Json line = {{"time", time_}, {"is_up", answer.is_up}};
  if (answer.is_up)
    line.update(memory_);
  else
    line["why"] = answer.text;
  line["above"] = Json::array();
  for (const Threshold& threshold : thresholds_)
    if (threshold.is_above) line["above"].push_back(threshold.figure);
  fmt::print("{}\n",
             observer::json_text(observer::document_json("tarn watch", 1, TARN_VERSION_STRING, line)));
}

void Watching::print_line(const FollowedProgram::Answer& answer) {
  if (!answer.is_up) {
    fmt::print("{}  {}\n", time_, answer.text);
    return;
  }
  if (!std::exchange(has_heading_, true)) fmt::print("{:20}  {:>10}\n", "", fmt::join(kMemoryTitles, "  "));
  fmt::print("{}", time_);
  for (const Cell& cell : memory_cells(memory_)) fmt::print("  {:>10}", cell.text);
  fmt::print("\n");
}

bool Watching::take(const FollowedProgram::Answer& answer) {
  time_ = current_date();
  memory_ = answer.is_up ? Json::parse(answer.text) : Json();
  // A look without an answer changes nothing: else the next one would run the command again.
  const std::vector<Threshold> changed = answer.is_unknown ? std::vector<Threshold>() : compare();
  if (options_.as_json)
    print_json(answer);
  else
    print_line(answer);
  for (const Threshold& threshold : changed)
    if (answer.is_up && !options_.as_json)
      fmt::print("{}  {} is {} {}\n", time_, threshold.figure,
                 threshold.is_above ? "above" : "no longer above", short_bytes(threshold.bytes));
  std::fflush(stdout);
  return options_.command.empty() ||
         std::all_of(changed.begin(), changed.end(), [&](const Threshold& threshold) {
           return !threshold.is_above || try_command(threshold);
         });
}

/// \why a watch of weeks must not end because memory is short, which is when it runs
bool Watching::try_command(const Threshold& threshold) const {
  try {
    return run_command(threshold);
  } catch (const std::system_error& error) {
    fmt::print(stderr, "tarn: the command cannot be run: {}\n", error.what());
    return true;
  }
}

bool Watching::run_command(const Threshold& threshold) const {
  Environment environment;
  environment.set({{"TARN_WATCH_WHAT", threshold.figure},
                   {"TARN_WATCH_BYTES", std::to_string(bytes_of(memory_, threshold.figure))},
                   {"TARN_WATCH_ABOVE", std::to_string(threshold.bytes)},
                   {"TARN_WATCH_PID", std::to_string(memory_.at("pid").get<int>())},
                   {"TARN_WATCH_PROGRAM", memory_.at("program").get<std::string>()},
                   {"TARN_WATCH_JSON", observer::json_text(memory_)}});
  RunRequest request;
  request.command = {"/bin/sh", "-c", options_.command};
  request.environment = environment.entries();
  request.timeout_seconds = kMostHookSeconds;
  request.on_output =
      request.on_errors = [](std::string_view text) { observer::write_all(STDERR_FILENO, text); };
  const RunResult result = run_program(request, signals_);
  if (result.ending == Ending::kTimedOut)
    fmt::print(stderr, "tarn: the command did not end within {} s\n", kMostHookSeconds);
  else if (result.code != 0)
    fmt::print(stderr, "tarn: the command failed: {} {}\n",
               result.ending == Ending::kSignaled ? "signal" : "status", result.code);
  return result.ending != Ending::kInterrupted;
}

std::string memory_line(const Look& look) { return observer::json_text(memory_json(look)) + '\n'; }

/// \returns false when a signal wants the tool to end meanwhile.
bool wait_since(const timespec& began, double seconds, SignalWatch& signals) {
  while (!signals.wants_end()) {
    const double left = seconds - seconds_since(began);
    if (left <= 0) return true;
    pollfd signal{signals.descriptor(), POLLIN, 0};
    poll(&signal, 1, static_cast<int>(left * 1000) + 1);
  }
  return false;
}

int watch_program(const WatchOptions& options) {
  constexpr double kShortest = 0.1, kDay = 86'400, kMostLooks = 1e9;
  require_range("--every", options.every_seconds, kShortest, kDay);
  if (options.count) require_range("--count", *options.count, 1, kMostLooks);
  const FollowedProgram program(options.target);
  SignalWatch signals;
  Watching watching(options, signals);
  adopt_orphans();
  timespec began = now();
  FollowedProgram::Answer answer = program.first_look(memory_line);
  for (int looks = 1; !signals.wants_end() && watching.take(answer); ++looks) {
    if (looks == options.count || (!answer.is_up && program.has_ended())) break;
    if (!wait_since(began, options.every_seconds, signals)) break;
    began = now();
    answer = program.look(memory_line);
  }
  return 0;
}

}  // namespace

void add_watch_command(CLI::App& app, Invocation& invocation) {
  CLI::App& command = add_command(
      app, "watch", "Print a line about a program's memory each minute, through restarts.",
      "tarn watch PID|NAME [--every TIME] [--above FIGURE=BYTES] [--run COMMAND] [OPTIONS]", kWatchExamples);
  auto options = std::make_shared<WatchOptions>();
  add_word(command, "PID|NAME", options->target.name_or_pid, "The process to watch").without_type();
  add_value(command, "--every TIME", options->every_seconds, "From one look to the next (1m)").as_seconds();
  const AddedOption above =
      add_values(command, "--above FIGURE=BYTES", options->above,
                 "Say when RSS or a part of it comes above so much, and when it no longer is; repeatable");
  add_value(command, "--run COMMAND", options->command,
            "Run it by a shell, each time that a figure has come above its bound")
      .needs(above);
  add_value(command, "--count N", options->count, "End after so many looks");
  add_flag(command, "--json", options->as_json, "Print a line of JSON for each look");
  on_call(command, invocation, options, watch_program);
}

}  // namespace tarn::tool
