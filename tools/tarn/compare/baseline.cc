// Standings then and now.
#include "compare/baseline.h"

#include <fmt/format.h>

#include <algorithm>

#include "system/usage_error.h"

namespace tarn::tool {
namespace {

/// The programs of a result by name; a single one has none.
std::vector<std::pair<std::string, const Json*>> programs_in(const Json& results) {
  std::vector<std::pair<std::string, const Json*>> programs;
  if (!results.contains("programs")) return {{"", &results}};
  for (const Json& program : results.at("programs")) programs.emplace_back(program.at("name"), &program);
  return programs;
}

const Json* allocator_in(const Json& program, const std::string& name) {
  for (const Json& allocator : program.at("allocators"))
    if (allocator.at("name") == name && !allocator.at("summary").is_null()) return &allocator;
  return nullptr;
}

/// Beside the system's allocator, or beside the best where that has no figures.
double standing_of(const Json& summary) {
  const Json& beside_system = summary.at("ratio_to_system");
  return beside_system.is_null() ? summary.at("ratio_to_best").get<double>() : beside_system.get<double>();
}

double noise_percent(const Json& then, const Json& now) {
  return then.value("spread_percent", 0.0) + now.value("spread_percent", 0.0);
}

/// \returns a line if the figure is worse
std::string complaint_of(const std::string& who, const std::string& key, const Json& then, const Json& now,
                         double tolerance_percent) {
  const double before = standing_of(then), after = standing_of(now);
  if (before <= 0) return {};
  const bool is_more_better = now.value("more_is_better", false);
  const double worse_percent = 100 * (is_more_better ? before / after - 1 : after / before - 1);
  const double allowed = tolerance_percent + noise_percent(then, now);
  if (worse_percent <= allowed) return {};
  return fmt::format("{}, {}: {:.2f} times glibc's, {:.2f} in the baseline: {:.1f} % worse, {:.1f} % allowed",
                     who, key, after, before, worse_percent, allowed);
}

void add_complaints(const std::string& who, const Json& then, const Json& now, double tolerance_percent,
                    std::vector<std::string>& complaints) {
  for (const auto& [key, summary] : now.at("summary").items()) {
    const auto earlier = then.at("summary").find(key);
    if (earlier == then.at("summary").end()) continue;
    if (std::string line = complaint_of(who, key, *earlier, summary, tolerance_percent); !line.empty())
      complaints.push_back(std::move(line));
  }
}

bool is_ours(const Json& allocator, const Json& program) {
  const Json* const tarn = allocator_in(program, kTarnName);
  return tarn != nullptr && allocator.at("library") == tarn->at("library");
}

void compare_program(const std::string& name, const Json& then, const Json& now, double tolerance_percent,
                     std::vector<std::string>& complaints) {
  for (const Json& allocator : then.at("allocators")) {
    if (!is_ours(allocator, then) || allocator.at("summary").is_null()) continue;
    const std::string own = allocator.at("name");
    const std::string who = name.empty() ? own : name + " on " + own;
    if (const Json* const current = allocator_in(now, own); current != nullptr)
      add_complaints(who, allocator, *current, tolerance_percent, complaints);
    else
      complaints.push_back(fmt::format("{}: has no figures, in the baseline it has", who));
  }
}

}  // namespace

std::vector<std::string> worse_than(const Json& baseline, const Json& results, double tolerance_percent) {
  std::vector<std::string> complaints;
  std::size_t shared = 0;
  try {
    for (const auto& [name, then] : programs_in(baseline))
      for (const auto& [own_name, now] : programs_in(results)) {
        if (name != own_name || then->at("command") != now->at("command")) continue;
        ++shared;
        compare_program(name, *then, *now, tolerance_percent, complaints);
      }
  } catch (const Json::exception&) {
    throw UsageError("--baseline: the file is not what tarn compare --json writes");
  }
  if (shared == 0) throw UsageError("--baseline: it has none of these programs");
  return complaints;
}

}  // namespace tarn::tool
