// `tarn record`: the calls that a program makes of its allocator, in a file that `tarn replay` makes again on
// any other.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "commands/commands.h"
#include "commands/option_values.h"
#include "engine/contenders/allocators.h"
#include "look/processes/target.h"
#include "profile/run/run_to_end.h"
#include "system/figures/clock.h"
#include "system/figures/format.h"
#include "system/files/files.h"
#include "system/files/output_files.h"
#include "system/files/program.h"
#include "system/files/usage_error.h"
#include "system/processes/guard.h"
#include "trace/record/record_process.h"
#include "trace/record/recording_run.h"

namespace tarn::tool {
namespace fs = std::filesystem;
namespace {

// -- A program and all processes below it: a trace for each program that one of them runs ----------------
//
// Which of them matters nobody knows before: a wrapper may execute the server, or start it and wait. So each
// has a file of its own; in the end the one with the most calls gets the name that was asked for, those
// without calls go, and what became of each is told.

struct RecordedProgram {
  TracedProcess process;
  std::string file;
  std::uint64_t calls = 0, bytes = 0;
  bool could_be_read = false;  // it runs on tarn
  std::vector<std::string> complaints;
};

class RecordedFamily {
 public:
  explicit RecordedFamily(std::string file) : file_(std::move(file)) {}

  /// A process has memory of its own from now on. What it was before has ended.
  void begin(const TracedProcess& process);
  /// Fetches calls of all. \returns in how many milliseconds to come again
  int fetch();
  /// The process is stopped at its end, or is left running.
  void end_of(const observer::Source& source, const TracedProcess& process);
  /// Ends what is left, and gives the files their names. \returns all, the one with the most calls first.
  std::vector<RecordedProgram> end();

  /// Of those that still run and of those that have ended.
  std::uint64_t event_count() const;
  std::uint64_t written_bytes() const;

 private:
  struct Running {
    TracedProcess process;
    std::string file;
    std::unique_ptr<RecordingRun> run;
  };

  void finish(const Running& running);
  std::string next_file(int pid);

