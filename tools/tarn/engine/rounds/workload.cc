// Figures of programs and servers.
#include "engine/rounds/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <numeric>

#include "system/files/usage_error.h"

namespace tarn::tool {
namespace {

using ProgramMetric = Metric<ProgramRun>;

double peak_rss_bytes(const ProgramRun& run) { return static_cast<double>(run.cost.peak_rss_bytes); }

// -- Figures that a load tells ---------------------------------------------------------------------------

/// \why lines longer than that are cut: std::regex calls itself for each character that it matches
constexpr std::size_t kMostLineBytes = 4096;

struct MetricUnit {
  std::string_view name;
  double size;
  Quantity quantity;
};

constexpr MetricUnit kUnits[] = {
    {"us", 1e-6, Quantity::kSeconds},      {"\u00b5s", 1e-6, Quantity::kSeconds},  // the micro sign
    {"\u03bcs", 1e-6, Quantity::kSeconds}, {"ms", 1e-3, Quantity::kSeconds},       // and the Greek letter
    {"s", 1, Quantity::kSeconds},          {"KiB", 0x1p10, Quantity::kBytes},
    {"MiB", 0x1p20, Quantity::kBytes},     {"GiB", 0x1p30, Quantity::kBytes},
    {"k", 1e3, Quantity::kCount},          {"M", 1e6, Quantity::kCount},
};

bool is_part_of_word(char character) {
  return std::isalnum(static_cast<unsigned char>(character)) != 0 || (character & 0x80) != 0;
}

/// The unit that a text starts with, if no other word does.
const MetricUnit* unit_at(std::string_view text) {
  for (const MetricUnit& unit : kUnits)
    if (text.starts_with(unit.name) &&
        (text.size() == unit.name.size() || !is_part_of_word(text[unit.name.size()])))
      return &unit;
  return nullptr;
}

/// `group` is what the group has matched, `rest` the line from there on.
std::optional<LoadValue> read_value(std::string_view group, std::string_view rest) {
  double number = 0;
  const auto [end, error] = std::from_chars(group.data(), group.data() + group.size(), number);
  if (error != std::errc()) return std::nullopt;
  const auto number_length = static_cast<std::size_t>(end - group.data());
  const MetricUnit* unit = unit_at(rest.substr(number_length));
  if (unit != nullptr) return LoadValue{number * unit->size, unit->quantity};
  if (number_length != group.size()) return std::nullopt;
  return LoadValue{number, Quantity::kCount};
}

std::optional<LoadValue> value_in_line(std::string_view line, const std::regex& pattern) {
  std::cmatch match;
  if (!std::regex_search(line.data(), line.data() + line.size(), match, pattern) || !match[1].matched)
    return std::nullopt;
  const auto start = static_cast<std::size_t>(match.position(1));
  return read_value(line.substr(start, static_cast<std::size_t>(match.length(1))), line.substr(start));
}

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

std::optional<LoadValue> LoadMetric::value_in(std::string_view output) const {
  std::optional<LoadValue> last;
  while (!output.empty()) {
    const std::size_t length = std::min(output.find_first_of("\r\n"), output.size());
    const auto value = value_in_line(output.substr(0, std::min(length, kMostLineBytes)), pattern);
    if (value) last = value;
    output.remove_prefix(std::min(length + 1, output.size()));
  }
  return last;
}

LoadMetric parse_load_metric(const std::string& text) {
  const std::size_t equals = text.find('='), start = text.starts_with('+') ? 1 : 0;
  if (equals == std::string::npos || equals <= start || equals + 1 == text.size())
    throw UsageError(fmt::format("--metric is NAME=REGEX, not \"{}\"", text));
  LoadMetric metric{text.substr(start, equals - start), {}, start == 1};
  try {
    metric.pattern = std::regex(text.substr(equals + 1));
  } catch (const std::regex_error& error) {
    throw UsageError(fmt::format("--metric {}: no regular expression: {}", text, error.what()));
  }
  if (metric.pattern.mark_count() == 0)
    throw UsageError(
        fmt::format("--metric {}: has no group ( ) around the number, as in p99=99% +([0-9.]+)", text));
  return metric;
}

}  // namespace tarn::tool
