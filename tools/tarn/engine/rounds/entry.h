// What a contender's runs of one workload gave, whatever a run is, and the figures that are compared.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/contenders/allocators.h"
#include "engine/contenders/verification.h"
#include "engine/rounds/statistics.h"
#include "system/figures/measurement.h"

namespace tarn::tool {

enum class Better : std::uint8_t { kLess, kMore };

/// One figure of a run that is compared.
template <class Run>
struct Metric {
  std::string key;  // in the JSON
  std::string title;
  Quantity quantity;
  std::function<double(const Run&)> value_of;
  Better better = Better::kLess;
};

/// How a figure stands beside another. Of time it is speed, more is better: 0.5 is half as fast. Of anything
/// else it is an amount, and less is better unless the metric says more.
template <class Run>
double ratio_of(const Metric<Run>& metric, double own, double other) {
  if (own == 0 || other == 0) return 1;
  return metric.quantity == Quantity::kSeconds ? other / own : own / other;
}

template <class Run>
struct Entry {
  Allocator allocator;
  std::vector<Run> runs = {};
  std::optional<Failure> failure = {};

  bool is_comparable() const { return !failure && !runs.empty(); }

  template <class ValueOf>
  Summary summary_of(const ValueOf& value_of) const {
    std::vector<double> values;
    for (const Run& run : runs) values.push_back(value_of(run));
    return summarize(std::move(values));
  }
  Summary summary_of(const Metric<Run>& metric) const { return summary_of(metric.value_of); }
};

template <class Run>
using Entries = std::vector<Entry<Run>>;

/// Without runs, one for each allocator.
template <class Run>
Entries<Run> entries_for(const std::vector<Allocator>& allocators) {
  Entries<Run> entries;
  for (const Allocator& allocator : allocators) entries.push_back({allocator});
  return entries;
}

template <class Run>
bool has_failure(const Entries<Run>& entries) {
  for (const Entry<Run>& entry : entries)
    if (entry.failure) return true;
  return false;
}

template <class Run>
bool has_figures(const Entries<Run>& entries) {
  for (const Entry<Run>& entry : entries)
    if (entry.is_comparable()) return true;
  return false;
}

/// The best median among the entries that may be compared; count 0 if there are none.
template <class Run>
Summary best_of(const Entries<Run>& entries, const Metric<Run>& metric) {
  Summary best;
  for (const Entry<Run>& entry : entries) {
    if (!entry.is_comparable()) continue;
    const Summary own = entry.summary_of(metric);
    const bool is_ahead =
        metric.better == Better::kLess ? own.median < best.median : own.median > best.median;
    if (best.count == 0 || is_ahead) best = own;
  }
  return best;
}

/// The largest median; 0 if there are none.
template <class Run>
double largest_of(const Entries<Run>& entries, const Metric<Run>& metric) {
  double largest = 0;
  for (const Entry<Run>& entry : entries)
    if (entry.is_comparable()) largest = std::max(largest, entry.summary_of(metric).median);
  return largest;
}

}  // namespace tarn::tool
