// A figure that a load prints, found in its output by a regular expression: `p99=99% +([0-9.]+)`.
#pragma once
#include <optional>
#include <regex>
#include <string>
#include <string_view>

#include "system/figures/measurement.h"

namespace tarn::tool {

struct LoadValue {
  double value;       // in seconds if it is a time, in bytes if it is memory
  Quantity quantity;  // as the figure's unit says; without one kCount
};

struct LoadMetric {
  std::string name;
  std::regex pattern;
  bool is_more_better = false;  // NAME began with +

  /// The value of the last line that the pattern is found in; nothing if there is none. A carriage return
  /// ends a line too, as programs tell progress by it. The first group is a number; its unit (us, µs, ms, s,
  /// KiB, MiB, GiB, k, M) is in the group, or stands right behind it.
  std::optional<LoadValue> value_in(std::string_view output) const;
};

/// Reads NAME=REGEX, or +NAME=REGEX for a figure of which more is better. \throws UsageError
LoadMetric parse_load_metric(const std::string& text);

}  // namespace tarn::tool
