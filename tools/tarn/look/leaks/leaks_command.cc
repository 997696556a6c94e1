// `tarn leaks`: live blocks that nothing of a program points to.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "commands/commands.h"
#include "look/heap/class_column.h"
#include "look/leaks/find_leaks.h"
#include "look/leaks/leak_report.h"
#include "look/processes/target.h"
#include "system/files/output_files.h"
#include "system/files/usage_error.h"
#include "system/terminal/terminal.h"

namespace tarn::tool {
namespace {

constexpr double kLongestWait = 3600;  // seconds

struct LeaksOptions {
  Target target;
  bool as_json = false, leaves_contents = false, stops_threads = false;
  double wait = 1;
  std::size_t rows = 20;
};

constexpr const char* kExamples =
    "  tarn leaks game_server                        what it has lost\n"
    "  tarn leaks 4711 --wait 10                     look again after more time\n"
    "  tarn leaks 4711 --stop                        look into registers too\n"
    "  tarn leaks --core core.4711 --json\n"
    "\n"
    "The exit status is 0 without leaks, 1 with some, 2 when the program cannot be looked at.";

int print_leaks(const LeaksOptions& options) {
  const std::unique_ptr<observer::Source> source = open_target(options.target);
  const FoundLeaks found =
      find_leaks(*source, {options.target.core_file, options.wait, options.stops_threads});
  observer::ClassNames names(*source);
  const observer::LeaksByClass report = observer::group_leaks(*source, found.snapshot, found.leaks, names);
  if (options.as_json)
    print_document(text_of(leak_document(found.snapshot, found.looks, report)));
  else
    fmt::print("{}", leak_report(found.snapshot, found.looks, report,
                                 {options.rows, line_width(), colour_for(STDOUT_FILENO)}));
  return report.blocks() == 0 ? 0 : 1;
}

/// \why a program that cannot be looked at must not exit as one with leaks does
int print_leaks_or_refuse(const LeaksOptions& options) {
  if (options.leaves_contents)
    throw UsageError(
        "leaks are found by reading blocks: without them, `tarn heap --no-content` counts by size");
  require_range("--wait", options.wait, 0, kLongestWait);
  try {
    return print_leaks(options);
  } catch (const observer::ObserveError& error) {
    throw UsageError(error.what());
  }
}

}  // namespace

void add_leaks_command(CLI::App& app, Invocation& invocation) {
  CLI::App* command =
      add_command(app, "leaks", "Find live blocks that nothing of a program points to, from outside.",
                  "tarn leaks PID|NAME [OPTIONS]", kExamples);
  auto options = std::make_shared<LeaksOptions>();
  add_target(*command, options->target);
  add_value(*command, "--wait S", options->wait,
            "Seconds between the looks that must agree (1); a core file needs one look");
  command->add_flag("--stop", options->stops_threads,
                    "Stop each thread for some microseconds to read its registers");
  command->add_flag("--no-content", options->leaves_contents,
                    "Refused: leaks cannot be found without reading blocks");
  add_value(*command, "--top N", options->rows, "The most rows of a table; 0: all (20)");
  command->add_flag("--json", options->as_json, "Print JSON");
  on_call(*command, invocation, options, print_leaks_or_refuse);
}

}  // namespace tarn::tool
