#include "observe/figures/metrics_text.h"

#include <cstring>
#include <string_view>

namespace tarn::internal {
namespace {

// -- The library -----------------------------------------------------------------------------------------

bool is(const char* one, const char* other) { return std::strcmp(one, other) == 0; }

MetricKind kind_of(const StatField& field) {
  const bool counts = is(field.group, "events") || is(field.group, "calls") || is(field.key, "allocate");
  return counts ? MetricKind::kCounter : MetricKind::kGauge;
}

void write_library(MetricsWriter& writer, const Metrics& metrics) {
  writer.begin("", "build_info", MetricKind::kGauge, "The version of the library that runs.");
  writer.series().label("version", metrics.version).value(1);
  for (std::size_t i = 0; i < kStatCount; ++i) {
    if (!metrics.is_known[i]) continue;
    const StatField& field = kStatFields[i];
    writer.begin("", field.name, kind_of(field), field.help);
    writer.series().value(metrics.stats->*field.member);
  }
}

// -- Size classes ----------------------------------------------------------------------------------------

bool is_in_use(const ClassUse& use) { return use.slabs != 0 || use.allocations != 0; }

// The classes of aligned blocks may be as large as others.
bool is_first_of_size(const Metrics& metrics, unsigned index) {
  for (unsigned before = 0; before < index; ++before)
    if (is_in_use(metrics.classes[before]) &&
        metrics.classes[before].block_bytes == metrics.classes[index].block_bytes)
      return false;
  return true;
}

std::uint64_t sum_of_size(const Metrics& metrics, unsigned first, std::uint64_t ClassUse::*member) {
  std::uint64_t sum = 0;
  for (unsigned index = first; index < metrics.class_count; ++index)
    if (metrics.classes[index].block_bytes == metrics.classes[first].block_bytes)
      sum += metrics.classes[index].*member;
  return sum;
}

void write_classes(MetricsWriter& writer, const Metrics& metrics) {
  for (const ClassField& field : kClassFields) {
    if (field.metric[0] == '\0') continue;
    if (field.kind == MetricKind::kCounter && !metrics.stats->are_calls_counted) continue;
    writer.begin("class_", field.metric, field.kind, field.help);
    for (unsigned index = 0; index < metrics.class_count; ++index)
      if (is_in_use(metrics.classes[index]) && is_first_of_size(metrics, index))
        writer.series()
            .label("class", metrics.classes[index].block_bytes)
            .value(sum_of_size(metrics, index, field.member));
  }
}

// -- Pools -----------------------------------------------------------------------------------------------

void write_series(MetricsWriter& writer, const PoolUse& use, std::uint64_t value) {
  writer.series().label("kind", use.kind).label("name", use.name);
  if (use.block_bytes != 0) writer.label("block_bytes", use.block_bytes);
  if (use.parent != nullptr) writer.label("parent", use.parent);
  writer.value(value);
}

void write_pools(MetricsWriter& writer, const PoolSum* first) {
  writer.begin("pool_", "pools", MetricKind::kGauge, "Pools with these labels; their figures are summed.");
  for (const PoolSum* sum = first; sum != nullptr; sum = sum->next)
    write_series(writer, sum->use, sum->pools);
  for (const PoolField& field : kPoolFields) {
    writer.begin("pool_", field.metric, field.kind, field.help);
    for (const PoolSum* sum = first; sum != nullptr; sum = sum->next)
      if (const std::size_t value = sum->use.*field.member;
          field.is_of(sum->use) && value != PoolUse::kNoLimit)
        write_series(writer, sum->use, value);
  }
}

}  // namespace

void MetricsWriter::begin(const char* prefix, const char* name, MetricKind kind, const char* help) {
  prefix_ = prefix;
  name_ = name;
  kind_ = kind;
  help_ = help;
  has_begun_ = false;
}

MetricsWriter& MetricsWriter::series() {
  if (!has_begun_) write_head();
  has_begun_ = true;
  write_name();
  has_labels_ = false;
  return *this;
}

MetricsWriter& MetricsWriter::label(const char* name, const char* value) {
  begin_label(name);
  text_.add_escaped(value).add('"');
  return *this;
}

MetricsWriter& MetricsWriter::label(const char* name, std::uint64_t value) {
  begin_label(name);
  text_.add_decimal(value).add('"');
  return *this;
}

void MetricsWriter::value(std::uint64_t value) {
  if (has_labels_) text_.add('}');
  text_.add(' ').add_decimal(value).add('\n');
}

// The ending _count is a histogram's.
void MetricsWriter::write_name() {
  constexpr std::string_view kCount = "_count";
  const std::string_view name = name_;
  const bool is_count = name.ends_with(kCount);
  // By its parts: in a build without optimisation substr() calls the C++ runtime.
  const std::string_view stem(name.data(), name.size() - (is_count ? kCount.size() : 0));
  text_.add("tarn_").add(prefix_).add(stem);
  if (is_count) text_.add("_blocks");
  if (kind_ == MetricKind::kCounter) text_.add("_total");
}

void MetricsWriter::write_head() {
  text_.add("# HELP ");
  write_name();
  text_.add(' ').add(help_).add("\n# TYPE ");
  write_name();
  text_.add(kind_ == MetricKind::kCounter ? " counter\n" : " gauge\n");
}

void MetricsWriter::begin_label(const char* name) {
  text_.add(has_labels_ ? ',' : '{').add(name).add("=\"");
  has_labels_ = true;
}

void write(MetricsWriter& writer, const Metrics& metrics) {
  write_library(writer, metrics);
  write_classes(writer, metrics);
  write_pools(writer, metrics.pools);
}

}  // namespace tarn::internal
