// `tarn watch`: a line each minute about the memory of a program, or of each of a cgroup, and a command where
// it has become too much.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "commands/commands.h"
#include "look/processes/followed_program.h"
#include "look/processes/memory_of_look.h"
#include "look/processes/screen_text.h"
#include "look/several/looks.h"
#include "look/watch/hook.h"
#include "look/watch/thresholds.h"
#include "observer/text/printable.h"
#include "system/figures/clock.h"
#include "system/figures/format.h"
#include "system/files/machine.h"
#include "system/processes/process_tree.h"
#include "system/runs/runner.h"
#include "tarn/version.h"

namespace tarn::tool {
namespace {

constexpr const char* kWatchExamples =
    "  tarn watch game_server\n"
    "  tarn watch game_server --above rss=2G --run './tell.sh \"$TARN_WATCH_BYTES\"'\n"
    "  tarn watch 4711 --every 5 --count 12 --json\n"
    "  tarn watch --cgroup redis.service --above cgroup=2G\n"
    "\n"
    "The command has TARN_WATCH_WHAT, _BYTES, _ABOVE, _PID, _PROGRAM, _CGROUP and _JSON in its "
    "environment, no\n"
    "input, and ten minutes; what it leaves running is ended. Its output goes to standard error.";

struct WatchOptions {
  Target target;
  std::string cgroup;
  double every_seconds = 60;
  std::vector<std::string> above;
  std::string command;
  std::optional<int> count;
  bool as_json = false;
};

/// Prints looks, and knows which thresholds the last one was above.
class Watching {
 public:
  Watching(const WatchOptions& options, SignalWatch& signals)
      : options_(options), signals_(signals), bounds_(options.above, !options.cgroup.empty()) {}

  /// Prints a look, and runs the command for each threshold that it is the first to be above. \returns false
  /// when a signal has ended the command.
  bool take(const FollowedProgram::Answer& answer);
  bool take(const CgroupLook& look);

 private:
  static constexpr int kNoNumber = 0;  // of a cgroup, or of the only program

  struct Watched {
    std::uint64_t start_ticks;  // of the process; 0 of a cgroup
    Thresholds thresholds;
  };

  /// \param start_ticks of the process at the look \param memory null: it is not up
  bool tell(int number, std::uint64_t start_ticks, const Json& memory,
            const FollowedProgram::Answer& answer = {true, ""});
  bool run_command(const Json& memory, const Threshold& threshold, std::uint64_t start_ticks) const;
  void print_json(const Json& memory, const std::string& why, const Thresholds& thresholds) const;
  void print_line(const Json& memory, const std::string& why);
  void print_crossing(const Json& memory, const Threshold& threshold) const;

