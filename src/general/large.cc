#include "general/large.h"

#include <atomic>
#include <cerrno>
#include <cstring>

#include "central/cached/cached_spans.h"
#include "central/owners.h"
#include "general/hardened/large_guards.h"
#include "general/options/memory_limits.h"
#include "general/options/setup.h"
#include "os/fatal.h"
#include "os/memory/memory.h"
#include "os/process/process.h"
#include "page/give_back/page_cache.h"
#include "page/spans.h"
#include "thread/observation/observation.h"
#include "thread/registry.h"
#include "thread/slow_call.h"
#include "thread/watch/counted_call.h"

namespace tarn::internal {
namespace {

// Only whole chunks are moved: then the kernel moves entries of the upper page table, and its map of the
// process has at most one area per chunk, however long the program runs. Below two chunks, copying costs
// less.
constexpr std::size_t kWorthMoving = 2 * kChunkBytes;
constexpr std::size_t kMostRoom = std::size_t{64} << 20;

// A block of this size leaves at most half of its memory in a huge page that it does not fill.
constexpr std::size_t kSmallestDense = 2 * kChunkBytes;

// Of threads without a heap.
constinit std::atomic<std::size_t> live_count{0}, live_bytes{0}, allocations{0};

// A block may be freed by another thread than the one that allocated it: so counts of live blocks mean
// something only as sums, modulo 2^64.
void note(std::size_t blocks, std::size_t bytes) {
  if (ThreadHeap* const heap = this_heap(); heap != nullptr) [[likely]] {
    heap->large.live_count += blocks;
    heap->large.live_bytes += bytes;
    return;
  }
  live_count.fetch_add(blocks, std::memory_order_relaxed);
  live_bytes.fetch_add(bytes, std::memory_order_relaxed);
}

void note_begin(const Span& span) {
  note(1, span.bytes());
  if (ThreadHeap* const heap = this_heap(); heap != nullptr) [[likely]]
    ++heap->large.allocations;
  else
    allocations.fetch_add(1, std::memory_order_relaxed);
}

void note_end(const Span& span) { note(std::size_t{0} - 1, std::size_t{0} - span.bytes()); }

[[gnu::noinline]] void note_watched(Span& span, std::size_t size) {
  if (!observation.watches_this_thread() || !observation.is_sampled(size)) return;
  span.sampled_count.store(1, std::memory_order_relaxed);
  observation.note_allocated(span.start, size);
}

void forget_sample(Span& span) {
  if (!span.has_samples()) return;
  span.sampled_count.store(0, std::memory_order_relaxed);
  observation.note_freed(span.start);
}

void move_sample(Span& from, Span& to) {
  const std::uint32_t count = from.sampled_count.exchange(0, std::memory_order_relaxed);
  to.sampled_count.store(count, std::memory_order_relaxed);
  if (count != 0) observation.note_moved(from.start, to.start);
}

// A caller that does not ask for zeros must write what it reads, mostly from the front to the end. Tables
// that are to be zeroed may stay mostly unwritten.
Density density_of_written(std::size_t size) {
  return size >= kSmallestDense && page_cache.uses_huge_pages(size) ? Density::kDense : Density::kSparse;
}

// \returns the owner that caches spans for this thread; nullptr: the thread has no heap.
SlabOwner* owner_of_this_thread() {
  const ThreadHeap* const heap = this_heap();
  return heap == nullptr ? nullptr : &owner_near(*heap);
}

// \returns nullptr when a span is to be made; then none is cached that could be a part of it.
Span* take_cached(const SpanRequest& request) {
  SlabOwner* const owner = owner_of_this_thread();
  if (owner == nullptr) return nullptr;
  ReturnedPages returned;
  if (request.pages <= kLargestCachedSpan && request.alignment == kPageBytes && request.room == PageCount{0})
    return take_cached_span(*owner, request.pages, returned);
  if (page_cache.dirty_bytes() < bytes_of(request.pages)) end_cached_spans(*owner, returned);
  return nullptr;
}

void cache_or_free(Span* span, ReturnedPages& returned) {
  SlabOwner* const owner = owner_of_this_thread();
  owner == nullptr ? free_span(span, returned) : cache_span(*owner, span, returned);
}

// Cached spans may lie behind a block that grows. \returns whether there were some.
bool end_cached() {
  SlabOwner* const owner = owner_of_this_thread();
  ReturnedPages returned;
  return owner != nullptr && end_cached_spans(*owner, returned);
}

// \returns whether memory was given back for what a limit has just refused.
bool has_found_memory() {
  const Refusal refusal = MemoryLimit::take_refusal();
  return refusal.by != Refusal::By::kNobody && find_memory(refusal);
}

// Moves chunk by chunk: the kernel's areas begin and end at chunks. \returns whether no page was copied.
bool move_chunks(char* from, char* to, std::size_t bytes) {
  bool all_moved = address_of(to) % kChunkBytes == 0;
  for (std::size_t at = 0; at < bytes; at += kChunkBytes) {
    if (all_moved && os::move_pages(from + at, to + at, kChunkBytes)) continue;
    all_moved = false;
    std::memcpy(to + at, from + at, kChunkBytes);
  }
  return all_moved;
}

constexpr std::size_t largest_large() {
  // The pages of a guarded block are counted in 32 bits.
  return detail::kIsHardened ? std::size_t{1} << 43 : kLargestRequest;
}

}  // namespace

std::size_t step_of_large() { return detail::kIsHardened ? os::page_bytes() : kPageBytes; }

std::size_t room_to_grow(std::size_t size) { return size < kMostRoom ? size : kMostRoom; }

Span* allocate_large(std::size_t size, std::size_t alignment, std::size_t room, Density density) {
  if (size > largest_large() || alignment > kLargestRequest) return nullptr;
  const SpanRequest request{.pages = pages_for((size == 0 ? 1 : size) + 2 * large_guard_bytes()),
                            .kind = SpanKind::kLarge,
                            .density = density,
                            .alignment = alignment < kPageBytes ? kPageBytes : alignment,
                            .room = pages_for(room)};
  Span* span = take_cached(request);
  if (span == nullptr) span = take_within_limits([&] { return allocate_span(request); });
  // Spans that owners cache count against the limit and hold pages: the last that can be given up.
  if (span == nullptr && owners.end_all_cached_spans()) span = allocate_span(request);
  if (span == nullptr) return nullptr;
  if constexpr (detail::kIsHardened) place_between_guards(*span, size == 0 ? 1 : size, alignment);
  note_begin(*span);
  return span;
}

void* out_of_memory() {
  errno = ENOMEM;
  return nullptr;
}

void* allocate_large_block(std::size_t size, std::size_t alignment, std::size_t room, bool* is_zeroed) {
  ThreadHeap* const heap = heap_of_this_thread();  // also reads the options
  const Density density = is_zeroed == nullptr ? density_of_written(size) : Density::kSparse;
  Span* const span = allocate_large(size, alignment, room, density);
  if (span == nullptr) return out_of_memory();
  if (is_zeroed != nullptr) *is_zeroed = span->is_zeroed;
  if (is_disturbed()) [[unlikely]]
    note_watched(*span, size);
  count_call(heap, [&](ThreadCallCounts& calls) { calls.large.add_allocation(size, span->bytes()); });
  return span->start;
}

void deallocate_large(Span* span, void* block) {
  if (span->start != block) return os::misuse("free of a pointer into a block", block);
  count_call(this_heap(), [&](ThreadCallCounts& calls) { calls.large.add_deallocation(span->bytes()); });
  ReturnedPages returned;
  memory_limit.note_freed();
  note_end(*span);
  forget_sample(*span);
  if constexpr (detail::kIsHardened) return quarantine_large(*span, returned);
  cache_or_free(span, returned);
}

bool resize_large(Span* span, std::size_t size) {
  if (size > largest_large()) return false;
  ReturnedPages returned;
  const std::size_t before = span->bytes();
  const auto resize = [&] {
    return detail::kIsHardened ? resize_between_guards(*span, size, returned)
                               : resize_span(span, pages_for(size), returned);
  };
  static_cast<void>(MemoryLimit::take_refusal());  // of a request that was served in another way
  if (!resize() && !(has_found_memory() && resize()) && !(end_cached() && resize())) return false;
  note(0, span->bytes() - before);
  answer_limits();
  return true;
}

namespace {

// A block between guards is an area of the kernel's map of its own, and moves as one.
Span* move_between_guards(Span* span, std::size_t size) {
  constexpr std::size_t kWorthAnArea = std::size_t{1} << 20;
  const std::size_t usable = usable_bytes_of_large(*span);
  if (usable < kWorthAnArea || size < usable || os::address_space_limit() != SIZE_MAX) return nullptr;
  Span* const moved = allocate_large(size, kLargeAlignment, room_to_grow(size), density_of_written(size));
  if (moved == nullptr) return nullptr;
  if (!os::move_pages(span->start, moved->start, usable)) std::memcpy(moved->start, span->start, usable);
  ReturnedPages returned;
  note_end(*span);
  move_sample(*span, *moved);
  quarantine_large(*span, returned);
  return moved;
}

}  // namespace

Span* move_large(Span* span, std::size_t size) {
  if (detail::kIsHardened) return move_between_guards(span, size);
  const std::size_t bytes = span->bytes(), moved_bytes = bytes & ~(kChunkBytes - 1);
  if (bytes < kWorthMoving || size < bytes || address_of(span->start) % kChunkBytes != 0) return nullptr;
  // Under this limit the kernel would count both ranges and refuse the move.
  if (os::address_space_limit() != SIZE_MAX) return nullptr;
  const Density density = density_of_written(size);
  Span* const moved = allocate_large(size, kPageBytes, room_to_grow(size), density);
  if (moved == nullptr) return nullptr;
  const bool all_moved = move_chunks(span->start, moved->start, moved_bytes);
  // What moves takes its advice with it.
  if (all_moved) page_cache.set_density(moved->start, pages_for(moved_bytes), density);
  std::memcpy(moved->start + moved_bytes, span->start + moved_bytes, bytes - moved_bytes);
  ReturnedPages returned;
  note_end(*span);
  move_sample(*span, *moved);
  if (all_moved) {
    free_moved_span(span, pages_for(moved_bytes), returned);
  } else {
    free_span(span, returned);
  }
  return moved;
}

// Threads go on while their heaps are visited one after the other: so a block may be missed that is freed in
// a heap visited later.
LargeStats large_stats() {
  LargeStats stats{live_count.load(std::memory_order_relaxed), live_bytes.load(std::memory_order_relaxed),
                   allocations.load(std::memory_order_relaxed)};
  registry.for_each_heap([&stats](const ThreadHeap& heap) {
    stats.live_count += heap.large.live_count;
    stats.live_bytes += heap.large.live_bytes;
    stats.allocations += heap.large.allocations;
  });
  for (std::size_t* const sum : {&stats.live_count, &stats.live_bytes})
    if (*sum > SIZE_MAX / 2) *sum = 0;
  return stats;
}

}  // namespace tarn::internal
