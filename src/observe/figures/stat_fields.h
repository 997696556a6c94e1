// The statistics as data: the list of tarn/detail/stat_fields.h as a table, and the figures of a size class.
// The JSON, malloc_stats and malloc_info walk these tables.
#pragma once
#include <cstddef>
#include <cstdint>

#include "tarn/stats.h"

namespace tarn::internal {

enum class StatUnit : std::uint8_t { kBytes, kCount, kLimit };

/// A row of the list. \why arrays, not pointers: then program start has nothing to relocate.
struct StatField {
  char group[8], key[20], name[24];
  StatUnit unit;
  bool needs_counted_calls;
  std::uint8_t line;  // of malloc_stats, from 1; 0: not in it
  char label[24];
  std::uint64_t tarn_statistics::*member;

  const char* unit_name() const { return unit == StatUnit::kCount ? "count" : "bytes"; }
};

#define TARN_ROW(group, key, member, unit, line, label, ...) \
  {#group, #key, #member, StatUnit::unit, false, line, label, &tarn_statistics::member},
#define TARN_COUNTED_ROW(group, key, member, unit, line, label, ...) \
  {#group, #key, #member, StatUnit::unit, true, line, label, &tarn_statistics::member},
inline constexpr StatField kStatFields[] = {
    TARN_STATISTICS(TARN_ROW, TARN_COUNTED_ROW, TARN_ROW, TARN_ROW, TARN_ROW)};
#undef TARN_ROW
#undef TARN_COUNTED_ROW

/// The figures of one size class, over all threads.
struct ClassUse {
  std::uint64_t block_bytes, slabs, slab_bytes, total_blocks, live_blocks, cached_blocks, free_blocks;
  std::uint64_t allocations, deallocations, requested_bytes, given_bytes;  // 0 unless calls are counted
};

struct ClassField {
  const char* key;  // in the JSON
  std::uint64_t ClassUse::*member;
};
inline constexpr ClassField kClassFields[] = {
    {"block_bytes", &ClassUse::block_bytes},         {"slabs", &ClassUse::slabs},
    {"slab_bytes", &ClassUse::slab_bytes},           {"live_blocks", &ClassUse::live_blocks},
    {"cached_blocks", &ClassUse::cached_blocks},     {"allocate", &ClassUse::allocations},
    {"requested_bytes", &ClassUse::requested_bytes}, {"given_bytes", &ClassUse::given_bytes},
};

}  // namespace tarn::internal
