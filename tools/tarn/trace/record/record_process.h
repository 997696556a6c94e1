// Records a running program until the time is over, it ends, or Ctrl-C; and what is told of a recording while
// it runs and when it is over.
#pragma once
#include <string>

#include "look/processes/target.h"
#include "system/terminal/progress.h"
#include "trace/record/recording_run.h"

namespace tarn::tool {

/// Shows how far a recording is.
class RecordingProgress {
 public:
  explicit RecordingProgress(bool is_quiet) : is_quiet_(is_quiet) {}
  void show(std::uint64_t calls, std::uint64_t written_bytes);
  void clear() { progress_.clear(); }

 private:
  const bool is_quiet_;
  Progress progress_{ProgressStyle::kLateLine};
};

/// Prints what went wrong, on standard error.
void tell_complaints(const RecordingRun& run);

struct RecordedProcess {
  Target target;
  std::string file;    // of the trace
  double seconds = 0;  // 0: until it ends, or Ctrl-C
  bool is_quiet = false;
};

/// Prints complaints. \returns the run, which has ended. \throws UsageError, observer::ObserveError,
/// trace::TraceError when nothing could be recorded
std::unique_ptr<RecordingRun> record_process(const RecordedProcess& recorded);

}  // namespace tarn::tool
