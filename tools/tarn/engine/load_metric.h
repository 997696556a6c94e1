// A figure that a load prints, found in its output by a regular expression: `p99=99% +([0-9.]+)`.
#pragma once
#include <optional>
#include <regex>
#include <string>
#include <string_view>

#include "system/measurement.h"

namespace tarn::tool {

struct LoadValue {
  double value;       // in seconds if it is a time
  Quantity quantity;  // kSeconds if the figure has a unit of time, else kCount
};

struct LoadMetric {
  std::string name;
  std::regex pattern;

  /// The value of the last line that the pattern is found in; nothing if there is none. The first group is a
  /// number; its unit (us, µs, ms, s, k, M) is in the group, or stands right behind it.
  std::optional<LoadValue> value_in(std::string_view output) const;
};

/// Reads NAME=REGEX. \throws UsageError
LoadMetric parse_load_metric(const std::string& text);

}  // namespace tarn::tool
