// The library's own statistics as metrics.
#include "tarn/metrics.h"

#include <cerrno>
#include <cstring>

#include "general/options/setup.h"
#include "observe/figures/metrics_text.h"
#include "observe/figures/pool_sums.h"
#include "observe/figures/stats.h"
#include "os/locks/held_locks.h"
#include "tarn/version.h"

namespace tarn::internal {
namespace {

// What no counted call has told is no 0.
bool is_known(const StatField& field, const Stats& stats) {
  return stats.are_calls_counted || !(field.needs_counted_calls || std::strcmp(field.group, "calls") == 0);
}

Metrics metrics_of(const Stats& stats, const PoolSum* pools) {
  Metrics metrics{TARN_VERSION_STRING, &stats, {}, stats.classes, kBinCount, pools};
  for (std::size_t i = 0; i < kStatCount; ++i) metrics.is_known[i] = is_known(kStatFields[i], stats);
  return metrics;
}

}  // namespace
}  // namespace tarn::internal

int tarn_write_metrics(void (*sink)(const char* text, std::size_t bytes, void* context),
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
  TextWriter text(sink, context);
  MetricsWriter writer(text);
  write(writer, metrics_of(*snapshot, sums.first()));
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
