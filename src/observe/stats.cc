#include "observe/stats.h"

#include <cstring>

#include "base/text.h"
#include "central/remote_free.h"
#include "general/configuration.h"
#include "os/process.h"
#include "page/metadata.h"
#include "tarn/pool_use.h"
#include "thread/magazine.h"
#include "thread/registry.h"

namespace tarn::internal {
namespace {

void add(CallCounts& sum, const CallCounts& more) {
  sum.allocations += more.allocations;
  sum.deallocations += more.deallocations;
  sum.reallocations += more.reallocations;
  sum.requested_bytes += more.requested_bytes;
}

void add_owner(SlabOwner& owner, Stats& stats, ReturnedPages& returned) {
  for (const SizeClass size_class : kAllClasses) {
    collect_pending_locked(owner, size_class, returned);
    ClassUse& use = stats.classes[index_of_class(size_class)];
    const SlabTotals& totals = owner.totals[size_class];
    use.slabs += totals.slabs;
    use.slab_bytes += bytes_of(totals.pages);
    use.total_blocks += totals.blocks;
    for (const Span* slab = owner.available[size_class].first(); slab != nullptr; slab = slab->next)
      use.free_blocks += slab->free_count;
  }
  stats.free_in_slabs_bytes += owner.spare_bytes;
  stats.counters.remote_batches += owner.counters.remote_batches;
  stats.counters.slabs_made += owner.counters.slabs_made;
  stats.counters.slabs_ended += owner.counters.slabs_ended;
}

void add_heap(const ThreadHeap& heap, Stats& stats) {
  for (const SizeClass size_class : kAllClasses) {
    ClassUse& use = stats.classes[index_of_class(size_class)];
    use.cached_blocks += count_of(heap, size_class);
    if (heap.calls == nullptr) continue;
    const CallCounts& calls = heap.calls->of_class[size_class];
    use.allocations += calls.allocations;
    use.deallocations += calls.deallocations;
    use.requested_bytes += calls.requested_bytes;
  }
  if (heap.calls != nullptr) add(stats.large_calls, heap.calls->large);
  stats.counters.refills += heap.counters.refills;
  stats.counters.flushes += heap.counters.flushes;
}

}  // namespace

void collect_stats(Stats& stats) {
  std::memset(&stats, 0, sizeof stats);
  {
    ReturnedPages returned;
    registry.for_each_owner([&](SlabOwner& owner, const ThreadHeap* heap) {
      add_owner(owner, stats, returned);
      if (heap != nullptr) add_heap(*heap, stats);
    });
  }
  for (unsigned bin = 1; bin < kClassCount; ++bin) {
    ClassUse& use = stats.classes[bin];
    const ClassGeometry& geometry = class_geometry.of[bin];
    const std::uint64_t unused = use.free_blocks + use.cached_blocks;
    use.live_blocks = use.total_blocks > unused ? use.total_blocks - unused : 0;
    stats.live_bytes += use.live_blocks * geometry.block_bytes;
    stats.cached_bytes += use.cached_blocks * geometry.block_bytes;
    stats.free_in_slabs_bytes += use.free_blocks * geometry.block_bytes;
  }
  stats.pages = page_cache.stats();
  stats.large = large_stats();
  stats.live_bytes += stats.large.live_bytes;
  for_each_pool(
      [](const PoolUse& use, void* sum) {
        if (!use.is_in_classes) *static_cast<std::size_t*>(sum) += use.live_bytes;
      },
      &stats.pool_live_bytes);
  stats.live_bytes += stats.pool_live_bytes;
  stats.metadata_bytes = metadata.used_bytes();
  stats.resident_bytes = os::resident_bytes();
  stats.live_threads = owners.live_threads();
  stats.peak_threads = owners.peak_threads();
  stats.are_calls_counted = configuration.is_on(Option::kCountCalls);
}

}  // namespace tarn::internal
