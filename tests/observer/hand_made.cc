// Places spans one behind the other and sums them up.
#include "hand_made.h"

#include <algorithm>

namespace tarn::observer::test {
namespace {

void set_first_live(Snapshot& snapshot, Span& span) {
  span.first_word = static_cast<std::uint32_t>(snapshot.live_words.size());
  snapshot.live_words.resize(snapshot.live_words.size() + word_count_of(span.block_count));
  for (std::uint32_t i = 0; i < span.live; ++i)
    snapshot.live_words[span.first_word + i / 64] |= std::uint64_t{1} << i % 64;
}

void add_to_class(ClassUse& sum, const Span& span) {
  ++sum.slabs;
  sum.slab_bytes += span.bytes;
  sum.blocks += span.block_count;
  sum.live += span.live;
  sum.in_threads += span.cached;
  sum.free += span.free();
  const std::uint64_t eighth = span.block_count == 0 ? 0 : 8 * std::uint64_t{span.live} / span.block_count;
  sum.bytes_by_fill[std::min<std::uint64_t>(eighth, 7)] += span.bytes;
}

void add_to_owner(Owner& sum, const Span& span) {
  sum.slab_bytes += span.bytes;
  sum.live_bytes += span.live_bytes;
  sum.free_bytes += std::uint64_t{span.free()} * span.block_bytes;
  if (span.use == SpanUse::kSpareSlab) sum.spare_bytes += span.bytes;
}

void add_to_pool(Pool& sum, const Span& span) {
  sum.live += span.live;
  sum.live_bytes += span.live_bytes;
  sum.cached += span.cached;
  sum.mapped_bytes += span.bytes;
  if (sum.block_bytes != 0) sum.capacity += span.block_count;
}

void add_to_totals(Totals& sum, const Span& span) {
  sum.live_blocks += span.live;
  sum.live_bytes += span.live_bytes;
  sum.mapped_bytes += span.bytes;
  const std::uint64_t cached = std::uint64_t{span.cached} * span.block_bytes;
  const std::uint64_t free = span.bytes - std::min(span.bytes, span.live_bytes + cached);
  if (span.use == SpanUse::kLarge) {
    ++sum.large_blocks;
    sum.large_bytes += span.bytes;
  } else if (span.pool != kNone) {
    sum.free_in_pools_bytes += free;
  } else {
    sum.in_threads_bytes += cached;
    sum.free_in_slabs_bytes += free;
  }
}

}  // namespace

HandMade::HandMade() {
  snapshot_.pid = 4711;
  snapshot_.program = "game_server";
  snapshot_.library = "/usr/lib/libtarn.so";
  snapshot_.library_version = "0.2.0";
  snapshot_.time = 1.7e9;
  snapshot_.page_bytes = kPage;
  snapshot_.chunk_bytes = kChunk;
  snapshot_.classes.emplace_back();
}

std::uint32_t HandMade::add_class(std::uint64_t block_bytes) {
  ClassUse& one = snapshot_.classes.emplace_back();
  one.block_bytes = one.stride = block_bytes;
  return static_cast<std::uint32_t>(snapshot_.classes.size() - 1);
}

std::uint32_t HandMade::add_owner() {
  snapshot_.owners.emplace_back().record = 0x1000 + snapshot_.owners.size();
  return static_cast<std::uint32_t>(snapshot_.owners.size() - 1);
}

std::uint32_t HandMade::add_thread(std::uint32_t owner, std::uint64_t cached_bytes) {
  Thread thread;
  thread.owner = owner;
  thread.number = static_cast<std::uint32_t>(snapshot_.threads.size() + 1);
  thread.is_alive = true;
  thread.cached_bytes = cached_bytes;
  snapshot_.threads.push_back(thread);
  if (owner != kNone) ++snapshot_.owners[owner].threads;
  return static_cast<std::uint32_t>(snapshot_.threads.size() - 1);
}

std::uint32_t HandMade::add_pool(PoolKind kind, const std::string& name, std::uint64_t block_bytes) {
  constexpr const char* kKindNames[] = {"fixed pool", "buffer pool", "object pool", "handle pool",
                                        "heap",       "arenas",      "pool"};
  Pool& pool = snapshot_.pools.emplace_back();
  pool.kind = kind;
  pool.kind_name = kKindNames[static_cast<std::size_t>(kind)];
  pool.name = name;
  pool.number = snapshot_.pools.size();
  pool.block_bytes = block_bytes;
  return static_cast<std::uint32_t>(snapshot_.pools.size() - 1);
}

Span& HandMade::append(Span span) {
  span.start = next_;
  if (span.first_block == 0) span.first_block = next_;
  next_ += span.bytes;
  set_first_live(snapshot_, span);
  return snapshot_.spans.emplace_back(span);
}

Span& HandMade::add_slab(std::uint32_t size_class, std::uint32_t live, std::uint32_t owner) {
  Span span;
  span.use = live == 0 ? SpanUse::kSpareSlab : SpanUse::kSlab;
  span.bytes = kPage;
  span.size_class = static_cast<std::uint8_t>(size_class);
  span.block_bytes = snapshot_.classes[size_class].block_bytes;
  span.stride = static_cast<std::uint32_t>(span.block_bytes);
  span.block_count = static_cast<std::uint32_t>(kPage / span.block_bytes);
  span.live = live;
  span.live_bytes = live * span.block_bytes;
  span.owner = owner;
  return append(span);
}

Span& HandMade::add_slabs(std::uint32_t count, std::uint32_t size_class, std::uint32_t live,
                          std::uint32_t owner) {
  for (std::uint32_t i = 1; i < count; ++i) add_slab(size_class, live, owner);
  return add_slab(size_class, live, owner);
}

Span& HandMade::add_large(std::uint64_t bytes, std::uint64_t live_bytes) {
  Span span;
  span.use = live_bytes == 0 ? SpanUse::kCachedLarge : SpanUse::kLarge;
  span.bytes = bytes;
  span.block_bytes = live_bytes == 0 ? bytes : live_bytes;
  span.block_count = 1;
  span.live = live_bytes == 0 ? 0 : 1;
  span.cached = 1 - span.live;
  span.live_bytes = live_bytes;
  return append(span);
}

Span& HandMade::add_pool_span(std::uint32_t pool, SpanUse use, std::uint64_t bytes, std::uint32_t live) {
  Span span;
  span.use = use;
  span.bytes = bytes;
  span.pool = pool;
  span.block_bytes = snapshot_.pools[pool].block_bytes;
  span.stride = static_cast<std::uint32_t>(span.block_bytes);
  span.block_count = static_cast<std::uint32_t>(bytes / span.block_bytes);
  span.live = live;
  span.live_bytes = live * span.block_bytes;
  return append(span);
}

Span& HandMade::add_mixed_page(std::uint32_t pool, std::uint64_t bytes,
                               const std::vector<std::uint64_t>& sizes) {
  Span span;
  span.use = SpanUse::kMixedPage;
  span.bytes = bytes;
  span.pool = pool;
  span.first_mixed = static_cast<std::uint32_t>(snapshot_.mixed_blocks.size());
  Address at = next_;
  for (const std::uint64_t size : sizes) {
    snapshot_.mixed_blocks.push_back({at, size, static_cast<std::uint32_t>(snapshot_.spans.size())});
    span.live_bytes += size;
    at += (size + 31) / 16 * 16;
  }
  Span& added = append(span);
  added.live = static_cast<std::uint32_t>(sizes.size());
  return added;
}

void HandMade::add_free(std::uint64_t bytes, bool is_dirty) {
  snapshot_.free_runs.push_back({next_, bytes, is_dirty});
  next_ += bytes;
}

void HandMade::set_counter(const std::string& name, std::uint64_t value) {
  snapshot_.counters.push_back({name, value});
}

void HandMade::set_option(const std::string& key, std::int64_t value) {
  snapshot_.options.push_back({key, value});
}

Snapshot HandMade::snapshot() const {
  Snapshot made = snapshot_;
  for (const Span& span : made.spans) {
    if (span.pool == kNone && span.size_class != 0) add_to_class(made.classes[span.size_class], span);
    if (span.owner != kNone) add_to_owner(made.owners[span.owner], span);
    if (span.pool != kNone) add_to_pool(made.pools[span.pool], span);
    add_to_totals(made.totals, span);
  }
  for (const FreeRun& run : made.free_runs)
    (run.is_dirty ? made.totals.free_dirty_bytes : made.totals.free_clean_bytes) += run.bytes;
  for (const Thread& thread : made.threads) made.totals.in_threads_bytes += thread.cached_bytes;
  return made;
}

Residency all_resident(const Snapshot& snapshot) {
  std::vector<ResidentRun> runs;
  for (const Span& span : snapshot.spans) runs.push_back({span.start, span.end()});
  for (const FreeRun& run : snapshot.free_runs)
    if (run.is_dirty) runs.push_back({run.start, run.start + run.bytes});
  std::sort(runs.begin(), runs.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
  std::vector<ResidentRun> joined;
  std::uint64_t bytes = 0;
  for (const ResidentRun& run : runs) {
    bytes += run.end - run.start;
    if (!joined.empty() && joined.back().end == run.start)
      joined.back().end = run.end;
    else
      joined.push_back(run);
  }
  return Residency(std::move(joined), bytes, 0);
}

Snapshot make_mixed_heap() {
  HandMade made;
  const std::uint32_t small = made.add_class(48), middle = made.add_class(1024), big = made.add_class(4096);
  const std::uint32_t first = made.add_owner(), second = made.add_owner();
  made.add_thread(first, 4096);
  made.add_thread(second, 8192);
  const std::uint32_t packets = made.add_pool(PoolKind::kFixed, "packets", 2048);
  const std::uint32_t sessions = made.add_pool(PoolKind::kHeap, "sessions");
  for (std::uint32_t i = 0; i < 40; ++i) made.add_slab(small, i % 8 == 0 ? 1365 : 3, first);
  for (std::uint32_t i = 0; i < 24; ++i) made.add_slab(middle, i * 64 / 24 + 1, second);
  made.add_large(10 * kPage, 9 * kPage + 100);
  made.add_free(8 * kPage, true);
  made.add_free(100 * kPage, false);
  made.add_slabs(6, big, 16, second);
  made.add_slab(big, 0, second);
  made.add_pool_span(packets, SpanUse::kSlab, 4 * kPage, 100);
  for (std::uint32_t i = 0; i < 4; ++i) made.add_mixed_page(sessions, 4096, {100, 200, 64});
  made.add_large(5 * kPage, 0);
  return made.snapshot();
}

}  // namespace tarn::observer::test
