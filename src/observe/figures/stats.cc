#include "observe/figures/stats.h"

#include <cerrno>
#include <cstring>

#include "central/cached/cached_blocks.h"
#include "central/cached/cached_spans.h"
#include "central/cached/depot.h"
#include "central/slabs/class_slabs.h"
#include "central/slabs/remote_free.h"
#include "general/large.h"
#include "general/options/configuration.h"
#include "general/options/setup.h"
#include "general/pools/system_blocks.h"
#include "observe/figures/pool_fields.h"
#include "os/process/process.h"
#include "page/give_back/page_cache.h"
#include "page/memory/memory_limit.h"
#include "page/memory/metadata.h"
#include "tarn/pool_use.h"
#include "thread/magazine.h"
#include "thread/registry.h"
#include "thread/watch/counted_call.h"

namespace tarn::internal {
namespace {

void add(CallCounts& sum, const CallCounts& more) {
  sum.allocations += more.allocations;
  sum.deallocations += more.deallocations;
  sum.reallocations += more.reallocations;
  sum.requested_bytes += more.requested_bytes;
}

#define TARN_ADD(group, key, member, ...) stats.member += counters.member;

void add_private_class(SlabOwner& owner, SizeClass size_class, PrivateClassUse& use) {
  const OwnedClass& of_class = owner.of(size_class);
  const std::uint64_t block_bytes = geometry_of(owner, size_class).block_bytes;
  use.total_bytes += of_class.totals.blocks * block_bytes;
  use.cached_bytes += (parked_count(owner, size_class) + cached_block_count(owner)) * block_bytes;
  use.free_bytes += free_blocks(of_class) * block_bytes;
}

void add_bin(SlabOwner& owner, SizeClass size_class, ClassUse& use) {
  const OwnedClass& of_class = owner.of(size_class);
  use.slabs += of_class.totals.slabs;
  use.slab_bytes += bytes_of(of_class.totals.pages);
  use.total_blocks += of_class.totals.blocks;
  use.cached_blocks += parked_count(owner, size_class);
  use.free_blocks += free_blocks(of_class);
}

// The calls of a thread, or of all without a heap.
void add_calls(const ThreadCallCounts& counts, Stats& stats) {
  for (const SizeClass size_class : all_classes()) {
    if (!has_blocks(size_class)) continue;
    const CallCounts& calls = counts.of_class.at(size_class);
    if (is_private_class(size_class)) {
      add(stats.of_pools.calls, calls);
      continue;
    }
    ClassUse& use = stats.classes[index_of_class(size_class)];
    use.allocations += calls.allocations;
    use.deallocations += calls.deallocations;
    use.requested_bytes += calls.requested_bytes;
  }
  add(stats.large_calls, counts.large);
}

void add_owner(SlabOwner& owner, Stats& stats, ReturnedPages& returned) {
  for (const SizeClass size_class : classes_of(owner)) {
    collect_pending_locked(owner, size_class, returned);
    if (owner.has_slots) continue;  // they are no blocks of the program's
    owner.is_of_pool ? add_private_class(owner, size_class, stats.of_pools)
                     : add_bin(owner, size_class, stats.classes[index_of_class(size_class)]);
  }
  if (&owner == &owners.shared()) add_calls(calls_without_heap, stats);
  stats.free_in_slabs_bytes += owner.spare_bytes;
  stats.cached_bytes += cached_span_bytes(owner);
  const OwnerCounters& counters = owner.counters;
  TARN_STATISTICS_OF_OWNERS(TARN_ADD)
}

void add_heap(const ThreadHeap& heap, Stats& stats) {
  for (const SizeClass size_class : all_classes()) {
    if (!has_blocks(size_class)) continue;
    const std::uint64_t cached = count_left(heap, size_class);
    if (is_private_class(size_class))
      stats.of_pools.cached_bytes += cached * class_geometry[size_class].block_bytes;
    else
      stats.classes[index_of_class(size_class)].cached_blocks += cached;
  }
  if (heap.calls != nullptr) add_calls(*heap.calls, stats);
  const ThreadCounters& counters = heap.counters;
  TARN_STATISTICS_OF_THREADS(TARN_ADD)
}

#undef TARN_ADD

void add_classes(Stats& stats) {
  for (unsigned bin = 1; bin < kBinCount; ++bin) {
    ClassUse& use = stats.classes[bin];
    // Threads go on meanwhile: a block that goes from a magazine to its slab between the two counts is unused
    // twice, so the sum may exceed the total.
    const std::uint64_t unused = use.free_blocks + use.cached_blocks;
    use.block_bytes = class_geometry[class_of_index(bin)].block_bytes;
    use.live_blocks = use.total_blocks > unused ? use.total_blocks - unused : 0;
    use.given_bytes = use.allocations * use.block_bytes;
    stats.live_bytes += use.live_blocks * use.block_bytes;
    stats.cached_bytes += use.cached_blocks * use.block_bytes;
    stats.free_in_slabs_bytes += use.free_blocks * use.block_bytes;
    stats.allocate_calls += use.allocations;
    stats.deallocate_calls += use.deallocations;
    stats.requested_bytes += use.requested_bytes;
    stats.given_bytes += use.given_bytes;
  }
}

// A pool's calls ask for the size of its blocks, but for a heap's: what these were given is told too low.
void add_private_classes(Stats& stats) {
  const PrivateClassUse& use = stats.of_pools;
  const std::uint64_t unused = use.free_bytes + use.cached_bytes;
  stats.live_bytes += use.total_bytes > unused ? use.total_bytes - unused : 0;
  stats.cached_bytes += use.cached_bytes;
  stats.free_in_slabs_bytes += use.free_bytes;
  stats.allocate_calls += use.calls.allocations;
  stats.deallocate_calls += use.calls.deallocations;
  stats.requested_bytes += use.calls.requested_bytes;
  stats.given_bytes += use.calls.requested_bytes;
}

/// Adds large blocks and reallocations. The given bytes of a large block are its requested bytes.
void add_large(Stats& stats) {
  const LargeStats large = large_stats();
  stats.large_allocations = large.allocations;
  stats.large_live_count = large.live_count;
  stats.large_live_bytes = large.live_bytes;
  stats.live_bytes += large.live_bytes;
  stats.allocate_calls += stats.large_calls.allocations;
  stats.deallocate_calls += stats.large_calls.deallocations;
  stats.reallocate_calls += stats.large_calls.reallocations;
  stats.requested_bytes += stats.large_calls.requested_bytes;
  stats.given_bytes += stats.large_calls.requested_bytes;
}

void add_pages(Stats& stats) {
  const PageCacheStats pages = page_cache.stats();
  stats.mapped_bytes = pages.used_bytes;
  stats.peak_mapped_bytes = pages.peak_used_bytes;
  stats.free_dirty_bytes = pages.dirty_bytes;
  stats.free_clean_bytes = pages.clean_bytes;
#define TARN_COPY(group, key, member, ...) stats.member = pages.member;
  TARN_STATISTICS_OF_PAGES(TARN_COPY)
#undef TARN_COPY
}

void add_limits(Stats& stats) {
  stats.held_bytes = memory_limit.held();
  stats.soft_limit_bytes = memory_limit.soft_limit();
  stats.hard_limit_bytes = memory_limit.hard_limit();
  stats.soft_limit_crossings = memory_limit.crossings();
  stats.hard_limit_refusals = memory_limit.refusals();
}

void add_pools(Stats& stats) {
  visit_each_pool(
      [&](const PoolUse& use) { stats.pool_live_bytes += use.live_bytes - use.in_classes_bytes; });
  stats.live_bytes += stats.pool_live_bytes;
}

}  // namespace

void collect_stats(Stats& stats) {
  std::memset(&stats, 0, sizeof stats);
  {
    // Heaps and owners in one walk: no slab changes its owner meanwhile, which would count it twice or not at
    // all. The rest are figures of their own, each of its own moment.
    ReturnedPages returned;
    registry.for_each([&](const ThreadHeap& heap) { add_heap(heap, stats); },
                      [&](SlabOwner& owner) { add_owner(owner, stats, returned); });
  }
  add_classes(stats);
  add_private_classes(stats);
  add_large(stats);
  add_pages(stats);
  add_limits(stats);
  add_pools(stats);
  stats.live_bytes += live_bytes_from_malloc();
  stats.metadata_bytes = metadata.used_bytes();
  stats.resident_bytes = os::resident_bytes();
  stats.live_threads = registry.live_threads();
  stats.peak_threads = registry.peak_threads();
  stats.are_calls_counted = configuration.is_on(Option::kCountCalls);
  // It has no blocks of arenas and the like, which count at least with what is live now.
  const std::size_t counted_peak = counted_live.peak_bytes.load(std::memory_order_relaxed);
  const bool is_higher = counted_peak > stats.live_bytes || !stats.are_calls_counted;
  stats.peak_live_bytes = is_higher ? counted_peak : stats.live_bytes;
}

StatsSnapshot::StatsSnapshot() : stats_(static_cast<Stats*>(metadata.allocate(sizeof(Stats)))) {
  static_assert(sizeof(Stats) <= Metadata::kLargestReused);
  if (stats_ != nullptr) collect_stats(*stats_);
}

StatsSnapshot::~StatsSnapshot() {
  if (stats_ != nullptr) metadata.free(stats_, sizeof(Stats));
}

}  // namespace tarn::internal

std::size_t tarn_stats(tarn_statistics* statistics, std::size_t bytes) noexcept {
  using namespace tarn::internal;
  std::memset(static_cast<void*>(statistics), 0, bytes);
  set_up_once();  // options must be read first
  const StatsSnapshot snapshot;
  if (!snapshot) {
    errno = ENOMEM;
    return 0;
  }
  const std::size_t known = bytes < sizeof(tarn_statistics) ? bytes : sizeof(tarn_statistics);
  std::memcpy(static_cast<void*>(statistics), &static_cast<const tarn_statistics&>(*snapshot), known);
  return known;
}

std::size_t tarn_read_statistics(tarn_statistics* statistics, std::size_t bytes) noexcept {
  return tarn_stats(statistics, bytes);
}
