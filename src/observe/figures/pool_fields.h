// The figures of a pool as data: the JSON and the metrics walk this table.
#pragma once
#include <cstddef>
#include <cstdint>

#include "tarn/pool_use.h"

namespace tarn::internal {

/// Which pools have a figure.
enum class PoolsWith : std::uint8_t { kAll, kOneBlockSize, kManyBlockSizes };

enum class MetricKind : std::uint8_t { kGauge, kCounter };

/// \why arrays, not pointers: then program start has nothing to relocate.
struct PoolField {
  char key[20];     // in the JSON
  char metric[24];  // behind "tarn_pool_"
  MetricKind kind;
  PoolsWith pools;  // that have a series of the metric
  std::size_t PoolUse::*member;
  char help[96];

  bool is_of(const PoolUse& use) const {
    return pools == PoolsWith::kAll || (pools == PoolsWith::kOneBlockSize) == (use.block_bytes != 0);
  }
};

inline constexpr PoolField kPoolFields[] = {
    {"live_count", "live_blocks", MetricKind::kGauge, PoolsWith::kAll, &PoolUse::live_count,
     "Blocks or objects handed out."},
    {"live_bytes", "live_bytes", MetricKind::kGauge, PoolsWith::kAll, &PoolUse::live_bytes, "Their bytes."},
    {"peak_live_bytes", "peak_live_bytes", MetricKind::kGauge, PoolsWith::kAll, &PoolUse::peak_live_bytes,
     "The most there were; of pools with one name, the sum of their peaks."},
    {"mapped_bytes", "mapped_bytes", MetricKind::kGauge, PoolsWith::kAll, &PoolUse::mapped_bytes,
     "Pages of the pool, live or not."},
    {"waste_bytes", "waste_bytes", MetricKind::kGauge, PoolsWith::kAll, &PoolUse::waste_bytes,
     "What the pages have and the live blocks have not."},
    {"capacity", "capacity_blocks", MetricKind::kGauge, PoolsWith::kOneBlockSize, &PoolUse::capacity,
     "Blocks that exist, live or not."},
    {"largest_count", "limit_blocks", MetricKind::kGauge, PoolsWith::kOneBlockSize, &PoolUse::largest_count,
     "The most blocks the pool may have."},
    {"limit_bytes", "limit_bytes", MetricKind::kGauge, PoolsWith::kAll, &PoolUse::limit_bytes,
     "The most live bytes the pool may have."},
    {"mapped_limit_bytes", "mapped_limit_bytes", MetricKind::kGauge, PoolsWith::kManyBlockSizes,
     &PoolUse::mapped_limit_bytes, "The most bytes of pages the heap may have."},
    {"inner_bytes", "inner_bytes", MetricKind::kGauge, PoolsWith::kManyBlockSizes, &PoolUse::inner_bytes,
     "Live bytes of the heaps within, which its limits count too."},
    {"refusals", "refusals", MetricKind::kCounter, PoolsWith::kAll, &PoolUse::refusals,
     "Calls that a cap, a limit or the lack of memory left without a block."},
};

}  // namespace tarn::internal
