// Whether a program writes the same under every allocator: its standard output must be that of the system
// allocator's first run. Where the system's allocator itself writes something else another time, the program
// is not deterministic, and its output says nothing.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "engine/entry.h"
#include "engine/workload.h"
#include "system/runner.h"

namespace tarn::tool {

enum class OutputVerdict : std::uint8_t { kIdentical, kNotDeterministic, kNotCompared };

class OutputJudge {
 public:
  void add_system_run(const RunResult& run);
  void add(std::size_t contender, const RunResult& run, const std::string& when);

  /// Whether a second run of the system's allocator is needed: does it agree with itself?
  bool needs_system_run() const { return !differences_.empty() && system_runs_ == 1; }

  /// \post a contender whose output differs has a failure, if the program is deterministic
  OutputVerdict judge(Entries<ProgramRun>& entries);

 private:
  struct Difference {
    std::size_t contender;
    Failure failure;
  };

  std::optional<OutputDigest> reference_;
  std::size_t system_runs_ = 0;  // since the reference, which is the first
  bool is_deterministic_ = true;
  std::vector<Difference> differences_;
};

}  // namespace tarn::tool
