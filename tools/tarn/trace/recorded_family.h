// The recording of a program and of all processes below it: a trace for each program that one of them runs.
//
// Which of them matters nobody knows before: a wrapper may execute the server, or start it and wait. So each
// has a file of its own; in the end the one with the most calls gets the name that was asked for, those
// without calls go, and what became of each is told.
#pragma once
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "profile/run_to_end.h"
#include "trace/recording_run.h"

namespace tarn::tool {

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

}  // namespace tarn::tool
