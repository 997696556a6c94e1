// Outputs beside the reference.
#include "engine/output_judge.h"

#include <fmt/format.h>

namespace tarn::tool {

void OutputJudge::add_system_run(const RunResult& run) {
  ++system_runs_;
  if (!reference_) reference_ = run.output;
  is_deterministic_ = is_deterministic_ && run.output == *reference_;
}

void OutputJudge::add(std::size_t contender, const RunResult& run, const std::string& when) {
  if (!reference_) return;
  const auto difference = run.output.first_difference(*reference_);
  if (!difference) return;
  const std::string what =
      fmt::format("standard output differs from {}'s {} byte {} ({} bytes instead of {})", kSystemName,
                  difference->is_exact ? "at" : "behind", difference->offset, run.output.byte_count(),
                  reference_->byte_count());
  differences_.push_back({contender, {what, when, run.errors.last_lines(2)}});
}

OutputVerdict OutputJudge::judge(Entries<ProgramRun>& entries) {
  if (!reference_) return OutputVerdict::kNotCompared;
  if (!is_deterministic_) return OutputVerdict::kNotDeterministic;
  for (Difference& found : differences_)
    if (Entry<ProgramRun>& entry = entries[found.contender]; !entry.failure)
      entry.failure = std::move(found.failure);
  return OutputVerdict::kIdentical;
}

}  // namespace tarn::tool
