// Figures of programs and servers.
#include "engine/rounds/workload.h"

#include <algorithm>
#include <numeric>

namespace tarn::tool {
namespace {

using ProgramMetric = Metric<ProgramRun>;

double peak_rss_bytes(const ProgramRun& run) { return static_cast<double>(run.cost.peak_rss_bytes); }

}  // namespace

double ProgramRun::mean_rss_bytes() const {
  const double sum = std::accumulate(
      memory.begin(), memory.end(), 0.0,
      [](double all, const MemorySample& one) { return all + static_cast<double>(one.bytes); });
  return memory.empty() ? 0 : sum / static_cast<double>(memory.size());
}

double ProgramRun::last_rss_bytes() const {
  return memory.empty() ? 0 : static_cast<double>(memory.back().bytes);
}

std::vector<ProgramMetric> metrics_of(const Workload& workload) {
  std::vector<ProgramMetric> metrics = {
      {"wall_seconds", workload.load ? "load's time" : "wall", Quantity::kSeconds,
       [](const ProgramRun& run) { return run.cost.wall_seconds; }},
      {"cpu_seconds", "CPU", Quantity::kSeconds,
       [](const ProgramRun& run) { return run.cost.cpu_seconds(); }},
      {"peak_rss_bytes", "peak RSS", Quantity::kBytes, peak_rss_bytes},
      {"page_faults", "page faults", Quantity::kCount,
       [](const ProgramRun& run) { return static_cast<double>(run.cost.page_faults()); }}};
  if (workload.load) {
    metrics.push_back({"mean_rss_bytes", "mean RSS", Quantity::kBytes,
                       [](const ProgramRun& run) { return run.mean_rss_bytes(); }});
    metrics.push_back({"idle_rss_bytes", "idle RSS", Quantity::kBytes,
                       [](const ProgramRun& run) { return run.last_rss_bytes(); }});
  }
  for (std::size_t i = 0; i < workload.figures.size(); ++i) {
    const PrintedFigure& figure = workload.figures[i];
    metrics.push_back({figure.metric.name, figure.metric.name, figure.quantity,
                       [i](const ProgramRun& run) { return run.printed.at(i); },
                       figure.metric.is_more_better ? Better::kMore : Better::kLess});
  }
  std::erase_if(metrics, [&](const ProgramMetric& metric) {
    return std::find(workload.left_out.begin(), workload.left_out.end(), metric.key) !=
           workload.left_out.end();
  });
  return metrics;
}

}  // namespace tarn::tool
