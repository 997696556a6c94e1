#include "trace/recorded_family.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "system/clock.h"
#include "system/output_files.h"

namespace tarn::tool {
namespace fs = std::filesystem;
namespace {

constexpr int kIdleMs = 100;
constexpr double kMostSeconds = 0.3;

}  // namespace

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
  const auto is_over = [began = now()] { return seconds_between(began, now()) > kMostSeconds; };
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
  return std::accumulate(ended_.begin(), ended_.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const RecordedProgram& one) { return sum + one.calls; }) +
         std::accumulate(running_.begin(), running_.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const Running& one) { return sum + one.run->event_count(); });
}

std::uint64_t RecordedFamily::written_bytes() const {
  return std::accumulate(ended_.begin(), ended_.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const RecordedProgram& one) { return sum + one.bytes; }) +
         std::accumulate(
             running_.begin(), running_.end(), std::uint64_t{0},
             [](std::uint64_t sum, const Running& one) { return sum + one.run->written_bytes(); });
}

}  // namespace tarn::tool
