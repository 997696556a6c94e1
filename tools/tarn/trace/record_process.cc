#include "trace/record_process.h"

#include <fmt/format.h>
#include <poll.h>

#include <chrono>
#include <csignal>
#include <optional>

#include "system/format.h"
#include "system/signals.h"
#include "system/usage_error.h"

namespace tarn::tool {
namespace {

bool is_over(SignalWatch& signals, int wait_ms) {
  pollfd descriptor{signals.descriptor(), POLLIN, 0};
  if (poll(&descriptor, 1, wait_ms) <= 0) return false;
  while (const std::optional<ReceivedSignal> signal = signals.next())
    if (signal->number != SIGCHLD) return true;
  return false;
}

void fetch_until_over(RecordingRun& run, const RecordedProcess& recorded) {
  SignalWatch signals;
  RecordingProgress progress(recorded.is_quiet);
  const auto began = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  };
  while (recorded.seconds == 0 || seconds() < recorded.seconds) {
    const int wait_ms = run.fetch();
    if (run.has_ended() || is_over(signals, wait_ms)) break;
    progress.show(run.event_count(), run.written_bytes());
  }
  run.end();
  progress.clear();
}

}  // namespace

void RecordingProgress::show(std::uint64_t calls, std::uint64_t written_bytes) {
  if (is_quiet_) return;
  progress_.show(fmt::format("recording: {} calls, {} written", format_count(calls),
                             format_bytes(static_cast<double>(written_bytes))));
}

void tell_complaints(const RecordingRun& run) {
  for (const std::string& line : run.complaints()) fmt::print(stderr, "tarn: {}\n", line);
}

std::unique_ptr<RecordingRun> record_process(const RecordedProcess& recorded) {
  const std::unique_ptr<observer::Source> source = open_target(recorded.target);
  if (source->kind() != observer::SourceKind::kProcess)
    throw UsageError("a dump makes no calls: name a running program");
  auto run =
      std::make_unique<RecordingRun>(recorded.file, program_of(source->pid()), command_of(source->pid()));
  run->begin(*source, RecordingRun::Begins::kNow);
  fetch_until_over(*run, recorded);
  tell_complaints(*run);
  return run;
}

}  // namespace tarn::tool
