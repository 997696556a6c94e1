#include "trace/record/record_process.h"

#include <fmt/format.h>
#include <poll.h>

#include <csignal>
#include <optional>

#include "observer/process/attached_process.h"
#include "system/figures/clock.h"
#include "system/figures/format.h"
#include "system/files/output_files.h"
#include "system/files/usage_error.h"
#include "system/processes/signals.h"

namespace tarn::tool {
namespace {

/// The end of a recording: its time, or a signal.
class End {
 public:
  explicit End(double seconds) : seconds_(seconds) {}

  bool is_there(int wait_ms = 0) {
    pollfd descriptor{signals_.descriptor(), POLLIN, 0};
    if (poll(&descriptor, 1, wait_ms) > 0)
      while (const std::optional<ReceivedSignal> signal = signals_.next())
        is_asked_for_ = is_asked_for_ || signal->number != SIGCHLD;
    return is_asked_for_ || (seconds_ != 0 && seconds_since(began_) >= seconds_);
  }

 private:
  const double seconds_;
  const timespec began_ = now();
  SignalWatch signals_;
  bool is_asked_for_ = false;
};

void fetch_until_over(RecordingRun& run, const RecordedProcess& recorded, RecordingProgress& progress) {
  End end(recorded.seconds);
  for (int wait_ms = 0; !end.is_there(wait_ms) && !run.has_ended();
       progress.show(run.event_count(), run.written_bytes()))
    wait_ms = run.fetch([&] { return end.is_there(); });
}

}  // namespace

void RecordingProgress::show(std::uint64_t calls, std::uint64_t written_bytes) {
  if (is_quiet_) return;
  progress_.begin_run(fmt::format("recording: {} calls, {} written", format_count(calls),
                                  format_bytes(static_cast<double>(written_bytes))));
}

void tell_complaints(const RecordingRun& run) {
  for (const std::string& line : run.complaints()) fmt::print(stderr, "tarn: {}\n", line);
}

std::unique_ptr<RecordingRun> record_process(const RecordedProcess& recorded) {
  open_output(recorded.file);
  const std::unique_ptr<observer::Source> source = open_target_to_switch(recorded.target);
  if (source->kind() != observer::SourceKind::kProcess)
    throw UsageError("a dump makes no calls: name a running program");
  auto run = std::make_unique<RecordingRun>(recorded.file,
                                            program_of(observer::running_process(*source).directory_path()),
                                            command_of(observer::running_process(*source).directory_path()));
  run->begin(*source, RecordingRun::Begins::kNow);
  RecordingProgress progress(recorded.is_quiet);
  fetch_until_over(*run, recorded, progress);
  run->end();  // a second signal ends this tool meanwhile
  progress.clear();
  tell_complaints(*run);
  return run;
}

}  // namespace tarn::tool
