// Traces of real programs as rows beside those of the benchmark programs: tarn_replay makes the calls of a
// trace again, in a fresh process for each allocator, trace and round (docs/look/replay.md).
//
// traces         on as many threads as were recorded: the time of a call, and the memory beside it
// traces_memory  on one thread, in one order, at fixed addresses: the same memory each time
//
// A trace that cannot be read is told, and the others are used.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "bench/rows/bench_program.h"
#include "engine/contenders/session.h"

namespace tarn::tool {

inline constexpr const char* kTraceGroups[] = {"traces", "traces_memory"};

class ScriptFile;
struct PreparedTrace;

struct DamagedTrace {
  std::string name;
  std::string why;
};

class BenchTraces {
 public:
  /// \param folder empty: the one beside the tool. \throws UsageError if it is named and there is none
  BenchTraces(std::string folder, Session& session);
  ~BenchTraces();

  /// Reads all traces of the folder, and puts down what tarn_replay needs of them, 16 bytes for each call,
  /// for as long as this exists. \cost about a second for 5 million calls. \throws Interrupted, UsageError
  void read(const BenchShape& shape);

  /// Who replays them.
  const BenchOffer& offer() const { return offer_; }
  const std::vector<BenchRow>& rows() const { return rows_; }
  const std::vector<DamagedTrace>& damaged() const { return damaged_; }
  /// What each trace holds, for the result.
  const Json& description() const { return description_; }
  /// A line that says why there are no rows and how to come by some; empty if there are, or if nobody asked.
  std::string absence() const;
  bool is_folder_named() const { return is_folder_named_; }

 private:
  void take(const std::string& file, const BenchShape& shape);
  /// \returns the path of its script, which stays as long as this object
  std::string keep_script(PreparedTrace& prepared);

  const bool is_folder_named_;
  const std::string folder_;
  Session& session_;
  std::vector<std::unique_ptr<ScriptFile>> scripts_;
  bool is_read_ = false;
  BenchOffer offer_;
  std::vector<BenchRow> rows_;
  std::vector<DamagedTrace> damaged_;
  Json description_ = Json::array();
};

/// What tarn_replay wrote, in the lines of a benchmark program: which malloc it had, and the figures of the
/// row. Nothing if it wrote something else. \pre the row is a trace's
std::vector<Json> lines_of_replay(const BenchRow& row, const std::string& output);

}  // namespace tarn::tool
