// The benchmark programs (bench/program/main.cc) as the tool sees them: where they are, what they can run,
// and the lines they answer with.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "system/processes/signals.h"
#include "system/runs/runner.h"

namespace tarn::tool {

using Json = nlohmann::ordered_json;

/// The axes and the extent of a run: what the programs are told besides which rows.
struct BenchShape {
  std::vector<unsigned> threads;   // empty: the workloads' own
  std::vector<std::size_t> sizes;  // the same
  double scale = 1;
  bool is_quick = false;
  bool is_pinned = false;

  /// As options of a program.
  std::vector<std::string> arguments() const;
};

/// What a program says of a contestant of its own.
struct BenchOffer {
  std::string program;
  std::string contestant;
  std::string kind;  // "malloc", "tarn-inline", "inline", "tarn-pool", "pool"
  std::string library;
  bool is_synchronised = true;  // several threads may use it at once
};

struct BenchRow {
  std::string group;
  std::string name;
  std::string series;
  std::size_t bytes = 0;
  unsigned threads = 1;
  bool is_cold = false;
  std::string metric;  // the figure that is compared
  // Of a recorded program (trace_rows.h); of the benchmark programs' own rows none.
  std::vector<std::string> replay = {};  // the arguments of tarn_replay
  std::uint64_t calls = 0;
};

/// \throws an exception of the JSON library for what is not there
BenchRow row_from(const std::string& group, const Json& json);

/// Whether the row has a process of its own.
inline bool is_alone(const BenchRow& row) { return row.is_cold || !row.replay.empty(); }

/// The paths of the programs: in $TARN_BENCH_PROGRAMS, else beside the tool, else where they are installed.
/// \throws UsageError if they are nowhere
std::vector<std::string> find_bench_programs();

/// All contestants of a program. \throws std::runtime_error if the program does not answer, Interrupted
std::vector<BenchOffer> offers_of(const std::string& program, SignalWatch& signals);

/// The rows a contestant has at a shape. \throws as offers_of()
std::vector<BenchRow> rows_of(const BenchOffer& offer, const BenchShape& shape, SignalWatch& signals);

/// The lines of an output that are whole JSON objects.
std::vector<Json> json_lines(const std::string& output);

}  // namespace tarn::tool
