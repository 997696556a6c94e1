// The command `tarn`: parses the words before `--`, hands those behind it to the sub-command untouched, and
// turns whatever goes wrong into one line and an exit status.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <new>
#include <system_error>

#include "commands/closest_name.h"
#include "commands/commands.h"
#include "observer/records/bounds.h"
#include "observer/text/printable.h"
#include "system/figures/format.h"
#include "system/files/usage_error.h"
#include "system/processes/guard.h"

namespace tarn::tool {
namespace {

using Words = std::vector<std::string>;

constexpr int kFailureStatus = 1;
constexpr int kUsageStatus = 2;

/// In the order of the help.
constexpr AddCommand* kCommands[] = {
    add_run_command,   add_compare_command, add_bench_command,   add_classes_command, add_options_command,
    add_heap_command,  add_leaks_command,   add_map_command,     add_doctor_command,  add_ps_command,
    add_top_command,   add_watch_command,   add_metrics_command, add_profile_command, add_diff_command,
    add_guard_command, add_record_command,  add_replay_command,  add_tune_command,    add_completion_command,
    add_manual_command};

/// `tarn help X` is `tarn X --help`, and `tarn` alone asks for help too.
Words without_help_command(Words words) {
  if (words.empty()) return {"--help"};
  if (words.front() != "help") return words;
  words.erase(words.begin());
  words.emplace_back("--help");
  return words;
}

void require_known_command(const CLI::App& app, const Words& words) {
  if (words.empty() || words.front().starts_with("-")) return;
  const auto named =
      app.get_subcommands([&](const CLI::App* command) { return command->get_name() == words.front(); });
  if (named.empty())
    throw UsageError(fmt::format("unknown command '{}'{}; `tarn help` lists them", words.front(),
                                 did_you_mean(words.front(), names_of_commands(app))));
}

/// Whether its option -o is told to write files that end so.
bool writes_files(const CLI::App& command, const char* ending) {
  const CLI::Option* const output = command.get_option_no_throw("--output");
  return output != nullptr && output->get_description().find(ending) != std::string::npos;
}

std::string meant_by(const std::string& option, const CLI::App& command) {
  if (option == "--html" && writes_files(command, ".html")) return "; did you mean '-o FILE.html'?";
  return did_you_mean(option, names_of_options(command));
}

/// What a word may be that belongs to no option: a file behind a switch that takes none, or a program.
std::string advice_on_word(const Words& left, const CLI::App& command, const Words& words) {
  constexpr std::array kWithProgram = {"run", "compare", "record"};
  const std::string& name = command.get_name();
  const auto word = std::find(words.begin(), words.end(), left.front());
  if (writes_files(command, ".json") && word != words.begin() && word[-1] == "--json")
    return fmt::format("--json takes no file: tarn {} -o {}", name, format_command({left.front()}));
  if (std::find(kWithProgram.begin(), kWithProgram.end(), name) == kWithProgram.end())
    return fmt::format("see `tarn help {}`", name);
  return fmt::format("a program goes behind `--`: tarn {} -- {}", name, format_command(left));
}

/// \why the parser would take the program's own options for its own
void require_nothing_before_mark(const CLI::App& app, const Words& words) {
  for (const CLI::App* command : app.get_subcommands()) {
    const Words left = command->remaining();
    if (left.empty()) continue;
    if (left.front().starts_with("-"))
      throw UsageError(fmt::format(
          "{} has no option {}{}; see `tarn help {}`", command->get_name(), left.front(),
          meant_by(left.front().substr(0, left.front().find('=')), *command), command->get_name()));
    throw UsageError(fmt::format("'{}' is no option of {}; {}", left.front(), command->get_name(),
                                 advice_on_word(left, *command, words)));
  }
}

/// Whether the command reads somebody else's process or dump, where all may be forged, or hang.
bool looks_outside(const CLI::App& app, const Invocation& invocation) {
  constexpr std::array kNames = {"heap", "leaks", "map",     "doctor",  "ps",    "diff",
                                 "top",  "watch", "metrics", "profile", "record"};
  return invocation.program.empty() && std::any_of(kNames.begin(), kNames.end(), [&](const char* name) {
           return app.got_subcommand(name);
         });
}

int parse_and_run(const Words& words, Invocation& invocation) {
  CLI::App app;
  set_front_page(app);
  for (AddCommand* const add : kCommands) add(app, invocation);
  require_known_command(app, words);
  try {
    app.parse(Words(words.rbegin(), words.rend()));
  } catch (const CLI::Success& asked) {
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{}; see `tarn help{}`", error.what(),
                                 words.front().starts_with("-") ? "" : " " + words.front()));
  }
  require_nothing_before_mark(app, words);
  if (!invocation.work) return kUsageStatus;
  return looks_outside(app, invocation) ? run_guarded(invocation.work) : invocation.work();
}

/// \why a full disk is only seen when the last bytes leave the buffer, and exit() would not tell
void require_output_written() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot write to standard output");
}

int run_tool(const Words& words) {
  const auto mark = std::find(words.begin(), words.end(), "--");
  Invocation invocation;
  invocation.words = {"tarn"};
  invocation.words.insert(invocation.words.end(), words.begin(), words.end());
  if (mark != words.end()) invocation.program.assign(mark + 1, words.end());
  try {
    const int status = parse_and_run(without_help_command(Words(words.begin(), mark)), invocation);
    require_output_written();
    return status;
  } catch (const UsageError& error) {
    fmt::print(stderr, "tarn: {}\n", observer::printable_lines(error.what()));
    return kUsageStatus;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "tarn: {}\n", observer::Bounds::refusal());
    return kFailureStatus;
  } catch (const std::exception& error) {
    fmt::print(stderr, "tarn: {}\n", observer::printable_lines(error.what()));
    return kFailureStatus;
  }
}

}  // namespace
}  // namespace tarn::tool

int main(int argc, char** argv) {
  return tarn::tool::run_tool(std::vector<std::string>(argv + 1, argv + argc));
}
