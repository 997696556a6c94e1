// Sums over the spans of a snapshot, and the library's own figures.
#include <algorithm>

#include "observer/snapshot/reading.h"

namespace tarn::observer {
namespace {

constexpr unsigned kFills = std::size(ClassUse{}.bytes_by_fill);

void add_slab(Snapshot& snapshot, const Span& span) {
  ClassUse& of_class = snapshot.classes[span.size_class];
  of_class.slabs += 1;
  of_class.slab_bytes += span.bytes;
  of_class.blocks += span.block_count;
  of_class.live += span.live;
  of_class.free += span.free();
  const std::uint64_t fill = std::uint64_t{span.live} * kFills / span.block_count;
  of_class.bytes_by_fill[std::min<std::uint64_t>(fill, kFills - 1)] += span.bytes;
  if (span.owner == kNone) return;
  Owner& owner = snapshot.owners[span.owner];
  owner.live_bytes += span.live_bytes;
  owner.free_bytes += span.free() * span.block_bytes;
}

void add_to_pool(Snapshot& snapshot, const Span& span) {
  Pool& pool = snapshot.pools[span.pool];
  pool.live += span.live;
  pool.live_bytes += span.live_bytes;
  pool.cached += span.cached;
  if (pool.block_bytes != 0) pool.capacity += span.block_count;
  if (span.use == SpanUse::kSlab) pool.mapped_bytes += span.bytes;
}

/// What a pool has that is not live, but for the gaps around its blocks.
std::uint64_t free_bytes_of(const Span& span) {
  if (span.use == SpanUse::kMixedPage || span.use == SpanUse::kSparePage) return span.bytes - span.live_bytes;
  return (span.cached + span.free()) * span.block_bytes;
}

void add_span(Snapshot& snapshot, const Span& span) {
  Totals& totals = snapshot.totals;
  totals.mapped_bytes += span.bytes;
  totals.live_blocks += span.live;
  totals.live_bytes += span.live_bytes;
  switch (span.use) {
    case SpanUse::kSlab:
      add_slab(snapshot, span);
      totals.free_in_slabs_bytes += span.free() * span.block_bytes;
      break;
    case SpanUse::kSpareSlab:
    case SpanUse::kCachedLarge:
      totals.free_in_slabs_bytes += span.bytes;
      break;
    case SpanUse::kLarge:
      ++totals.large_blocks;
      totals.large_bytes += span.bytes;
      break;
    case SpanUse::kHandleGroup:
    case SpanUse::kHeapBlock:
    case SpanUse::kMixedPage:
    case SpanUse::kSparePage:
      totals.free_in_pools_bytes += free_bytes_of(span);
      break;
    case SpanUse::kHandleSlots:
    case SpanUse::kOther:
      break;
  }
  if (span.pool != kNone) add_to_pool(snapshot, span);
}

void add_counter(Snapshot& snapshot, std::string_view name, std::uint64_t value) {
  snapshot.counters.push_back({std::string(name), value});
}

std::uint64_t limit_in(std::uint64_t value) { return value == UINT64_MAX ? 0 : value; }

void add_counters(Reading& reading) {
  Snapshot& snapshot = reading.snapshot;
  const Layout& layout = reading.layout;
  const Address cache = layout.root("page_cache"), limit = layout.root("memory_limit");
  layout.for_each_field("count.", [&](std::string_view name, Field field) {
    add_counter(snapshot, name, reading.number(cache, field));
  });
  std::uint64_t refills = 0, flushes = 0, batches = 0, made = 0, ended = 0, live_threads = 0;
  for (const Thread& thread : snapshot.threads) {
    refills += thread.refills;
    flushes += thread.flushes;
    live_threads += thread.is_alive ? 1 : 0;
  }
  for (const Owner& owner : snapshot.owners) {
    batches += owner.remote_batches;
    made += owner.slabs_made;
    ended += owner.slabs_ended;
  }
  add_counter(snapshot, "refills", refills);
  add_counter(snapshot, "flushes", flushes);
  add_counter(snapshot, "remote_batches", batches);
  add_counter(snapshot, "slabs_made", made);
  add_counter(snapshot, "slabs_ended", ended);
  add_counter(snapshot, "live_threads", live_threads);
  add_counter(snapshot, "peak_threads", reading.number_of(layout.root("registry"), "registry.peak_threads"));
  add_counter(snapshot, "mapped_bytes", reading.number_of(cache, "page_cache.used"));
  add_counter(snapshot, "peak_mapped_bytes", reading.number_of(cache, "page_cache.peak_used"));
  add_counter(snapshot, "held_bytes", reading.number_of(limit, "limit.held"));
  add_counter(snapshot, "soft_limit_bytes", limit_in(reading.number_of(limit, "limit.soft")));
  add_counter(snapshot, "hard_limit_bytes", limit_in(reading.number_of(limit, "limit.hard")));
  add_counter(snapshot, "soft_limit_crossings", reading.number_of(limit, "limit.crossings"));
  add_counter(snapshot, "hard_limit_refusals", reading.number_of(limit, "limit.refusals"));
}

void add_options(Reading& reading) {
  const Address values = reading.layout.root("configuration");
  reading.layout.for_each_field("opt.", [&](std::string_view key, Field field) {
    reading.snapshot.options.push_back(
        {std::string(key), static_cast<std::int64_t>(reading.number(values, field))});
  });
  std::ranges::sort(reading.snapshot.options, {}, &OptionValue::key);
}

}  // namespace

void sum_up(Reading& reading) {
  Snapshot& snapshot = reading.snapshot;
  for (Pool& pool : snapshot.pools) pool.capacity = 0;
  for (const Span& span : snapshot.spans) add_span(snapshot, span);
  for (const Span& span : reading.spans_in_blocks)
    if (span.pool != kNone) add_to_pool(snapshot, span);
  for (const ClassUse& of_class : snapshot.classes) {
    snapshot.totals.in_threads_bytes += of_class.in_threads * of_class.block_bytes;
    snapshot.totals.depot_bytes += of_class.parked * of_class.block_bytes;
  }
  for (const Owner& owner : snapshot.owners) snapshot.totals.in_threads_bytes += owner.cached_block_bytes;
  for (const FreeRun& run : snapshot.free_runs)
    (run.is_dirty ? snapshot.totals.free_dirty_bytes : snapshot.totals.free_clean_bytes) += run.bytes;
  snapshot.totals.record_bytes = reading.number_of(reading.layout.root("metadata"), "metadata.used");
  add_counters(reading);
  add_options(reading);
}

}  // namespace tarn::observer
