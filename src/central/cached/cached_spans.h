// Free spans of large blocks that an owner caches for its threads' next large blocks: the page cache has one
// lock for all threads, and a span that ends and begins writes an entry for each of its pages, twice.
//
// A slot holds a span's address and its number of pages, so that a thread that looks for one reads a single
// cache line and no span. Whoever takes a span out of its slot, by a compare and exchange, has it: a thread
// that begins a large block, one that has no empty slot for another span, or a look. So there is no lock,
// and nothing to hold across a fork.
//
// A span that lay in its slot from one look to the next goes back. So do the spans of an owner when its
// threads need memory that is not free in the page cache, and those of all owners before memory is refused.
// Invariant: the kind of a span in a slot is kCached.
// Threads: any, for any owner.
#pragma once
#include "central/slabs/slab_owner.h"
#include "page/give_back/returned_pages.h"

namespace tarn::internal {

/// The largest span that is cached, and the most pages of all that an owner caches, or twice its
/// kept_limit_bytes if that is less; threads that cache at once may exceed it by a span each.
inline constexpr PageCount kLargestCachedSpan = pages_for(std::size_t{8} << 20);
inline constexpr PageCount kMostCachedPages = pages_for(std::size_t{16} << 20);

/// \returns a span of kind kLarge with at least `pages` pages and at most half as many again, the smallest of
/// these; nullptr if there is none. Where one would then be made of memory that the process does not have, a
/// larger one goes back for it, or else all. \post is_zeroed is false.
Span* take_cached_span(SlabOwner& owner, PageCount pages, ReturnedPages& returned);

/// Caches a span of kind kLarge that ended, or frees it: where no slot is empty, each eighth span takes the
/// place of another.
void cache_span(SlabOwner& owner, Span* span, ReturnedPages& returned);

/// Frees all cached spans. \returns whether there were some.
bool end_cached_spans(SlabOwner& owner, ReturnedPages& returned);

/// Frees what was not needed since the last look.
void look_at_cached_spans(SlabOwner& owner, ReturnedPages& returned);

/// \returns the bytes of all cached spans, at some moment.
std::size_t cached_span_bytes(const SlabOwner& owner);

/// Calls visit(span) for each. \pre no thread takes or caches one.
template <typename Visit>
void for_each_cached_span(const SlabOwner& owner, Visit visit) {
  for (const std::atomic<std::uint64_t>& slot : owner.cached_spans.slots)
    if (const CachedSpan cached{slot.load(std::memory_order_acquire)}; !cached.is_none()) visit(cached);
}

}  // namespace tarn::internal
