// `tarn record`: the calls that a program makes of its allocator, in a file that `tarn replay` makes again on
// any other.
#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "commands/commands.h"
#include "commands/option_values.h"
#include "engine/allocators.h"
#include "look/target.h"
#include "profile/run_to_end.h"
#include "system/files.h"
#include "system/format.h"
#include "system/guard.h"
#include "system/output_files.h"
#include "system/program.h"
#include "system/usage_error.h"
#include "trace/record_process.h"
#include "trace/recorded_family.h"

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
  std::uint64_t most_bytes = kMostOutputBytes;
  bool is_quiet = false;
};

constexpr const char* kExamples =
    "  tarn record -o calls.trace -- ./server --port 7001    from its first call to its end\n"
    "  tarn record 4711 --for 10                             ten seconds of a running program\n"
    "  tarn replay calls.trace                               then: the same calls on every allocator\n"
    "\n"
    "What the program starts is recorded too: a file for each process, the one with the most calls in FILE.\n"
    "A program that calls faster than its calls can be written waits for it. Ctrl-C ends the recording of a\n"
    "running program; what was recorded is written. Calls of tarn's own pools are not recorded, those of\n"
    "malloc, operator new and tarn::allocate are.";

void tell_result(const RecordOptions& options, std::uint64_t calls, std::uint64_t bytes) {
  if (options.is_quiet) return;
  fmt::print(stderr, "{} calls in {} ({}); now: tarn replay {}\n", format_count(calls), options.file,
             format_bytes(static_cast<double>(bytes)), options.file);
}

int status_of(const RecordingRun& run) { return run.is_complete() ? 0 : 1; }

int record_running(const RecordOptions& options) {
  const std::unique_ptr<RecordingRun> run = record_process({.target = options.target,
                                                            .file = options.file,
                                                            .seconds = options.seconds,
                                                            .is_quiet = options.is_quiet});
  tell_result(options, run->event_count(), run->written_bytes());
  return status_of(*run);
}

/// \why the trace takes the place of what is there: a device would be gone
void require_new_or_regular(const std::string& file) {
  require_writable(file);
  if (std::filesystem::exists(file) && !is_file(file))
    throw UsageError(fmt::format("{} is no regular file", file));
}

/// A line for each process with calls that are not whole, or not there. \returns whether there is one.
bool tell_what_is_missing(const std::vector<RecordedProgram>& programs, const RunToEnd& ended) {
  bool is_any = false;
  const auto tell = [&](const TracedProcess& process, const std::string& what) {
    fmt::print(stderr, "tarn: {}: {}\n", process.in_words(), what);
    is_any = true;
  };
  for (const RecordedProgram& one : programs)
    if (one.calls != 0 || !one.could_be_read || &one == &programs.front())
      for (const std::string& line : one.complaints) tell(one.process, line);
  for (const UnseenProcess& unseen : ended.unseen) tell(unseen.process, "not recorded: " + unseen.why);
  for (const std::string& remark : ended.remarks) fmt::print(stderr, "tarn: {}\n", remark);
  return is_any;
}

void tell_programs(const RecordOptions& options, const std::vector<RecordedProgram>& programs) {
  if (options.is_quiet) return;
  const auto count =
      std::count_if(programs.begin(), programs.end(), [](const auto& one) { return one.calls != 0; });
  if (count > 1)
    for (const RecordedProgram& one : programs)
      if (one.calls != 0)
        fmt::print(stderr, "{}: {} calls of {}\n", one.file, format_count(one.calls), one.process.in_words());
  tell_result(options, programs.front().calls, programs.front().bytes);
}

int record_program(const std::vector<std::string>& command, const RecordOptions& options) {
  const Program program = find_program(command.front());
  if (program.state != ProgramState::kFound) throw UsageError(fmt::format("cannot run {}", command.front()));
  if (const std::string obstacle = why_not_preloadable(program.path); !obstacle.empty())
    throw UsageError(fmt::format("{}: its calls cannot be recorded", obstacle));
  require_new_or_regular(options.file);
  Environment environment;
  environment.preload(find_tarn_library());
  environment.set("TARN_RECORD", "1");
  for (const std::string& setting : options.settings) {
    const auto [name, value] = parse_setting(setting);
    environment.set(name, value);
  }
  RecordedFamily family(options.file);
  RecordingProgress progress(options.is_quiet);
  const RunHooks hooks = {.on_begin = [&](const TracedProcess& process, Begins) { family.begin(process); },
                          .tick =
                              [&] {
                                const int wait_ms = family.fetch();
                                progress.show(family.event_count(), family.written_bytes());
                                return wait_ms;
                              }};
  const auto at_end = [&](observer::Source& source, const TracedProcess& process, const auto&) {
    family.end_of(source, process);
  };
  const RunToEnd ended = run_to_end(command, environment, at_end, hooks);
  const std::vector<RecordedProgram> programs = family.end();
  progress.clear();
  const bool is_any_missing = tell_what_is_missing(programs, ended);
  if (!programs.empty() && programs.front().calls != 0) tell_programs(options, programs);
  const int status =
      WIFSIGNALED(ended.status) ? kSignalStatus + WTERMSIG(ended.status) : WEXITSTATUS(ended.status);
  return status == 0 && (is_any_missing || programs.empty()) ? 1 : status;
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
      ->add_option("--most", options->most_bytes,
                   "So many bytes are written to all files together, then the recording ends (1G)")
      ->transform(CLI::AsSizeValue(false).description(""))
      ->type_name("BYTES");
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
      allow_output(options->most_bytes);
      require_range("--for", options->seconds, 0, kLongestTime);
      if (!has_target && options->seconds != 0) throw UsageError("--for is for a running program");
      if (has_target) return record_running(*options);  // main() has a guard for it
      return run_guarded([&] { return record_program(invocation.program, *options); });
    };
  });
}

}  // namespace tarn::tool
