// The statistics in Prometheus' text exposition format 0.0.4. As the format demands, all series of a metric
// stand together behind its HELP and TYPE, and no two have equal labels: so the figures are collected first.
#include "tarn/metrics.h"

#include <cerrno>
#include <cstring>
#include <string_view>

#include "general/setup.h"
#include "observe/pool_fields.h"
#include "observe/pool_sums.h"
#include "observe/stats.h"
#include "observe/text_writer.h"
#include "os/held_locks.h"
#include "tarn/version.h"

namespace tarn::internal {
namespace {

// -- The library -----------------------------------------------------------------------------------------

struct HelpOfStat {
  char text[128];
};
#define TARN_HELP(group, key, member, unit, line, label, report, help) {help},
constexpr HelpOfStat kHelpOfStats[] = {TARN_EVERY_STATISTIC(TARN_HELP)};
#undef TARN_HELP

/// A metric of size classes.
struct ClassMetric {
  char name[16];  // behind "tarn_class_"
  MetricKind kind;
  std::uint64_t ClassUse::*member;
  char help[80];
};
constexpr ClassMetric kClassMetrics[] = {
    {"slabs", MetricKind::kGauge, &ClassUse::slabs, "Slabs of the size class."},
    {"slab_bytes", MetricKind::kGauge, &ClassUse::slab_bytes, "Pages of these slabs."},
    {"live_blocks", MetricKind::kGauge, &ClassUse::live_blocks, "Blocks in use."},
    {"cached_blocks", MetricKind::kGauge, &ClassUse::cached_blocks, "Free blocks that threads keep at hand."},
    {"free_blocks", MetricKind::kGauge, &ClassUse::free_blocks, "Free blocks in slabs."},
    {"allocations", MetricKind::kCounter, &ClassUse::allocations, "Allocations from the size class."},
    {"requested_bytes", MetricKind::kCounter, &ClassUse::requested_bytes, "What they asked for."},
    {"given_bytes", MetricKind::kCounter, &ClassUse::given_bytes, "What they were given."},
};

bool is(const char* one, const char* other) { return std::strcmp(one, other) == 0; }

MetricKind kind_of(const StatField& field) {
  const bool counts = is(field.group, "events") || is(field.group, "calls") || is(field.key, "allocate");
  return counts ? MetricKind::kCounter : MetricKind::kGauge;
}

// What no counted call has told is no 0.
bool is_known(const StatField& field, const Stats& stats) {
  return stats.are_calls_counted || !(field.needs_counted_calls || is(field.group, "calls"));
}

bool is_in_use(const ClassUse& use) { return use.slabs != 0 || use.allocations != 0; }

/// Writes metrics; a metric begins with its first series.
class MetricsWriter {
 public:
  explicit MetricsWriter(TextWriter& text) : text_(text) {}

  void begin(const char* prefix, const char* name, MetricKind kind, const char* help) {
    prefix_ = prefix;
    name_ = name;
    kind_ = kind;
    help_ = help;
    has_begun_ = false;
  }
  /// Then come labels, then the value.
  MetricsWriter& series() {
    if (!has_begun_) write_head();
    has_begun_ = true;
    write_name();
    has_labels_ = false;
    return *this;
  }
  MetricsWriter& label(const char* name, const char* value) {
    begin_label(name);
    text_.add_label_value(value).add('"');
    return *this;
  }
  MetricsWriter& label(const char* name, std::uint64_t value) {
    begin_label(name);
    text_.add_decimal(value).add('"');
    return *this;
  }
  void value(std::uint64_t value) {
    if (has_labels_) text_.add('}');
    text_.add(' ').add_decimal(value).add('\n');
  }

 private:
  // The ending _count is a histogram's.
  void write_name() {
    constexpr std::string_view kCount = "_count";
    const std::string_view name = name_;
    const bool is_count = name.ends_with(kCount);
    // By its parts: in a build without optimisation substr() calls the C++ runtime.
    const std::string_view stem(name.data(), name.size() - (is_count ? kCount.size() : 0));
    text_.add("tarn_").add(prefix_).add(stem);
    if (is_count) text_.add("_blocks");
    if (kind_ == MetricKind::kCounter) text_.add("_total");
  }
  void write_head() {
    text_.add("# HELP ");
    write_name();
    text_.add(' ').add(help_).add("\n# TYPE ");
    write_name();
    text_.add(kind_ == MetricKind::kCounter ? " counter\n" : " gauge\n");
  }
  void begin_label(const char* name) {
    text_.add(has_labels_ ? ',' : '{').add(name).add("=\"");
    has_labels_ = true;
  }

