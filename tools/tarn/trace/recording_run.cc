#include "trace/recording_run.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <filesystem>
#include <sstream>

#include "observer/attached_process.h"
#include "observer/kernel_text.h"
#include "observer/printable.h"
#include "system/clock.h"
#include "system/format.h"
#include "system/output_files.h"

namespace tarn::tool {
namespace {

constexpr double kMostSecondsAtEnds = 0.7;
constexpr int kTickMs = 4, kTickBeforeBeginMs = 1;

/// What is over soon.
std::function<bool()> for_moments() {
  return [began = now()] { return seconds_between(began, now()) > kMostSecondsAtEnds; };
}

trace::Description description_of(const std::string& program, const std::vector<std::string>& command) {
  trace::Description description;
  description.program = observer::printable(program);
  for (const std::string& word : command) description.command.push_back(observer::printable(word));
  description.start_time = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  description.allocator = "tarn";
  return description;
}

}  // namespace

RecordingRun::RecordingRun(const std::string& file, const std::string& program,
                           const std::vector<std::string>& command)
    : writer_(file, take_output(file), description_of(program, command), spend_output) {}

RecordingRun::~RecordingRun() {
  if (!is_finished_) stop_recording();
}

void RecordingRun::complain(const std::string& line) {
  if (!has_ended_) complaints_.push_back(line);
  has_ended_ = true;
}

void RecordingRun::begin(const observer::Source& source, Begins begins) {
  auto words = std::make_unique<observer::RecordingWords>(source);
  if (begins == Begins::kNow && words->state() != observer::RecordingState::kOff)
    throw observer::ObserveError(fmt::format("{} is being recorded already", source.program()));
  source_ = &source;
  words_ = std::move(words);
  recorder_.emplace(*words_, writer_);
  peak_.emplace(source);
  beat_ = std::make_unique<observer::WatchBeat>(words_->lease());
  if (begins == Begins::kWithProgram) return;
  if (!recorder_->skip_old(for_moments()))
    throw observer::ObserveError("it has more rings of calls than threads can have made");
  words_->set(observer::RecordingState::kOn);
}

int RecordingRun::fetch(const std::function<bool()>& is_over) {
  if (has_ended_ || was_seen_to_end_ || !recorder_) return kTickMs;
  try {
    const bool is_more_there = recorder_->fetch(is_over) != Recorder::Fetched::kLittle;
    peak_->look();
    const bool is_on = words_->state() == observer::RecordingState::kOn;
    if (was_on_ && !is_on)
      complain(words_->can_be_read()
                   ? "the program ended its recording, since its calls were not fetched for seconds"
                   : "the process ended: calls of its last moments are missing");
    was_on_ = was_on_ || is_on;
    return is_more_there ? 0 : kTickMs;
  } catch (const observer::ObserveError&) {
    complain("the process ended: calls of its last moments are missing");
  } catch (const std::runtime_error& error) {  // of the file, or no more may be written
    complain(error.what());
    stop_recording();
  }
  return kTickMs;
}

int RecordingRun::fetch_of(int pid, const std::function<bool()>& is_over) {
  if (!recorder_ && !has_ended_ && !was_seen_to_end_) {
    try {
      own_source_ = observer::open_started_process(pid, observer::Access::kWrite);
      begin(*own_source_, Begins::kWithProgram);
    } catch (const observer::ObserveError& error) {
      why_not_begun_ = error.what();
      return kTickBeforeBeginMs;
    }
  }
  return fetch(is_over);
}

void RecordingRun::end_of(const observer::Source& source) {
  if (!recorder_) fetch_of(source.pid());
  was_seen_to_end_ = true;
  fetch_the_rest();
  look_at_memory(source);
}

void RecordingRun::fetch_the_rest() {
  if (!recorder_ || has_ended_) return;
  try {
    if (recorder_->fetch(for_moments()) == Recorder::Fetched::kCut)
      complain("more calls waited at the end than can be written in moments: those are missing");
  } catch (const std::exception& error) {
    complain(error.what());
  }
}

void RecordingRun::look_at_memory(const observer::Source& source) {
  if (!peak_) return;
  peak_->look();
  summary_.peak_anonymous_bytes = peak_->bytes();
  summary_.peak_rss_bytes = peak_rss_bytes(source);
  try {
    summary_.other_bytes = other_anonymous_bytes(source);
  } catch (const observer::ObserveError&) {
    // It has ended meanwhile: the figure stays unknown.
  }
}

void RecordingRun::stop_recording() {
  if (!words_) return;
  try {
    words_->set(observer::RecordingState::kOff);
  } catch (const observer::ObserveError&) {
    // The process has ended, and its rings with it.
  }
  beat_.reset();
}

void RecordingRun::end() {
  if (!recorder_) complain(fmt::format("nothing was recorded: {}", why_not_begun_));
  if (!was_seen_to_end_ && !has_ended_) {
    try {
      words_->set(observer::RecordingState::kEnding);
    } catch (const observer::ObserveError&) {
      complain("the process ended: calls of its last moments are missing");
    }
    fetch_the_rest();
    // \why not of a recording that ends early: it may be forged, and a look at its memory takes long then
    if (own_source_ == nullptr && is_complete()) look_at_memory(*source_);
    stop_recording();
  }
  beat_.reset();  // also where the process has ended: the owner of its source may go now
  if (recorder_) summary_.lost_events = recorder_->lost_events();
  if (summary_.lost_events != 0)
    complaints_.push_back(fmt::format("{} calls could not be recorded", format_count(summary_.lost_events)));
  if (recorder_ && is_complete() && event_count() == 0)
    complain(was_on_ ? "the program made no call meanwhile"
                     : "the program did not begin to record: it has the option check, count_calls or "
                       "pools_use_malloc, or ended before its first call");
  is_finished_ = true;
  try {
    writer_.finish(summary_);
  } catch (const trace::TraceError& error) {
    complain(error.what());
  }
}

std::string program_of(const std::string& directory) {
  std::error_code error;
  return std::filesystem::read_symlink(directory + "/exe", error).string();
}

std::vector<std::string> command_of(const std::string& directory) {
  std::istringstream file(observer::read_kernel_text(directory + "/cmdline").value_or(""));
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

}  // namespace tarn::tool
