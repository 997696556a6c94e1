// What the pool holds, counted from its records when asked, so that nothing is counted on the fast path.
// The walk takes each heap's mutex in turn; blocks in other threads' magazines are read as they change.
#pragma once
#include <cstddef>
#include <cstdint>

#include "central/size_class.h"
#include "general/large.h"
#include "page/page_cache.h"
#include "thread/heap_record.h"

namespace tarn::internal {

struct ClassUse {
  std::uint64_t slabs, slab_bytes, total_blocks, live_blocks, cached_blocks, free_blocks;
  std::uint64_t allocations, deallocations, requested_bytes;  // while calls are counted
};

struct EventCounters {
  std::uint64_t refills, flushes, remote_batches, slabs_made, slabs_ended;
};

struct Stats {
  ClassUse classes[kClassCount];
  CallCounts large_calls;  // and all calls of reallocate
  EventCounters counters;
  PageCacheStats pages;
  LargeStats large;
  std::size_t pool_live_bytes;  // of fixed pools, heaps and arenas; object pools are among the classes
  std::size_t live_bytes, cached_bytes, free_in_slabs_bytes, metadata_bytes, resident_bytes;
  std::uint32_t live_threads, peak_threads;  // that have a heap of their own
  bool are_calls_counted;
};

void collect_stats(Stats& stats);

/// Writes the statistics as one JSON object. \returns false when the file cannot be written.
bool write_stats_json(int descriptor);

/// At the end of the process, where the option stats_file asks for it: to that name with .PID appended.
void write_stats_file();

}  // namespace tarn::internal
