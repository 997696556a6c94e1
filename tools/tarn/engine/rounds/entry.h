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

  /// The run whose value is the median one: it stands for all. \pre there are runs
  template <class ValueOf>
  const Run& middle_run(const ValueOf& value_of) const {
    std::vector<const Run*> order;
    for (const Run& run : runs) order.push_back(&run);
    const auto middle = order.begin() + static_cast<std::ptrdiff_t>((order.size() - 1) / 2);
    std::nth_element(order.begin(), middle, order.end(),
                     [&](const Run* a, const Run* b) { return value_of(*a) < value_of(*b); });
    return **middle;
  }
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

/// Those that may be compared.
template <class Run>
Entries<Run> comparable_of(Entries<Run> entries) {
  std::erase_if(entries, [](const Entry<Run>& entry) { return !entry.is_comparable(); });
  return entries;
}

}  // namespace tarn::tool
