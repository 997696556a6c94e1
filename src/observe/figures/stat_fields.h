// The statistics as data: the list of tarn/detail/stat_fields.h as a table, and the figures of a size class.
// The JSON, the metrics, malloc_stats and malloc_info walk these tables.
#pragma once
#include <cstddef>
#include <cstdint>

#include "tarn/stats.h"

namespace tarn::internal {

enum class StatUnit : std::uint8_t { kBytes, kCount, kLimit };
enum class MetricKind : std::uint8_t { kGauge, kCounter };

/// A row of the list. \why arrays, not pointers: then program start has nothing to relocate.
struct StatField {
  char group[8], key[20], name[24];
  StatUnit unit;
  bool needs_counted_calls;
  std::uint8_t line;  // of malloc_stats, from 1; 0: not in it
  char label[24];
  char help[128];
  std::uint64_t tarn_statistics::*member;

  const char* unit_name() const { return unit == StatUnit::kCount ? "count" : "bytes"; }
};

#define TARN_ROW_OF(needs_counted_calls, group, key, member, unit, line, label, help) \
  {#group, #key, #member, StatUnit::unit, needs_counted_calls, line, label, help, &tarn_statistics::member},
#define TARN_ROW(group, key, member, unit, line, label, report, help) \
  TARN_ROW_OF(false, group, key, member, unit, line, label, help)
#define TARN_COUNTED_ROW(group, key, member, unit, line, label, report, help) \
  TARN_ROW_OF(true, group, key, member, unit, line, label, help)
inline constexpr StatField kStatFields[] = {
    TARN_STATISTICS(TARN_ROW, TARN_COUNTED_ROW, TARN_ROW, TARN_ROW, TARN_ROW)};
#undef TARN_ROW
#undef TARN_COUNTED_ROW
#undef TARN_ROW_OF

/// The figures of one size class, over all threads.
struct ClassUse {
  std::uint64_t block_bytes, slabs, slab_bytes, total_blocks, live_blocks, cached_blocks, free_blocks;
  std::uint64_t allocations, deallocations, requested_bytes, given_bytes;  // 0 unless calls are counted
};

struct ClassField {
  char key[16];     // in the JSON; "": not in it
  char metric[16];  // behind "tarn_class_"; "": the label of all series
  MetricKind kind;
  std::uint64_t ClassUse::*member;
  char help[56];
};
inline constexpr ClassField kClassFields[] = {
    {"block_bytes", "", MetricKind::kGauge, &ClassUse::block_bytes, ""},
    {"slabs", "slabs", MetricKind::kGauge, &ClassUse::slabs, "Slabs of the size class."},
    {"slab_bytes", "slab_bytes", MetricKind::kGauge, &ClassUse::slab_bytes, "Pages of these slabs."},
    {"live_blocks", "live_blocks", MetricKind::kGauge, &ClassUse::live_blocks, "Blocks in use."},
    {"cached_blocks", "cached_blocks", MetricKind::kGauge, &ClassUse::cached_blocks,
     "Free blocks that threads have cached."},
    {"", "free_blocks", MetricKind::kGauge, &ClassUse::free_blocks, "Free blocks in slabs."},
    {"allocate", "allocations", MetricKind::kCounter, &ClassUse::allocations,
     "Allocations from the size class."},
    {"requested_bytes", "requested_bytes", MetricKind::kCounter, &ClassUse::requested_bytes,
     "What they asked for."},
    {"given_bytes", "given_bytes", MetricKind::kCounter, &ClassUse::given_bytes, "What they were given."},
};

}  // namespace tarn::internal
