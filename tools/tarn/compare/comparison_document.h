// Comparisons as figures, and as JSON; docs/command.md says what the names of its members do not.
#pragma once
#include <optional>
#include <vector>

#include "engine/rounds/comparison.h"
#include "report/results.h"

namespace tarn::tool {

inline Figures figures_of(const Comparison& comparison) {
  return figures_of(comparison.contenders, metrics_of(comparison.workload));
}

/// A program, and the figure of it that a table shows: where that is in a run is each program's own.
struct ProgramFigure {
  const Comparison* program;
  Figure figure;

  const std::string& name() const { return program->workload.name; }
};
using SuiteTable = std::vector<ProgramFigure>;

/// A table for each figure that the small programs have, or the others, in the order in which they come up.
std::vector<SuiteTable> suite_tables(const ComparisonResults& results, bool is_small);

/// Among the contenders, whether it failed or not.
std::optional<std::size_t> place_of_tarn(const SuiteTable& rows);

const char* name_of(OutputVerdict verdict);

/// One program alone is the document's own; several stand in its list "programs".
Json comparison_json(const ComparisonPlan& plan, const ComparisonResults& results);

}  // namespace tarn::tool
