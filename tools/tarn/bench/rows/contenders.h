// Who takes part: every general allocator as it is preloaded, tarn preloaded and inlined, its pools, and the
// pools of other libraries, each with the rows it can run.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "bench/rows/bench_program.h"
#include "bench/rows/trace_rows.h"
#include "engine/contenders/allocators.h"

namespace tarn::tool {

enum class ContenderKind : std::uint8_t {
  kTarn,        // libtarn.so preloaded
  kTarnInline,  // its calls inlined
  kTarnPool,
  kTarnPreset,  // libtarn.so preloaded with another table of size classes, where the table is what is
                // measured
  kSystem,      // glibc
  kGeneral,     // another malloc, preloaded
  kInline,      // another malloc, linked in
  kPool,        // of another library
};

const char* name_of(ContenderKind kind);
/// \throws std::out_of_range for what is no name
ContenderKind kind_of(const std::string& name);
/// \pre the order of the kinds: tarn's own come first
inline bool is_ours(ContenderKind kind) { return kind <= ContenderKind::kTarnPreset; }

struct BenchContender {
  std::string name;
  ContenderKind kind = ContenderKind::kPool;
  bool is_synchronised = true;                                     // several threads may use it at once
  std::string version;                                             // of what it is
  std::string library;                                             // preloaded; empty: nothing is
  std::vector<std::pair<std::string, std::string>> settings = {};  // of its environment
  /// How each group is run: by which program, as which contestant, with which rows.
  struct Part {
    BenchOffer offer;
    std::vector<BenchRow> rows;
  };
  std::map<std::string, Part> groups = {};
};

struct BenchSelection {
  Selection names;                // as in `tarn compare`; a pool by its name or its library's
  std::vector<std::string> only;  // beginnings of groups; empty: all
  bool with_warm = true;
  bool with_cold = true;
  bool with_waiting = true;  // groups whose rows wait for seconds, where `only` does not name them
};

/// All that take part with at least one row, tarn's own first, then glibc, then the others. Traces are read
/// if their rows are asked for. \throws UsageError for what is unknown, not there, or leaves nothing to run
std::vector<BenchContender> select_contenders(const BenchSelection& selection, const BenchShape& shape,
                                              BenchTraces& traces, SignalWatch& signals);

/// The groups of the contenders in the order they are run and told.
std::vector<std::string> groups_of(const std::vector<BenchContender>& contenders);

}  // namespace tarn::tool
