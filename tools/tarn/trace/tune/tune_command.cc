// `tarn tune`: the settings of the library under which a recorded program needs least memory.
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <memory>
#include <optional>
#include <system_error>

#include "commands/commands.h"
#include "system/figures/format.h"
#include "system/files/files.h"
#include "system/files/output_files.h"
#include "system/files/usage_error.h"
#include "system/processes/signals.h"
#include "system/terminal/terminal.h"
#include "trace/record/record_process.h"
#include "trace/replay/prepared_trace.h"
#include "trace/tune/contest.h"
#include "trace/tune/tune_options.h"
#include "trace/tune/tune_report.h"
#include "tune/class_table.h"

namespace tarn::tool {
namespace {

namespace fs = std::filesystem;

// A page more or less, or a tick of the clock, would be a gain below these.
constexpr double kLeastPeakBytes = 1 << 20;
constexpr double kLeastSeconds = 0.002;

/// The text of the table of size classes that wastes least for the blocks of the peak.
std::string fitted_classes(const PreparedTrace& prepared) {
  tune::SizeHistogram histogram;
  for (const auto& [size, count] : prepared.live_sizes) histogram.add(size, count);
  return tune::text_of_table(
      tune::fit(histogram, {}),
      fmt::format("Made by tarn tune for the live sizes in {}.", format_command({prepared.trace.file})));
}

void require_measurable(const Replay& replay) {
  if (replay.peak().bytes >= kLeastPeakBytes && replay.seconds >= kLeastSeconds) return;
  throw std::runtime_error(fmt::format(
      "the trace is too short to measure: its replay takes {} and {}, and below {} or {} noise is "
      "larger than any gain; record more of the program",
      format_bytes(replay.peak().bytes), format_seconds(replay.seconds), format_bytes(kLeastPeakBytes),
      format_seconds(kLeastSeconds)));
}

/// What was begun and could not be ended; no device.
void remove_file(const std::string& file) {
  std::error_code ignored;
  if (is_file(file)) fs::remove(file, ignored);
}

/// Both files or none. \why settings that name classes which are not there would be refused at each start
void write_proposal(const TuneResult& result, const std::string& classes) {
  try {
    if (!result.classes_file.empty()) write_file(result.classes_file, classes);
    write_file(result.conf_file, proposed_file(result));
  } catch (...) {
    remove_file(result.classes_file);
    remove_file(result.conf_file);
    throw;
  }
}

void name_files(const TuneOptions& options, TuneResult& result) {
  if (options.conf_file.empty() || !result.proposes()) return;
  result.conf_file = options.conf_file;
  const auto& chosen = result.outcome.chosen;
  if (std::find(chosen.begin(), chosen.end(), tune::Setting{"classes_file", kFittedClasses}) != chosen.end())
    result.classes_file = classes_file_of(options);
}

int tell(const TuneOptions& options, TuneResult& result, const std::string& classes) {
  name_files(options, result);
  if (!result.conf_file.empty()) write_proposal(result, classes);
  const std::string json = text_of(tune_json(result));
  print_document(options.output.as_json ? json : tune_report(result, colour_for(STDOUT_FILENO)));
  std::fflush(stdout);
  for (const std::string& file : options.output.files) write_file(file, json);
  return 0;
}

ReplayPlan plan_of(const TuneOptions& options, const PreparedTrace& prepared) {
  return {.program = find_replay_program(),
          .script_file = prepared.script->path(),
          .environment = environment_of_defaults(),
          .timeout_seconds = options.timeout_seconds,
          .is_serial = options.is_serial};
}

/// Everything that needs signals held back and files that go away again. \throws Interrupted
tune::Outcome search(const TuneOptions& options, const PreparedTrace& prepared, const std::string& classes,
                     TuneResult& result) {
  Session session(options.is_quiet ? Telling::kQuiet : Telling::kProgress);
  const TemporaryDirectory directory;
  const fs::path fitted = directory.path() / "fitted.classes";
  write_file(fitted, classes);
  Contest contest(plan_of(options, prepared), {kTarnName, find_tarn_library()}, fitted.string(), session);
  const Replay trial = contest.try_defaults();
  require_measurable(trial);
  result.rounds = rounds_of(options, trial.seconds);
  contest.set_rounds(result.rounds);
  const auto measure = [&](tune::Step step, const auto& asked) { return contest.measure(step, asked); };
  tune::Outcome outcome = tune::search(candidates_of(options), measure, result.bounds);
  result.bounds = outcome.bounds;
  result.failures = contest.failures();
  return outcome;
}

/// \throws UsageError before a long trace is read
TuneResult empty_result(const TuneOptions& options) {
  require_valid(options);
  TuneResult result;
  result.bounds = bounds_of(options);
  result.is_serial = options.is_serial;
  result.is_file_asked_for = !options.conf_file.empty();
  (void)find_tarn_library();
  (void)find_replay_program();
  return result;
}

/// Whether a process is meant, and no file of that name.
bool is_process(const std::string& word) {
  return word.find_first_not_of("0123456789") == std::string::npos && !fs::exists(word);
}

int tune_trace(const TuneOptions& options, const std::string& trace_file) {
  TuneResult result = empty_result(options);
  const PreparedTrace prepared =
      prepare_trace({trace_file, options.is_partial,
                     options.is_serial ? trace::Threads::kOne : trace::Threads::kAsRecorded, options.window});
  const std::string classes = fitted_classes(prepared);
  result.trace = prepared.trace;
  try {
    result.outcome = search(options, prepared, classes, result);
  } catch (const Interrupted& interrupted) {
    fmt::print(stderr, "tarn: interrupted: nothing is proposed, no file is written\n");
    return measuring_status(interrupted.signal_number, false);
  }
  return tell(options, result, classes);
}

[[noreturn]] void record_and_end(const RecordedProcess& recorded) {
  int status = 0;
  try {
    static_cast<void>(record_process(recorded));
  } catch (const UsageError& error) {
    fmt::print(stderr, "tarn: {}\n", error.what());
    status = 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "tarn: {}\n", error.what());
    status = 1;
  }
  _exit(status);
}

/// Records in a process of its own. \why it may give up rights that the search needs. \returns its status.
int record_apart(const RecordedProcess& recorded) {
  SignalWatch signals;
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child == 0) record_and_end(recorded);
  int status = 0;
  for (pollfd waiting{signals.descriptor(), POLLIN, 0}; waitpid(child, &status, WNOHANG) == 0;) {
    poll(&waiting, 1, -1);
    while (const std::optional<ReceivedSignal> signal = signals.next())
      if (signal->number != SIGCHLD && signal->is_from_process) kill(child, signal->number);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int tune_process(const TuneOptions& options) {
  static_cast<void>(empty_result(options));  // before some seconds of recording
  const TemporaryDirectory directory;
  const std::string file = (directory.path() / fmt::format("process-{}.trace", options.trace_file)).string();
  const int status = record_apart({.target = {.name_or_pid = options.trace_file, .core_file = {}},
                                   .file = file,
                                   .seconds = options.recorded_seconds,
                                   .is_quiet = options.is_quiet});
  return status == 0 ? tune_trace(options, file) : status;
}

int tune(const TuneOptions& options) {
  return is_process(options.trace_file) ? tune_process(options) : tune_trace(options, options.trace_file);
}

}  // namespace

void add_tune_command(CLI::App& app, Invocation& invocation) {
  CLI::App& command = add_command(
      app, "tune", "Find the settings under which a recorded program needs least memory.",
      "tarn tune TRACE|PID [--out FILE] [OPTIONS]",
      "  tarn tune server.trace --quick\n"
      "  tarn tune 4711 --for 30                     records the process, then replays what it did\n"
      "  tarn tune server.trace --out tarn.conf      then: tarn run --conf tarn.conf -- ./server\n"
      "  tarn tune server.trace --most-time 0% --least mean -o r.json\n"
      "  tarn tune job.trace --program-time 2.5      5 % of 2.5 s, not of what its calls take\n"
      "  tarn tune server.trace --only thread_cache,decay --try thread_cache=512K\n"
      "\n"
      "Exit status: 0 the search is done, whether it proposes something or not, 1 the trace is\n"
      "damaged or too short, or cannot be replayed, 2 the command line is wrong, 130 interrupted\n"
      "(nothing is written).\n");
  auto options = std::make_shared<TuneOptions>();
  add_tune_options(command, *options);
  on_call(command, invocation, options, tune);
}

}  // namespace tarn::tool
