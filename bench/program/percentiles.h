// A distribution as JSON members of a row.
#pragma once
#include <cstdio>

#include "histogram.h"
#include "session.h"

namespace tarn::bench {

struct Percentile {
  const char* name;
  double share;
};

inline constexpr Percentile kPercentiles[] = {{"p50", 0.5},     {"p90", 0.9},       {"p99", 0.99},
                                              {"p99.9", 0.999}, {"p99.99", 0.9999}, {"p99.999", 0.99999}};

/// "<prefix>p50_ns" and so on as far as the values tell them, and "<prefix>max_ns", each in ns.
/// \param ns_of_one what a value of 1 is in ns
inline Extra percentile_fields(const char* prefix, const Histogram& values, double ns_of_one) {
  Extra fields = {};
  std::size_t length = 0;
  const auto add = [&](const char* name, std::uint64_t value) {
    length += static_cast<std::size_t>(std::snprintf(fields.text + length, sizeof fields.text - length,
                                                     ",\"%s%s_ns\":%.3f", prefix, name,
                                                     static_cast<double>(value) * ns_of_one));
  };
  for (const Percentile& one : kPercentiles)
    if (values.tells(one.share)) add(one.name, values.percentile(one.share));
  add("max", values.largest());
  return fields;
}

}  // namespace tarn::bench
