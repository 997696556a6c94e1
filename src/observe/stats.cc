#include "observe/stats.h"

#include <cstring>

#include "base/text.h"
#include "general/configuration.h"
#include "os/process.h"
#include "page/metadata.h"
#include "tarn/pool_use.h"
#include "thread/registry.h"

namespace tarn::internal {
namespace {

void add_heap(ThreadHeap& heap, Stats& stats, EndedSlabs& ended) {
  for (unsigned bin = 1; bin < kClassCount; ++bin) {
    const SizeClass size_class = static_cast<SizeClass>(bin);
    collect_pending_locked(heap, size_class, ended);
    ClassUse& use = stats.classes[bin];
    use.slabs += heap.slab_totals[bin].slabs;
    use.slab_bytes += bytes_of(heap.slab_totals[bin].pages);
    use.total_blocks += heap.slab_totals[bin].blocks;
    for (const Span* slab = heap.available[bin].first(); slab != nullptr; slab = slab->next)
      use.free_blocks += slab->free_count;
    if (heap.magazines[bin].blocks != nullptr)
      stats.classes[detail::class_of_bin[bin]].cached_blocks += static_cast<std::uint64_t>(
          __atomic_load_n(&heap.record(bin).top, __ATOMIC_RELAXED) - heap.magazines[bin].blocks);
    if (heap.calls == nullptr) continue;
    use.allocations += heap.calls[bin].allocations;
    use.deallocations += heap.calls[bin].deallocations;
    use.requested_bytes += heap.calls[bin].requested_bytes;
  }
  if (heap.calls != nullptr) {
    stats.large_calls.allocations += heap.calls[kClassCount].allocations;
    stats.large_calls.deallocations += heap.calls[kClassCount].deallocations;
    stats.large_calls.reallocations += heap.calls[kClassCount].reallocations;
    stats.large_calls.requested_bytes += heap.calls[kClassCount].requested_bytes;
  }
  stats.free_in_slabs_bytes += heap.spare_bytes;
  stats.counters.refills += heap.counters.refills;
  stats.counters.flushes += heap.counters.flushes;
  stats.counters.remote_batches += heap.counters.remote_batches;
  stats.counters.slabs_made += heap.counters.slabs_made;
  stats.counters.slabs_ended += heap.counters.slabs_ended;
}

}  // namespace

void collect_stats(Stats& stats) {
  std::memset(&stats, 0, sizeof stats);
  {
    EndedSlabs ended;
    registry.for_each_heap([&](ThreadHeap& heap) { add_heap(heap, stats, ended); });
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
  stats.live_threads = registry.live_threads();
  stats.peak_threads = registry.peak_threads();
  stats.are_calls_counted = configuration.is_on(Option::kCountCalls);
}

}  // namespace tarn::internal
