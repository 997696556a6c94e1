// The statistics in Prometheus' text exposition format 0.0.4. As the format demands, all series of a metric
// stand together behind its HELP and TYPE, and no two have equal labels: so the figures are collected first.
//
// The library collects its own; the command `tarn metrics` those of another process. Both write them here.
//
// Threads: one. Nothing here allocates.
#pragma once
#include <cstddef>
#include <cstdint>

#include "observe/figures/pool_fields.h"
#include "observe/figures/stat_fields.h"
#include "observe/text_writer.h"

namespace tarn::internal {

inline constexpr std::size_t kStatCount = sizeof(kStatFields) / sizeof(StatField);

struct Metrics {
  const char* version;  // of the library that the figures are of
  const tarn_statistics* stats;
  bool is_known[kStatCount];  // by row of kStatFields; what is not known is no 0, and has no series
  const ClassUse* classes;
  unsigned class_count;
  const PoolSum* pools;  // nullptr: there are none
};

/// Writes metrics; a metric begins with its first series.
class MetricsWriter {
 public:
  explicit MetricsWriter(TextWriter& text) : text_(text) {}

  /// \param prefix, name behind "tarn_"; the ending _count becomes _blocks, and counters end in _total.
  void begin(const char* prefix, const char* name, MetricKind kind, const char* help);
  /// Then come labels, then the value.
  MetricsWriter& series();
  MetricsWriter& label(const char* name, const char* value);
  MetricsWriter& label(const char* name, std::uint64_t value);
  void value(std::uint64_t value);

 private:
  void write_name();
  void write_head();
  void begin_label(const char* name);

  TextWriter& text_;
  const char *prefix_ = "", *name_ = "", *help_ = "";
  MetricKind kind_ = MetricKind::kGauge;
  bool has_begun_ = false, has_labels_ = false;
};

void write(MetricsWriter& writer, const Metrics& metrics);

}  // namespace tarn::internal
