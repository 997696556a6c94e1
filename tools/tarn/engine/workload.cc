// Figures of programs.
#include "engine/workload.h"

namespace tarn::tool {

std::vector<Metric<ProgramRun>> metrics_of(const Workload&) {
  return {
      {"wall_seconds", "wall", Quantity::kSeconds, [](const ProgramRun& r) { return r.cost.wall_seconds; }},
      {"cpu_seconds", "CPU", Quantity::kSeconds, [](const ProgramRun& r) { return r.cost.cpu_seconds(); }},
      {"peak_rss_bytes", "peak RSS", Quantity::kBytes,
       [](const ProgramRun& r) { return static_cast<double>(r.cost.peak_rss_bytes); }},
      {"page_faults", "page faults", Quantity::kCount,
       [](const ProgramRun& r) { return static_cast<double>(r.cost.page_faults()); }}};
}

}  // namespace tarn::tool
