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

#include "commands/commands.h"
#include "observer/records/bounds.h"
#include "observer/text/printable.h"
#include "system/figures/format.h"
#include "system/files/usage_error.h"
#include "system/processes/guard.h"

namespace {

using tarn::tool::UsageError;
using Words = std::vector<std::string>;

constexpr int kFailureStatus = 1;
constexpr int kUsageStatus = 2;

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
    throw UsageError(fmt::format("unknown command '{}': `tarn help` lists them", words.front()));
}

/// \why the parser would take the program's own options for its own
void require_nothing_before_mark(const CLI::App& app) {
  for (const CLI::App* command : app.get_subcommands()) {
    const Words left = command->remaining();
    if (left.empty()) continue;
    if (left.front().starts_with("-"))
      throw UsageError(fmt::format("{} has no option {}: see `tarn help {}`", command->get_name(),
                                   left.front(), command->get_name()));
    throw UsageError(fmt::format("'{}' is no option of {}; a program goes behind `--`: tarn {} -- {}",
                                 left.front(), command->get_name(), command->get_name(),
                                 tarn::tool::format_command(left)));
  }
}

/// Whether the command reads somebody else's process or dump, where all may be forged, or hang.
bool looks_outside(const CLI::App& app, const tarn::tool::Invocation& invocation) {
  constexpr std::array kCommands = {"heap", "leaks",   "map",     "doctor", "ps",
                                    "top",  "metrics", "profile", "record"};
  return invocation.program.empty() && std::any_of(kCommands.begin(), kCommands.end(), [&](const char* name) {
           return app.got_subcommand(name);
         });
}

int parse_and_run(const Words& words, tarn::tool::Invocation& invocation) {
  CLI::App app;
  tarn::tool::set_front_page(app);
  tarn::tool::add_run_command(app, invocation);
  tarn::tool::add_compare_command(app, invocation);
  tarn::tool::add_bench_command(app, invocation);
  tarn::tool::add_classes_command(app, invocation);
  tarn::tool::add_options_command(app, invocation);
  tarn::tool::add_heap_command(app, invocation);
  tarn::tool::add_leaks_command(app, invocation);
  tarn::tool::add_map_command(app, invocation);
  tarn::tool::add_doctor_command(app, invocation);
  tarn::tool::add_ps_command(app, invocation);
  tarn::tool::add_top_command(app, invocation);
  tarn::tool::add_metrics_command(app, invocation);
  tarn::tool::add_profile_command(app, invocation);
  tarn::tool::add_record_command(app, invocation);
  tarn::tool::add_replay_command(app, invocation);
  tarn::tool::add_tune_command(app, invocation);
  require_known_command(app, words);
  try {
    app.parse(Words(words.rbegin(), words.rend()));
  } catch (const CLI::Success& asked) {
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{}; see `tarn help{}`", error.what(),
                                 words.front().starts_with("-") ? "" : " " + words.front()));
  }
  require_nothing_before_mark(app);
  if (!invocation.work) return kUsageStatus;
  return looks_outside(app, invocation) ? tarn::tool::run_guarded(invocation.work) : invocation.work();
}

/// \why a full disk is only seen when the last bytes leave the buffer, and exit() would not tell
void require_output_written() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot write to standard output");
}

}  // namespace

int main(int argc, char** argv) {
  const Words words(argv + 1, argv + argc);
  const auto mark = std::find(words.begin(), words.end(), "--");
  tarn::tool::Invocation invocation;
  invocation.words = {"tarn"};
  invocation.words.insert(invocation.words.end(), words.begin(), words.end());
  if (mark != words.end()) invocation.program.assign(mark + 1, words.end());
  try {
    const int status = parse_and_run(without_help_command(Words(words.begin(), mark)), invocation);
    require_output_written();
    return status;
  } catch (const UsageError& error) {
    fmt::print(stderr, "tarn: {}\n", tarn::observer::printable_lines(error.what()));
    return kUsageStatus;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "tarn: {}\n", tarn::observer::Bounds::refusal());
    return kFailureStatus;
  } catch (const std::exception& error) {
    fmt::print(stderr, "tarn: {}\n", tarn::observer::printable_lines(error.what()));
    return kFailureStatus;
  }
}
