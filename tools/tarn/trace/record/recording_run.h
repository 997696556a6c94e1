// The recording of one program into one file, from its begin to the end of the file. What goes wrong is kept
// as a line: the file is then whole up to there, and the program is left as it was.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "observer/process/source.h"
#include "observer/watch/recording.h"
#include "observer/watch/watch_beat.h"
#include "trace/trace_writer.h"

namespace tarn::tool {

/// Fetches the calls that a program puts down, and writes them to a trace.
///
/// Each heap of the program is a thread of the trace: threads that follow each other in one heap are told as
/// one. Order numbers, of which an event has the low bits, are made whole here: no event is later than the
/// number that all threads share was when it was fetched.
class Recorder {
 public:
  Recorder(const observer::RecordingWords& words, trace::TraceWriter& writer)
      : words_(words), writer_(writer) {}

  /// Takes what rings hold of a recording before for fetched. \pre nothing is recorded yet. \returns whether
  /// that was done before is_over().
  bool skip_old(const std::function<bool()>& is_over);

  enum class Fetched : std::uint8_t { kLittle, kMuch, kCut };
  /// Asks is_over() before each ring: a hostile program has any number of them, which are always full.
  /// \returns kMuch when a ring was so full that its thread may have waited, kCut when it was over before all
  /// rings were read. \throws observer::ObserveError
  /// when the process has ended, trace::TraceError when the file cannot be written.
  Fetched fetch(const std::function<bool()>& is_over);

  std::uint64_t lost_events() const { return lost_events_ + unseen_calls_; }

 private:
  struct Thread {
    std::uint32_t number = 0;
    std::uint64_t lost_seen = 0;
    std::uint64_t last_order = 0;
  };

  bool fetch_ring(const observer::CallRingState& ring);
  void append(Thread& thread, std::uint64_t newest_order);

  const observer::RecordingWords& words_;
  trace::TraceWriter& writer_;
  std::unordered_map<observer::Address, Thread> threads_;
  std::vector<trace::Event> events_;
  std::uint64_t lost_events_ = 0, unseen_calls_ = 0, unseen_before_ = 0;
};

// What memory a recorded program has, for the end of its trace.

/// The largest anonymous memory that was seen.
class PeakOfAnonymous {
 public:
  explicit PeakOfAnonymous(const observer::Source& source) : source_(source) {}
  /// \cost some 20 us.
  void look();
  std::uint64_t bytes() const { return peak_bytes_; }

 private:
  const observer::Source& source_;
  std::uint64_t peak_bytes_ = 0;
};

/// \returns the most that was resident ever, as the kernel counted it; 0: unknown.
std::uint64_t peak_rss_bytes(const observer::Source& source);

/// \returns the resident anonymous memory that is neither the heap's nor the library's records: stacks, data
/// of programs, what they mapped themselves, rings of recorded calls; 0 where the kernel does not tell.
std::uint64_t other_anonymous_bytes(const observer::Source& source);

class RecordingRun {
 public:
  /// Makes the file. \throws trace::TraceError
  RecordingRun(const std::string& file, const std::string& program, const std::vector<std::string>& command);
  ~RecordingRun();
  RecordingRun(const RecordingRun&) = delete;
  RecordingRun& operator=(const RecordingRun&) = delete;

  enum class Begins : std::uint8_t { kNow, kWithProgram };  // kWithProgram: its environment says so
  /// \throws observer::ObserveError when it cannot be recorded.
  void begin(const observer::Source& source, Begins begins);
  /// Fetches what there is, until is_over(). \returns in how many milliseconds to come again
  int fetch(const std::function<bool()>& is_over = [] { return false; });
  /// The same of a program that was just started: its library may not be there yet.
  int fetch_of(
      int pid, const std::function<bool()>& is_over = [] { return false; });
  /// The same for the last time, of a program that has been stopped at its end.
  void end_of(const observer::Source& source);
  /// The process has executed another program: what it had not fetched is gone.
  void end_by_exec() { was_seen_to_end_ = true; }
  /// Lets the program record no more, fetches for some moments what is left, and ends the file.
  void end();

  bool has_begun() const { return recorder_.has_value(); }
  bool has_ended() const { return has_ended_; }
  bool is_complete() const { return complaints_.empty(); }
  const std::vector<std::string>& complaints() const { return complaints_; }
  std::uint64_t event_count() const { return writer_.event_count(); }
  std::uint64_t written_bytes() const { return writer_.written_bytes(); }

 private:
  void complain(const std::string& line);
  void fetch_the_rest();
  void look_at_memory(const observer::Source& source);
  void stop_recording();

  trace::TraceWriter writer_;
  std::unique_ptr<observer::Source> own_source_;
  const observer::Source* source_ = nullptr;
  std::unique_ptr<observer::RecordingWords> words_;
  std::unique_ptr<observer::WatchBeat> beat_;
  std::optional<Recorder> recorder_;
  std::optional<PeakOfAnonymous> peak_;
  trace::Summary summary_;
  std::vector<std::string> complaints_;
  std::string why_not_begun_;
  bool was_on_ = false, has_ended_ = false, was_seen_to_end_ = false, is_finished_ = false;
};

/// The path of a process's program, and the words it was started with. \param directory its one in /proc
std::string program_of(const std::string& directory);
std::vector<std::string> command_of(const std::string& directory);

}  // namespace tarn::tool
