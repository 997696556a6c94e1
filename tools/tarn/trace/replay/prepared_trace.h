// A trace made ready for replays: read, put into one order, checked against the machine.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "commands/commands.h"
#include "observer/files/descriptor.h"
#include "trace/replay/replay_report.h"
#include "trace/script.h"
#include "trace/trace_file.h"

namespace tarn::tool {

/// A script in a file without a name, which goes when nobody has it open: also when the tool is killed.
class ScriptFile {
 public:
  /// In $TMPDIR, /var/tmp or /tmp. \throws std::system_error
  ScriptFile();

  int descriptor() const { return descriptor_.get(); }
  /// What a process of this user opens.
  std::string path() const;

 private:
  observer::Descriptor descriptor_;
};

struct PreparedTrace {
  std::unique_ptr<ScriptFile> script;                 // that the replaying program maps
  ReplayedTrace trace;                                // what a reader is told of it
  std::map<std::uint64_t, std::uint64_t> live_sizes;  // at the peak
};

/// Which part of a file is replayed, and how.
struct AskedTrace {
  std::string file;
  bool is_partial = false;
  trace::Threads threads = trace::Threads::kAsRecorded;
  trace::Window window;
};

/// --from and --until.
void add_window_options(CLI::App& command, trace::Window& window);

/// \throws UsageError, std::runtime_error: one line that says what is wrong with the trace
PreparedTrace prepare_trace(const AskedTrace& asked);

}  // namespace tarn::tool
