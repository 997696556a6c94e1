// `tarn leaks`: live blocks that nothing of a program points to.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <thread>

#include "commands/commands.h"
#include "look/class_column.h"
#include "look/leak_report.h"
#include "look/slow_progress.h"
#include "look/target.h"
#include "observer/attached_process.h"
#include "system/format.h"
#include "system/terminal.h"
#include "system/usage_error.h"

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

/// What one look needs and gives.
struct Looking {
  const LeaksOptions& options;
  observer::Source& source;
  SlowProgress progress;
  observer::Snapshot snapshot;
  bool has_registers = false;

  std::vector<observer::Address> read_registers();
  observer::Look look();
};

std::vector<observer::Address> Looking::read_registers() {
  if (source.kind() == observer::SourceKind::kCore) {
    std::vector<observer::Address> words = observer::core_file_words(options.target.core_file);
    has_registers = !words.empty();
    return words;
  }
  if (source.kind() != observer::SourceKind::kProcess) return {};
  std::vector<observer::Address> words = observer::call_words(observer::running_process(source));
  if (options.stops_threads) {
    const observer::StoppedThreads stopped =
        observer::stopped_thread_words(observer::running_process(source));
    words.insert(words.end(), stopped.words.begin(), stopped.words.end());
    has_registers = stopped.unseen == 0;
  }
  return words;
}

observer::Look Looking::look() {
  snapshot = observer::read_snapshot(source);
  return observer::look_for_leaks(source, snapshot, read_registers(), [this](std::uint64_t bytes) {
    progress.show(fmt::format("following pointers: {} read", format_bytes(static_cast<double>(bytes))));
  });
}

/// Looks again, without following pointers, whether leaks of a busy program stay live: a batch of free blocks
/// that goes from one thread's hand to another's while a snapshot is read looks live in that one.
void drop_what_moves(Looking& looking, std::vector<observer::Suspect>& leaks) {
  constexpr int kSnapshots = 8;
  constexpr std::chrono::milliseconds kBetween(25);
  for (int i = 0; i < kSnapshots && !leaks.empty(); ++i) {
    std::this_thread::sleep_for(kBetween);
    looking.source.refresh();
    looking.snapshot = observer::read_snapshot(looking.source);
    leaks = observer::still_live(looking.source, looking.snapshot, leaks);
  }
}

/// Looks until a look drops no suspect of the ones before. \why not until a snapshot is exact: that it was
/// made in a quiet moment says nothing of the time in which pointers were followed.
LeakLooks look_and_confirm(Looking& looking, std::vector<observer::Suspect>& leaks) {
  constexpr unsigned kMostLooks = 5;
  LeakLooks looks;
  looks.seconds_between = looking.options.wait;
  looks.last = looking.look();
  leaks = looks.last.suspects;
  bool is_certain = looking.source.kind() != observer::SourceKind::kProcess, is_busy = false;
  while (!is_certain && !leaks.empty() && looks.count < kMostLooks) {
    std::this_thread::sleep_for(std::chrono::duration<double>(looking.options.wait));
    looking.source.refresh();
    looks.last = looking.look();
    ++looks.count;
    const std::size_t before = leaks.size();
    leaks = observer::confirmed(leaks, looks.last);
    is_certain = leaks.size() == before;
    is_busy = is_busy || !is_certain || !looking.snapshot.exactness.is_exact;
  }
  if (is_busy) drop_what_moves(looking, leaks);
  looks.has_registers = looking.has_registers;
  return looks;
}

int print_leaks(const LeaksOptions& options) {
  const std::unique_ptr<observer::Source> source = open_target(options.target);
  Looking looking{options, *source, {}, {}, false};
  std::vector<observer::Suspect> leaks;
  const LeakLooks looks = look_and_confirm(looking, leaks);
  observer::ClassNames names(*source);
  const observer::LeakReport report = observer::report_leaks(*source, looking.snapshot, leaks, names);
  looking.progress.clear();
  if (options.as_json)
    fmt::print("{}", text_of(leak_document(looking.snapshot, looks, report)));
  else
    fmt::print("{}", leak_report(looking.snapshot, looks, report,
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
  command
      ->add_option("--wait", options->wait,
                   "Seconds between the looks that must agree (1); a core file needs one look")
      ->type_name("S");
  command->add_flag("--stop", options->stops_threads,
                    "Stop each thread for some microseconds to read its registers");
  command->add_flag("--no-content", options->leaves_contents,
                    "Refused: leaks cannot be found without reading blocks");
  command->add_option("--top", options->rows, "The most rows of a table; 0: all (20)")->type_name("N");
  command->add_flag("--json", options->as_json, "Print JSON");
  command->callback(
      [options, &invocation] { invocation.work = [options] { return print_leaks_or_refuse(*options); }; });
}

}  // namespace tarn::tool