  const std::string file_;
  std::list<Running> running_;
  std::vector<RecordedProgram> ended_;
};

constexpr int kIdleMs = 100;
constexpr double kMostSecondsOfFetch = 0.3;

/// "calls.4711.trace"; of a process that executes several programs, "calls.4711-2.trace".
std::string RecordedFamily::next_file(int pid) {
  const fs::path whole(file_);
  const auto name = [&](unsigned number) {
    const std::string words = number == 1 ? std::to_string(pid) : fmt::format("{}-{}", pid, number);
    return (whole.parent_path() /
            fmt::format("{}.{}{}", whole.stem().string(), words, whole.extension().string()))
        .string();
  };
  const auto is_taken = [&](const std::string& file) {
    return std::any_of(ended_.begin(), ended_.end(),
                       [&](const RecordedProgram& one) { return one.file == file; });
  };
  unsigned number = 1;
  while (is_taken(name(number))) ++number;
  return name(number);
}

void RecordedFamily::begin(const TracedProcess& process) {
  const auto before = std::find_if(running_.begin(), running_.end(),
                                   [&](const Running& one) { return one.process.pid == process.pid; });
  if (before != running_.end()) {
    before->run->end_by_exec();
    finish(*before);
    if (ended_.back().calls == 0) ended_.pop_back();
    running_.erase(before);
  }
  const std::string file = next_file(process.pid), directory = fmt::format("/proc/{}", process.pid);
  make_output(file);
  running_.push_back(
      {process, file, std::make_unique<RecordingRun>(file, program_of(directory), command_of(directory))});
}

int RecordedFamily::fetch() {
  int wait_ms = kIdleMs;
  // Signals wait meanwhile: rings may be forged, and always full.
  const auto is_over = [began = now()] { return seconds_since(began) > kMostSecondsOfFetch; };
  for (Running& running : running_)
    wait_ms = std::min(wait_ms, running.run->fetch_of(running.process.pid, is_over));
  return wait_ms;
}

void RecordedFamily::end_of(const observer::Source& source, const TracedProcess& process) {
  for (auto running = running_.begin(); running != running_.end(); ++running) {
    if (running->process.pid != process.pid) continue;
    running->process = process;
    if (!process.runs_on) running->run->end_of(source);  // else it is told to record no more
    finish(*running);
    running_.erase(running);
    return;
  }
}

void RecordedFamily::finish(const Running& running) {
  running.run->end();
  ended_.push_back({running.process, running.file, running.run->event_count(), running.run->written_bytes(),
                    running.run->has_begun(), running.run->complaints()});
  std::error_code ignored;
  if (ended_.back().calls == 0) fs::remove(running.file, ignored);
}

std::vector<RecordedProgram> RecordedFamily::end() {
  for (Running& running : running_) finish(running);
  running_.clear();
  std::stable_sort(ended_.begin(), ended_.end(),
                   [](const RecordedProgram& a, const RecordedProgram& b) { return a.calls > b.calls; });
  if (!ended_.empty() && ended_.front().calls != 0) {
    fs::rename(ended_.front().file, file_);
    ended_.front().file = file_;
  }
  return std::move(ended_);
}

std::uint64_t RecordedFamily::event_count() const {
  std::uint64_t sum = 0;
  for (const RecordedProgram& one : ended_) sum += one.calls;
  for (const Running& one : running_) sum += one.run->event_count();
  return sum;
}

std::uint64_t RecordedFamily::written_bytes() const {
  std::uint64_t sum = 0;
  for (const RecordedProgram& one : ended_) sum += one.bytes;
  for (const Running& one : running_) sum += one.run->written_bytes();
  return sum;
}

// -- The command -----------------------------------------------------------------------------------------

constexpr double kLongestRecording = 24 * 3600;  // seconds

struct RecordOptions {
  Target target;
  std::string file = "calls.trace";
  double seconds = 0;  // 0: until it ends, or Ctrl-C
  std::vector<std::string> settings;
  std::uint64_t most_bytes = kMostOutputBytes;
  bool is_quiet = false;
};

constexpr const char* kRecordExamples =
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
  if (fs::exists(file) && !is_file(file)) throw UsageError(fmt::format("{} is no regular file", file));
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
  set_options(environment, options.settings);
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
  const int status = ended.exit_status();
  return status == 0 && (is_any_missing || programs.empty()) ? 1 : status;
}

int record(const RecordOptions& options, const Invocation& invocation) {
  const bool has_target = !options.target.name_or_pid.empty();
  if (has_target == !invocation.program.empty())
    throw UsageError("name a running program, or one to start behind --");
  allow_output(options.most_bytes);
  require_range("--for", options.seconds, 0, kLongestRecording);
  if (!has_target && options.seconds != 0) throw UsageError("--for is for a running program");
  if (has_target) return record_running(options);  // main() has a guard for it
  return run_guarded([&] { return record_program(invocation.program, options); });
}

}  // namespace

void add_record_command(CLI::App& app, Invocation& invocation) {
  CLI::App& command = add_command(app, "record", "Record the calls that a program makes of its allocator.",
                                  "tarn record [PID|NAME] [OPTIONS] [-- PROGRAM [ARGS...]]", kRecordExamples);
  auto options = std::make_shared<RecordOptions>();
  add_word(command, "PID|NAME", options->target.name_or_pid, "A running program that uses tarn");
  add_value(command, "-o,--output FILE", options->file, "The trace (calls.trace)");
  add_value(command, "--for TIME", options->seconds, "Of a running program: so long, else until Ctrl-C")
      .as_seconds();
  add_value(command, "--most BYTES", options->most_bytes,
            "So many bytes are written to all files together, then the recording ends (1G)")
      .as_size();
  add_values(command, "--set KEY=VALUE", options->settings,
             "Set an option of the library for PROGRAM (see tarn options); repeatable");
  add_flag(command, "--quiet", options->is_quiet, "No progress, and no word at the end");
  on_call(command, invocation, options,
          [&invocation](const RecordOptions& given) { return record(given, invocation); });
}

}  // namespace tarn::tool
