// `tarn top`: a program's memory, once a second, or once.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

#include "commands/commands.h"
#include "look/processes/observation.h"
#include "look/processes/screen_text.h"
#include "look/processes/target.h"
#include "look/top/screen.h"
#include "look/top/top_keys.h"
#include "look/top/top_lines.h"
#include "system/figures/clock.h"
#include "system/files/output_files.h"
#include "system/runs/child_process.h"
#include "system/terminal/terminal.h"

namespace tarn::tool {
namespace {

using observer::Source;
using observer::SourceKind;

struct TopOptions {
  Target target;
  double interval_seconds = 1;
  bool is_interval_given = false;
  bool is_once = false;
  bool as_json = false;
  std::size_t rows = 0;
};

/// Of a pipe: $COLUMNS, as `ps` takes it.
std::size_t width_of_output() {
  const char* columns = std::getenv("COLUMNS");
  const int width = columns != nullptr ? std::atoi(columns) : 0;
  return columns_of(STDOUT_FILENO, width > 0 ? static_cast<std::size_t>(width) : kWidthOfScreen);
}

void print_look(const Look& look, std::size_t most_rows = 0) {
  for (const Line& line : top_lines(look, {.most_rows = most_rows}, width_of_output(), kAnyHeight))
    fmt::print("{}", text_of(line, colour_for(STDOUT_FILENO)));
  if (look.has_ended) fmt::print("{} has ended; this was seen last.\n", look.snapshot.pid);
}

/// The last look again, when the process has ended since. \throws what look_at() does, while it runs.
Look next_look(Source& source, Look before) {
  try {
    return look_at(source, &before);
  } catch (const observer::ObserveError&) {
    if (source.kind() != SourceKind::kProcess || !has_ended(source)) throw;
    before.has_ended = true;
    return before;
  }
}

int look_once(const TopOptions& options, Source& source) {
  Look look = look_at(source, nullptr);
  if (options.is_interval_given && source.kind() == SourceKind::kProcess) {
    std::this_thread::sleep_for(std::chrono::duration<double>(options.interval_seconds));
    look = next_look(source, std::move(look));
  }
  if (options.as_json)
    print_document(text_of(top_json(look)));
  else
    print_look(look, options.rows);
  return 0;
}

/// Runs another command of this tool on the same target, with the terminal its own.
void run_command(const std::string& command, const Target& target, const SignalWatch& signals) {
  std::vector<std::string> words = {"tarn", command};
  if (target.core_file.empty())
    words.push_back(target.name_or_pid);
  else
    words.insert(words.end(), {"--core", target.core_file});
  const std::vector<char*> arguments = pointers_to(words);
  const pid_t child = fork();
  if (child == 0) {
    signals.restore_mask();
    execv("/proc/self/exe", arguments.data());
    _exit(127);
  }
  if (child > 0) waitpid(child, nullptr, 0);
}

/// The screen and the program that it shows.
class TopLoop {
 public:
  TopLoop(const TopOptions& options, Source& source)
      : options_(options), source_(source), look_(look_at(source, nullptr)) {
    state_.is_paused = source.kind() != SourceKind::kProcess;  // nothing changes in a core file
  }
  void run();
  const Look& look() const { return look_; }

 private:
  void draw() { screen_.draw(top_lines(look_, state_, screen_.width(), screen_.height())); }
  void look_again();
  double seconds_left() const;
  /// \returns false when the reader wants to quit.
  bool take(int key);

  const TopOptions& options_;
  Source& source_;
  Look look_;
  TopState state_;
  Screen screen_;
  timespec last_look_ = now();
};

double TopLoop::seconds_left() const {
  constexpr double kLong = 3600;
  return state_.is_paused ? kLong : std::max(0.0, options_.interval_seconds - seconds_since(last_look_));
}

void TopLoop::look_again() {
  last_look_ = now();
  look_ = next_look(source_, std::move(look_));
}

bool TopLoop::take(int key) {
  const std::size_t page = screen_.height() > 10 ? screen_.height() - 10 : 1;
  const TopAction action = take_key(key, page, top_row_count(look_, state_), state_);
  if (action.what == TopAction::What::kQuit) return false;
  if (action.what == TopAction::What::kLookNow && source_.kind() == SourceKind::kProcess) look_again();
  if (action.what == TopAction::What::kRunCommand)
    screen_.lend([&](const SignalWatch& signals) { run_command(action.command, options_.target, signals); });
  return true;
}

void TopLoop::run() {
  while (!look_.has_ended) {
    draw();
    const int key = screen_.key(seconds_left());
    if (key != kNoKey) {
      if (!take(key)) return;
    } else if (seconds_left() == 0) {
      look_again();
    }
  }
}

/// \why the last state stays on the terminal when the program has ended
int watch(const TopOptions& options, Source& source) {
  auto loop = std::make_unique<TopLoop>(options, source);
  loop->run();
  const Look last = loop->look();
  loop.reset();
  if (last.has_ended) print_look(last);
  return 0;
}

int top(const TopOptions& options) {
  require_range("--interval", options.interval_seconds, 0.05, 3600);
  const std::unique_ptr<Source> source = open_target(options.target);
  const bool has_screen = is_terminal(STDIN_FILENO) && is_terminal(STDOUT_FILENO);
  return options.is_once || options.as_json || !has_screen ? look_once(options, *source)
                                                           : watch(options, *source);
}

}  // namespace

void add_top_command(CLI::App& app, Invocation& invocation) {
  CLI::App& command =
      add_command(app, "top", "Watch the memory of a running program, in parts that add up to its RSS.",
                  "tarn top PID|NAME|--core FILE [--interval TIME] [--once [--top N]] [--json]",
                  "  tarn top game_server\n"
                  "  tarn top 4711 --interval 0.2\n"
                  "  tarn top 4711 --once --interval 5       rates over five seconds, printed\n"
                  "  tarn top --core core.4711 --json\n");
  auto options = std::make_shared<TopOptions>();
  add_target(command, options->target);
  const AddedOption interval =
      add_value(command, "--interval TIME", options->interval_seconds, "From one look to the next (1s)")
          .as_seconds();
  const AddedOption once = add_flag(command, "--once", options->is_once,
                                    "Print one look; with --interval, two, and the rates between them");
  add_top(command, options->rows, "0").needs(once);
  add_flag(command, "--json", options->as_json, "Print one look as JSON");
  on_call(command, invocation, options, [interval](TopOptions& given) {
    given.is_interval_given = interval.is_given();
    return top(given);
  });
}

}  // namespace tarn::tool
