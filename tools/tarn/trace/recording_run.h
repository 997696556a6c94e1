// The recording of one program into one file, from its begin to the end of the file. What goes wrong is kept
// as a line: the file is then whole up to there, and the program is left as it was.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "observer/recording.h"
#include "observer/source.h"
#include "observer/watch_beat.h"
#include "trace/memory_of_run.h"
#include "trace/recorder.h"
#include "trace/trace_writer.h"

namespace tarn::tool {

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
