#include "trace/record/recording_run.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <sstream>

#include "observer/files/kernel_text.h"
#include "observer/leaks/roots.h"
#include "observer/process/attached_process.h"
#include "observer/process/residency.h"
#include "observer/snapshot/snapshot.h"
#include "observer/text/printable.h"
#include "system/figures/clock.h"
#include "system/figures/format.h"
#include "system/files/output_files.h"

namespace tarn::tool {
namespace {

std::uint64_t status_bytes(const observer::Source& source, std::string_view label) {
  return observer::bytes_of(observer::read_kernel_text(observer::kernel_file(source, "status")).value_or(""),
                            label);
}

constexpr double kMostSecondsAtEnds = 0.7;
constexpr int kFetchMs = 4, kFetchBeforeBeginMs = 1;

/// What is over soon.
std::function<bool()> for_moments() {
  return [began = now()] { return seconds_since(began) > kMostSecondsAtEnds; };
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

void PeakOfAnonymous::look() { peak_bytes_ = std::max(peak_bytes_, status_bytes(source_, "RssAnon:")); }

std::uint64_t peak_rss_bytes(const observer::Source& source) { return status_bytes(source, "VmHWM:"); }

std::uint64_t other_anonymous_bytes(const observer::Source& source) {
  const std::uint64_t all = status_bytes(source, "RssAnon:");
  const std::optional<observer::Residency> residency = observer::read_residency(source);
  if (!residency) return 0;
  std::uint64_t of_allocator = 0;
  for (const observer::AddressRange& range : observer::heap_ranges(observer::read_snapshot(source)))
    of_allocator += residency->bytes_in(range.start, range.end);
  return all > of_allocator ? all - of_allocator : 0;
}

bool Recorder::skip_old(const std::function<bool()>& is_over) {
  for (const observer::CallRingState& ring : words_.rings(is_over)) {
    if (is_over()) return false;
    if (ring.fetched != ring.written) words_.note_fetched(ring, ring.written);
    threads_.insert(
        {ring.record, {.number = static_cast<std::uint32_t>(threads_.size()), .lost_seen = ring.lost}});
  }
  unseen_before_ = words_.unseen_calls();
  return true;
}

Recorder::Fetched Recorder::fetch(const std::function<bool()>& is_over) {
  Fetched fetched = Fetched::kLittle;
  for (const observer::CallRingState& ring : words_.rings(is_over)) {
    if (is_over()) return Fetched::kCut;
    if (fetch_ring(ring)) fetched = Fetched::kMuch;
  }
  unseen_calls_ = words_.unseen_calls() - unseen_before_;
  return fetched;
}

// \returns whether the ring was half full.
bool Recorder::fetch_ring(const observer::CallRingState& ring) {
  if (ring.written == 0 && ring.lost == 0) return false;
  Thread& thread =
      threads_.try_emplace(ring.record, Thread{.number = static_cast<std::uint32_t>(threads_.size())})
          .first->second;
  if (!words_.read(ring, words_.room(), events_)) return false;
  const std::uint64_t newest_order = words_.order();
  if (!events_.empty()) {
    words_.note_fetched(ring, ring.fetched + events_.size());
    append(thread, newest_order);
  }
  if (ring.lost > thread.lost_seen) {
    const trace::Event lost = trace::packed({.operation = trace::Operation::kLost,
                                             .size = ring.lost - thread.lost_seen,
                                             .order = thread.last_order});
    writer_.append(thread.number, thread.last_order, {&lost, 1});
    lost_events_ += ring.lost - thread.lost_seen;
    thread.lost_seen = ring.lost;
  }
  return events_.size() > words_.room() / 2;
}

void Recorder::append(Thread& thread, std::uint64_t newest_order) {
  std::uint64_t first = newest_order - ((newest_order - events_.front().low_order()) & trace::kOrderMask);
  first = std::max(first, thread.last_order);
  writer_.append(thread.number, first, events_);
  std::uint64_t last = first;
  for (std::size_t i = 1; i < events_.size(); ++i)
    last += (events_[i].low_order() - events_[i - 1].low_order()) & trace::kOrderMask;
  thread.last_order = last;
}

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
  if (has_ended_ || was_seen_to_end_ || !recorder_) return kFetchMs;
  try {
    const bool is_more_there = recorder_->fetch(is_over) != Recorder::Fetched::kLittle;
    peak_->look();
    const bool is_on = words_->state() == observer::RecordingState::kOn;
    if (was_on_ && !is_on)
      complain(words_->can_be_read()
                   ? "the program ended its recording, since its calls were not fetched for seconds"
                   : "the process ended: calls of its last moments are missing");
    was_on_ = was_on_ || is_on;
    return is_more_there ? 0 : kFetchMs;
  } catch (const observer::ObserveError&) {
    complain("the process ended: calls of its last moments are missing");
  } catch (const std::runtime_error& error) {  // of the file, or no more may be written
    complain(error.what());
    stop_recording();
  }
  return kFetchMs;
}

int RecordingRun::fetch_of(int pid, const std::function<bool()>& is_over) {
  if (!recorder_ && !has_ended_ && !was_seen_to_end_) {
    try {
      own_source_ = observer::open_started_process(pid, observer::Access::kWrite);
      begin(*own_source_, Begins::kWithProgram);
    } catch (const observer::ObserveError& error) {
      why_not_begun_ = error.what();
      return kFetchBeforeBeginMs;
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
