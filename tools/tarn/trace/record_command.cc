// `tarn record`: the calls that a program makes of its allocator, in a file that `tarn replay` makes again on
// any other.
#include <fmt/format.h>
#include <sys/wait.h>

#include <memory>

#include "commands/commands.h"
#include "commands/option_values.h"
#include "engine/allocators.h"
#include "look/target.h"
#include "profile/run_to_end.h"
#include "system/files.h"
#include "system/format.h"
#include "system/program.h"
#include "system/usage_error.h"
#include "trace/record_process.h"

namespace tarn::tool {
namespace {

constexpr double kLongestTime = 24 * 3600;  // seconds
constexpr int kSignalStatus = 128;
constexpr int kNotFoundStatus = 127;

struct RecordOptions {
  Target target;
  std::string file = "calls.trace";
  double seconds = 0;  // 0: until it ends, or Ctrl-C
  std::vector<std::string> settings;
  bool is_quiet = false;
};

constexpr const char* kExamples =
    "  tarn record -o calls.trace -- ./server --port 7001    from its first call to its end\n"
    "  tarn record 4711 --for 10                             ten seconds of a running program\n"
    "  tarn replay calls.trace                               then: the same calls on every allocator\n"
    "\n"
    "A program that calls faster than its calls can be written waits for it. Ctrl-C ends the recording of a\n"
    "running program; what was recorded is written. Calls of tarn's own pools are not recorded, those of\n"
    "malloc, operator new and tarn::allocate are.";

void tell_result(const RecordOptions& options, const RecordingRun& run) {
  if (options.is_quiet) return;
  fmt::print(stderr, "{} calls in {} ({}); now: tarn replay {}\n", format_count(run.event_count()),
             options.file, format_bytes(static_cast<double>(run.written_bytes())), options.file);
}

int status_of(const RecordingRun& run) { return run.is_complete() ? 0 : 1; }

int record_running(const RecordOptions& options) {
  const std::unique_ptr<RecordingRun> run = record_process({.target = options.target,
                                                            .file = options.file,
                                                            .seconds = options.seconds,
                                                            .is_quiet = options.is_quiet});
  tell_result(options, *run);
  return status_of(*run);
}

int record_program(const std::vector<std::string>& command, const RecordOptions& options) {
  const Program program = find_program(command.front());
  if (program.state != ProgramState::kFound) throw UsageError(fmt::format("cannot run {}", command.front()));
  if (const std::string obstacle = why_not_preloadable(program.path); !obstacle.empty())
    throw UsageError(fmt::format("{}: its calls cannot be recorded", obstacle));
  Environment environment;
  environment.preload(find_tarn_library());
  for (const std::string& setting : options.settings) {
    const auto [name, value] = parse_setting(setting);
    environment.set(name, value);
  }
  RecordingRun run(options.file, program.path, command);
  RecordingProgress progress(options.is_quiet);
  const RunHooks hooks = {
      .before_exec = [](Environment& own, int pid) { own.set("TARN_RECORD", std::to_string(pid)); },
      .tick =
          [&](int pid) {
            const int wait_ms = run.fetch_of(pid);
            progress.show(run);
            return wait_ms;
          }};
  const RunToEnd ended = run_to_end(
      command, environment, [&](observer::Source& source) { run.end_of(source); }, hooks);
  run.end();
  progress.clear();
  tell_complaints(run);
  tell_result(options, run);
  const int status =
      WIFSIGNALED(ended.status) ? kSignalStatus + WTERMSIG(ended.status) : WEXITSTATUS(ended.status);
  return status == 0 ? status_of(run) : status;
}

}  // namespace

void add_record_command(CLI::App& app, Invocation& invocation) {
  CLI::App* command = add_command(app, "record", "Record the calls that a program makes of its allocator.",
                                  "tarn record [PID|NAME] [OPTIONS] [-- PROGRAM [ARGS...]]", kExamples);
  auto options = std::make_shared<RecordOptions>();
  command->add_option("PID|NAME", options->target.name_or_pid, "A running program that uses tarn");
  command->add_option("-o,--output", options->file, "The trace (calls.trace)")->type_name("FILE");
  command->add_option("--for", options->seconds, "Of a running program: so many seconds, else until Ctrl-C")
      ->type_name("S");
  command
      ->add_option("--set", options->settings,
                   "Set an option of the library for PROGRAM (see tarn options); repeatable")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_flag("--quiet", options->is_quiet, "No progress, and no word at the end");
  command->callback([options, &invocation] {
    invocation.work = [options, &invocation] {
      const bool has_target = !options->target.name_or_pid.empty();
      if (has_target == !invocation.program.empty())
        throw UsageError("name a running program, or one to start behind --");
      require_range("--for", options->seconds, 0, kLongestTime);
      if (!has_target && options->seconds != 0) throw UsageError("--for is for a running program");
      return has_target ? record_running(*options) : record_program(invocation.program, *options);
    };
  });
}

}  // namespace tarn::tool