  TextWriter& text_;
  const char *prefix_ = "", *name_ = "", *help_ = "";
  MetricKind kind_ = MetricKind::kGauge;
  bool has_begun_ = false, has_labels_ = false;
};

void write_library(MetricsWriter& metrics, const Stats& stats) {
  metrics.begin("", "build_info", MetricKind::kGauge, "The version of the library that runs.");
  metrics.series().label("version", TARN_VERSION_STRING).value(1);
  static_assert(sizeof(kHelpOfStats) / sizeof(HelpOfStat) == sizeof(kStatFields) / sizeof(StatField));
  for (const StatField& field : kStatFields) {
    if (!is_known(field, stats)) continue;
    metrics.begin("", field.name, kind_of(field), kHelpOfStats[&field - kStatFields].text);
    metrics.series().value(stats.*field.member);
  }
}

// -- Size classes ----------------------------------------------------------------------------------------

// Typed pools have classes of their own, whose blocks may be as large as those of another.
bool is_first_of_size(const Stats& stats, unsigned index) {
  for (unsigned before = 0; before < index; ++before)
    if (is_in_use(stats.classes[before]) &&
        stats.classes[before].block_bytes == stats.classes[index].block_bytes)
      return false;
  return true;
}

std::uint64_t sum_of_size(const Stats& stats, unsigned first, std::uint64_t ClassUse::*member) {
  std::uint64_t sum = 0;
  for (unsigned index = first; index < kClassCount; ++index)
    if (stats.classes[index].block_bytes == stats.classes[first].block_bytes)
      sum += stats.classes[index].*member;
  return sum;
}

void write_classes(MetricsWriter& metrics, const Stats& stats) {
  for (const ClassMetric& metric : kClassMetrics) {
    if (metric.kind == MetricKind::kCounter && !stats.are_calls_counted) continue;
    metrics.begin("class_", metric.name, metric.kind, metric.help);
    for (unsigned index = 0; index < kClassCount; ++index)
      if (is_in_use(stats.classes[index]) && is_first_of_size(stats, index))
        metrics.series()
            .label("class", stats.classes[index].block_bytes)
            .value(sum_of_size(stats, index, metric.member));
  }
}

// -- Pools -----------------------------------------------------------------------------------------------

void write_series(MetricsWriter& metrics, const PoolUse& use, std::uint64_t value) {
  metrics.series().label("kind", use.kind).label("name", use.name);
  if (use.block_bytes != 0) metrics.label("block_bytes", use.block_bytes);
  if (use.parent != nullptr) metrics.label("parent", use.parent);
  metrics.value(value);
}

void write_pools(MetricsWriter& metrics, const PoolSums& sums) {
  metrics.begin("pool_", "pools", MetricKind::kGauge, "Pools with these labels, whose figures are summed.");
  for (const PoolSums::Sum* sum = sums.first(); sum != nullptr; sum = sum->next)
    write_series(metrics, sum->use, sum->pools);
  for (const PoolField& field : kPoolFields) {
    metrics.begin("pool_", field.metric, field.kind, field.help);
    for (const PoolSums::Sum* sum = sums.first(); sum != nullptr; sum = sum->next)
      if (const std::size_t value = sum->use.*field.member;
          field.is_of(sum->use) && value != PoolUse::kNoLimit)
        write_series(metrics, sum->use, value);
  }
}

}  // namespace
}  // namespace tarn::internal

int tarn_write_metrics(void (*write)(const char* text, std::size_t bytes, void* context),
                       void* context) noexcept {
  using namespace tarn::internal;
  set_up_once();  // options must be read first
  const StatsSnapshot snapshot;
  PoolSums sums;
  if (!snapshot || !sums.collect()) {
    errno = ENOMEM;
    return -1;
  }
  os::check_no_lock_is_held("while a function of the program's runs");
  TextWriter text(write, context);
  MetricsWriter metrics(text);
  write_library(metrics, *snapshot);
  write_classes(metrics, *snapshot);
  write_pools(metrics, sums);
  return 0;
}

int tarn_write_metrics_to(int descriptor) noexcept {
  using namespace tarn::internal;
  FileSink file(descriptor);
  if (tarn_write_metrics(FileSink::write, &file) != 0) return -1;
  if (file.is_good()) return 0;
  errno = file.error();
  return -1;
}