  const WatchOptions& options_;
  SignalWatch& signals_;
  const Thresholds bounds_;
  std::map<int, Watched> watched_;  // by number of process
  std::string time_;
  bool has_heading_ = false;
};

void Watching::print_json(const Json& memory, const std::string& why, const Thresholds& thresholds) const {
  Json line = {{"time", time_}, {"is_up", !memory.is_null()}};
  if (!memory.is_null())
    line.update(memory);
  else
    line["why"] = why;
  line["above"] = Json::array();
  for (const std::string& figure : thresholds.above()) line["above"].push_back(figure);
  fmt::print("{}\n",
             observer::json_text(observer::document_json("tarn watch", 1, TARN_VERSION_STRING, line)));
}

/// "1.94 GiB of 4.00 GiB in redis.service: 2 of 3 processes run on tarn"
std::string cgroup_in_words(const Json& memory) {
  const auto size = [&](const char* name) { return short_bytes(memory.at(name).get<std::uint64_t>()); };
  const auto count = [&](const char* name) { return memory.at(name).get<std::size_t>(); };
  std::string text = memory.at("memory_bytes").is_null() ? "an unknown size" : size("memory_bytes");
  if (!memory.at("memory_max_bytes").is_null()) text += " of " + size("memory_max_bytes");
  text += fmt::format(" in {}: {} of {} processes run on tarn", memory.at("cgroup").get<std::string>(),
                      count("on_tarn"), count("processes"));
  if (count("not_looked_at") != 0) text += fmt::format(", {} not looked at", count("not_looked_at"));
  if (count("failed") != 0) text += fmt::format(", {} gave no answer", count("failed"));
  return text;
}

void Watching::print_line(const Json& memory, const std::string& why) {
  if (memory.is_null() || is_of_cgroup(memory)) {
    fmt::print("{}  {}\n", time_, memory.is_null() ? why : cgroup_in_words(memory));
    return;
  }
  if (!std::exchange(has_heading_, true)) fmt::print("{:20}  {:>10}\n", "", fmt::join(kMemoryTitles, "  "));
  fmt::print("{}", time_);
  for (const Cell& cell : memory_cells(memory)) fmt::print("  {:>10}", cell.text);
  if (!options_.cgroup.empty())
    fmt::print("  {} {}",
               observer::first_columns(in_single_columns(memory.at("program").get<std::string>()), 24),
               memory.at("pid").get<int>());
  fmt::print("\n");
}

void Watching::print_crossing(const Json& memory, const Threshold& threshold) const {
  const bool is_one_of_many = !options_.cgroup.empty() && !is_of_cgroup(memory);
  fmt::print("{}  {}{} is {} {}\n", time_, threshold.figure,
             is_one_of_many ? fmt::format(" of {}", memory.at("pid").get<int>()) : "",
             threshold.is_above ? "above" : "no longer above", short_bytes(threshold.bytes));
}

/// \why where commands before it took minutes, another process may have the number by now
bool Watching::run_command(const Json& memory, const Threshold& threshold, std::uint64_t start_ticks) const {
  if (!is_of_cgroup(memory)) {
    const int pid = memory.at("pid").get<int>();
    if (start_ticks == 0 || start_ticks_of(pid) != start_ticks) {
      fmt::print(stderr, "tarn: the command is not run: process {} has ended\n", pid);
      return true;
    }
  }
  return run_hook(options_.command, memory, threshold, signals_);
}

bool Watching::tell(int number, std::uint64_t start_ticks, const Json& memory,
                    const FollowedProgram::Answer& answer) {
  Watched& watched = watched_.try_emplace(number, Watched{start_ticks, bounds_}).first->second;
  if (!memory.is_null() && watched.start_ticks != start_ticks) watched = {start_ticks, bounds_};
  Thresholds& thresholds = watched.thresholds;
  // A look without an answer changes nothing: else the next one would run the command again.
  const std::vector<Threshold> changed =
      answer.is_unknown ? std::vector<Threshold>() : thresholds.compare(memory);
  if (options_.as_json)
    print_json(memory, answer.text, thresholds);
  else
    print_line(memory, answer.text);
  for (const Threshold& threshold : changed)
    if (!memory.is_null() && !options_.as_json) print_crossing(memory, threshold);
  std::fflush(stdout);
  return options_.command.empty() ||
         std::all_of(changed.begin(), changed.end(), [&](const Threshold& threshold) {
           return !threshold.is_above || run_command(memory, threshold, start_ticks);
         });
}

bool Watching::take(const FollowedProgram::Answer& answer) {
  time_ = current_date();
  if (!answer.is_up && !answer.is_unknown) watched_.clear();
  const Json memory = answer.is_up ? Json::parse(answer.text) : Json();
  return tell(kNoNumber, answer.is_up ? start_ticks_of(memory.at("pid").get<int>()) : 0, memory, answer);
}

Json memory_json(const CgroupLook& look) {
  const auto size = [](const std::optional<std::uint64_t>& bytes) { return bytes ? Json(*bytes) : Json(); };
  return {{"cgroup", look.name()},
          {"memory_bytes", size(look.cgroup.memory_bytes)},
          {"memory_max_bytes", size(look.cgroup.memory_max_bytes)},
          {"processes", look.cgroup.processes.size()},
          {"on_tarn", look.on_tarn.size() + look.failed.size()},
          {"not_looked_at", look.refused},
          {"failed", look.failed.size()}};
}

bool Watching::take(const CgroupLook& look) {
  time_ = current_date();
  std::erase_if(watched_, [&](const auto& one) {
    return one.first != kNoNumber && !look.cgroup.processes.contains(one.first);
  });
  for (const Looks::Process& process : look.on_tarn) {
    Json memory = Json::parse(process.text);
    memory["cgroup"] = look.name();
    if (!tell(process.pid, process.start_ticks, memory)) return false;
  }
  return tell(kNoNumber, 0, memory_json(look));
}

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

/// Calls it at each interval until it returns false.
void repeat(const WatchOptions& options, SignalWatch& signals, const std::function<bool()>& look) {
  for (int looks = 1;; ++looks) {
    const timespec began = now();
    if (!look() || looks == options.count || !wait_since(began, options.every_seconds, signals)) return;
  }
}

void watch_program(const WatchOptions& options, const FollowedProgram& program, SignalWatch& signals) {
  Watching watching(options, signals);
  bool is_first = true;
  repeat(options, signals, [&] {
    const FollowedProgram::Answer answer =
        std::exchange(is_first, false) ? program.first_look(memory_line) : program.look(memory_line);
    return !signals.wants_end() && watching.take(answer) && (answer.is_up || !program.has_ended());
  });
}

void watch_cgroup(const WatchOptions& options, SignalWatch& signals) {
  Watching watching(options, signals);
  FollowedCgroup cgroup(options.cgroup);
  repeat(options, signals, [&] {
    try {
      const CgroupLook look = cgroup.look(memory_line);
      return !signals.wants_end() && watching.take(look);
    } catch (const observer::ObserveError& error) {
      return watching.take(FollowedProgram::Answer{false, observer::printable(error.what())});
    }
  });
}

int watch(const WatchOptions& options) {
  constexpr double kShortest = 0.1, kDay = 86'400, kMostLooks = 1e9;
  require_range("--every", options.every_seconds, kShortest, kDay);
  if (options.count) require_range("--count", *options.count, 1, kMostLooks);
  const std::optional<FollowedProgram> program =
      options.cgroup.empty() ? std::optional<FollowedProgram>(options.target) : std::nullopt;
  SignalWatch signals;
  adopt_orphans();
  if (program)
    watch_program(options, *program, signals);
  else
    watch_cgroup(options, signals);
  return 0;
}

}  // namespace

void add_watch_command(CLI::App& app, Invocation& invocation) {
  CLI::App& command = add_command(
      app, "watch", "Print a line about a program's memory each minute, through restarts.",
      "tarn watch PID|NAME|--cgroup PATH [--every TIME] [--above FIGURE=BYTES] [--run COMMAND] [OPTIONS]",
      kWatchExamples);
  auto options = std::make_shared<WatchOptions>();
  const AddedOption target =
      add_word(command, "PID|NAME", options->target.name_or_pid, "The process to watch").without_type();
  add_cgroup(command, options->cgroup).excludes(target);
  add_value(command, "--every TIME", options->every_seconds, "From one look to the next (1m)").as_seconds();
  const AddedOption above = add_values(
      command, "--above FIGURE=BYTES", options->above,
      "Say when RSS or a part of it, or the memory of the cgroup (cgroup=2G), comes above so much, "
      "and when it no longer is; repeatable");
  add_value(command, "--run COMMAND", options->command,
            "Run it by a shell, each time that a figure has come above its bound")
      .needs(above);
  add_value(command, "--count N", options->count, "End after so many looks");
  add_flag(command, "--json", options->as_json, "Print a line of JSON for each look");
  on_call(command, invocation, options, watch);
}

}  // namespace tarn::tool
