// The figures of a pool as data: the JSON and the metrics walk this table. And pools with equal labels as
// one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "observe/figures/stat_fields.h"
#include "tarn/pool_use.h"

namespace tarn::internal {

/// Which pools have a figure.
enum class PoolsWith : std::uint8_t { kAll, kOneBlockSize, kManyBlockSizes };

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

/// tarn::for_each_pool with any function.
template <typename Visit>
void visit_each_pool(Visit visit) {
  for_each_pool([](const PoolUse& use, void* context) { (*static_cast<Visit*>(context))(use); }, &visit);
}

/// The pools of one kind, name, block size and parent, as one: text formats for time series may have each
/// label set once.
struct PoolSum {
  PoolSum* next;
  std::size_t pools;
  PoolUse use;
};

inline bool are_equal_names(const char* one, const char* other) {
  return one == other || (one != nullptr && other != nullptr && std::strcmp(one, other) == 0);
}

inline bool has_labels_of(const PoolUse& one, const PoolUse& other) {
  return one.block_bytes == other.block_bytes && are_equal_names(one.name, other.name) &&
         are_equal_names(one.kind, other.kind) && are_equal_names(one.parent, other.parent);
}

/// One pool without a limit leaves all together without one.
inline void add_pool(PoolSum& sum, const PoolUse& use) {
  ++sum.pools;
  for (const PoolField& field : kPoolFields) {
    std::size_t& figure = sum.use.*field.member;
    const std::size_t more = use.*field.member;
    figure = figure > PoolUse::kNoLimit - more ? PoolUse::kNoLimit : figure + more;
  }
}

}  // namespace tarn::internal
