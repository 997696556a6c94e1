// Measurements as JSON: raw runs, their summaries, and the machine. The pieces serve every command that
// measures: compare_results() puts a comparison together, bench/bench_document.h a list of them.
// docs/command.md describes the fields.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/comparison.h"
#include "engine/statistics.h"
#include "system/machine.h"
#include "system/measurement.h"

namespace tarn::tool {

using Json = nlohmann::ordered_json;

Json to_json(const Measurement& run);
Json to_json(const Summary& summary);
Json to_json(const Machine& machine);
Json to_json(const Failure& failure);
/// A contender's summary beside the best one of all contenders, and the system allocator's (count 0: it has
/// none).
Json compared_to_json(const Summary& own, const Summary& best, const Summary& of_system);

/// What every result file begins with: which command made it, with which version, where and when.
Json result_header(const std::string& command_name);

/// Text of a JSON value; bytes that are not UTF-8 are replaced.
std::string text_of(const Json& json);

/// One metric of all runs of a contender.
Summary summary_of(const Contender& contender, const Metric& metric);

/// The best median of a metric among the contenders that may be compared; count 0 if there are none.
Summary best_of(const Comparison& comparison, const Metric& metric);

Json compare_results(const ComparisonPlan& plan, const Comparison& comparison);

}  // namespace tarn::tool
