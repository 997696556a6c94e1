#include "central/cached/cached_spans.h"

#include "page/give_back/page_cache.h"
#include "page/spans.h"

namespace tarn::internal {
namespace {

using Slot = std::atomic<std::uint64_t>;

// Programs ask for a buffer of another size as often as for the same one. \pre it has as many pages.
bool fits(CachedSpan cached, PageCount pages) {
  return number_of(cached.pages() - pages) <= number_of(pages) / 2;
}

// \returns whether the caller now has the span.
bool take_out(Slot& slot, CachedSpan cached) {
  std::uint64_t value = cached.value;
  return slot.compare_exchange_strong(value, 0, std::memory_order_acquire, std::memory_order_relaxed);
}

void free_cached(CachedSpan cached, ReturnedPages& returned) {
  if (!cached.is_none()) free_span(cached.span(), returned);
}

// As much as a thread may keep, for each of two threads.
PageCount most_pages(const SlabOwner& owner) {
  const PageCount by_limit = pages_for(2 * owner.kept_limit_bytes);
  return by_limit < kMostCachedPages ? by_limit : kMostCachedPages;
}

PageCount cached_pages(const SlabOwner& owner) {
  PageCount pages{0};
  for (const Slot& slot : owner.cached_spans.slots)
    pages += CachedSpan{slot.load(std::memory_order_relaxed)}.pages();
  return pages;
}

// \returns whether there was an empty slot.
bool put(CachedSpans& cached, CachedSpan span) {
  for (Slot& slot : cached.slots) {
    std::uint64_t none = 0;
    if (slot.load(std::memory_order_relaxed) == 0 &&
        slot.compare_exchange_strong(none, span.value, std::memory_order_release, std::memory_order_relaxed))
      return true;
  }
  return false;
}

// Where sizes are many, what is cached is seldom of the size that is wanted next, and to replace it at each
// free would cost more than the hits save.
constexpr std::uint32_t kFreesPerReplacement = 8;

// \param pages of all cached spans and the new one.
void replace_one_in_turn(SlabOwner& owner, CachedSpan span, PageCount pages, ReturnedPages& returned) {
  CachedSpans& cached = owner.cached_spans;
  const std::uint32_t turn = ++cached.turns;
  if (turn % kFreesPerReplacement != 0 || span.pages() > most_pages(owner))
    return free_cached(span, returned);
  for (unsigned i = 0; i < CachedSpans::kSlots && (i == 0 || pages > most_pages(owner)); ++i) {
    Slot& slot = cached.slots[(turn / kFreesPerReplacement + i) % CachedSpans::kSlots];
    const CachedSpan other{slot.exchange(span.value, std::memory_order_acq_rel)};
    span = {};
    pages -= other.pages() < pages ? other.pages() : pages;
    free_cached(other, returned);
  }
}

struct Best {
  Slot* slot = nullptr;                     // nullptr: none is enough
  CachedSpan span{~std::uint64_t{0} >> 1};  // larger than all
  bool are_some = false;
};

// \returns the smallest span that has `pages` pages.
Best find_best(CachedSpans& cached, PageCount pages) {
  Best best;
  for (Slot& slot : cached.slots) {
    const CachedSpan span{slot.load(std::memory_order_relaxed)};
    best.are_some |= !span.is_none();
    if (span.pages() < pages || span.pages() >= best.span.pages()) continue;
    best.slot = &slot;
    best.span = span;
  }
  return best;
}

}  // namespace

Span* take_cached_span(SlabOwner& owner, PageCount pages, ReturnedPages& returned) {
  Best best = find_best(owner.cached_spans, pages);
  // Another thread may take it first; each time that happens, a thread got what it wanted.
  for (; best.slot != nullptr && fits(best.span, pages); best = find_best(owner.cached_spans, pages)) {
    if (!take_out(*best.slot, best.span)) continue;
    Span* const span = best.span.span();
    span->kind = SpanKind::kLarge;
    span->is_zeroed = false;
    ++owner.slow_calls;
    return span;
  }
  if (!best.are_some || page_cache.dirty_bytes() >= bytes_of(pages)) return nullptr;
  if (best.slot == nullptr)
    end_cached_spans(owner, returned);  // together some may be large enough
  else if (take_out(*best.slot, best.span))
    free_cached(best.span, returned);
  return nullptr;
}

void cache_span(SlabOwner& owner, Span* span, ReturnedPages& returned) {
  if (span->pages > kLargestCachedSpan || !may_keep_memory() ||
      owner.threads.load(std::memory_order_relaxed) == 0)
    return free_span(span, returned);
  owner.is_trimmed = false;
  ++owner.slow_calls;
  const PageCount pages = cached_pages(owner) + span->pages;
  span->kind = SpanKind::kCached;
  if (pages <= most_pages(owner) && put(owner.cached_spans, CachedSpan::of(*span)))
    return returned.note_kept(bytes_of(pages) * owners_in_use.load(std::memory_order_relaxed));
  replace_one_in_turn(owner, CachedSpan::of(*span), pages, returned);
}

bool end_cached_spans(SlabOwner& owner, ReturnedPages& returned) {
  bool were_some = false;
  for (Slot& slot : owner.cached_spans.slots) {
    if (slot.load(std::memory_order_relaxed) == 0) continue;
    free_cached(CachedSpan{slot.exchange(0, std::memory_order_acquire)}, returned);
    were_some = true;
  }
  return were_some;
}

void look_at_cached_spans(SlabOwner& owner, ReturnedPages& returned) {
  for (Slot& slot : owner.cached_spans.slots) {
    const CachedSpan cached{slot.load(std::memory_order_relaxed)};
    if (cached.is_none()) continue;
    if (cached.was_seen()) {
      if (take_out(slot, cached)) free_cached(cached, returned);
    } else {
      std::uint64_t value = cached.value;
      slot.compare_exchange_strong(value, cached.seen().value, std::memory_order_relaxed);
    }
  }
}

std::size_t cached_span_bytes(const SlabOwner& owner) { return bytes_of(cached_pages(owner)); }

}  // namespace tarn::internal
