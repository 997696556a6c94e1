#include "general/hardened/large_guards.h"

#include <atomic>

#include "base/bits.h"
#include "os/fatal.h"
#include "os/memory/memory.h"
#include "page/spans.h"

namespace tarn::internal {
namespace {

// A block keeps less than this share of its bytes when it is to become smaller: nobody else would use them.
constexpr unsigned kWorthShrinking = 8;

// `stride` of a span has how many OS pages are the block's own.
void set_usable_bytes(Span& span, std::size_t bytes) {
  __atomic_store_n(&span.stride, static_cast<std::uint32_t>(bytes / large_guard_bytes()), __ATOMIC_RELAXED);
}

char* end_of_block(const Span& span) { return span.start + usable_bytes_of_large(span); }
char* end_of_span(const Span& span) { return span.first_page() + span.bytes(); }

// Each is an area of the kernel's map, of which a process may have 65,530.
constexpr unsigned kMostGuarded = 16384;
constinit std::atomic<unsigned> guarded{0};
bool may_have_guards() { return guarded.load(std::memory_order_relaxed) <= kMostGuarded; }

void guard_the_end(const Span& span) {
  if (may_have_guards())
    os::make_guard(end_of_block(span), static_cast<std::size_t>(end_of_span(span) - end_of_block(span)));
}

// The pages that the block no longer has are zeros, and those that the span no longer has may be touched.
void shrink(Span& span, std::size_t usable, PageCount pages, ReturnedPages& returned) {
  os::purge(span.start + usable, usable_bytes_of_large(span) - usable);
  set_usable_bytes(span, usable);
  if (pages < span.pages && os::end_guard(span.first_page() + bytes_of(pages), bytes_of(span.pages - pages)))
    resize_span(&span, pages, returned);
  guard_the_end(span);
}

bool grow(Span& span, std::size_t usable, PageCount pages, ReturnedPages& returned) {
  const PageCount before = span.pages;
  if (pages > before && !resize_span(&span, pages, returned)) return false;
  char* const end = end_of_block(span);
  const bool has_grown = os::end_guard(end, static_cast<std::size_t>(span.start + usable - end));
  if (has_grown) {
    set_usable_bytes(span, usable);
  } else if (pages > before) {
    resize_span(&span, before, returned);
  }
  guard_the_end(span);
  return has_grown;
}

/// Threads: any.
class Quarantine {
 public:
  /// Takes in a span, and lets the oldest go where there are too many.
  void add(Span& span, ReturnedPages& returned) {
    bytes_.fetch_add(span.bytes(), std::memory_order_relaxed);
    end(slots_[next()].exchange(&span, std::memory_order_acq_rel), returned);
    // All but this one.
    for (unsigned i = 1; i < kSlots && bytes_.load(std::memory_order_relaxed) > kMostBytes; ++i)
      end_next(returned);
  }
  bool end_all() {
    const bool had_some = bytes_.load(std::memory_order_relaxed) != 0;
    ReturnedPages returned;
    for (unsigned i = 0; had_some && i < kSlots; ++i) end_next(returned);
    return had_some;
  }

 private:
  static constexpr unsigned kSlots = 64;
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20;

  unsigned next() { return turns_.fetch_add(1, std::memory_order_relaxed) % kSlots; }
  void end_next(ReturnedPages& returned) {
    end(slots_[next()].exchange(nullptr, std::memory_order_acq_rel), returned);
  }
  // A span whose pages the system does not let be touched again, since the process has too many areas, is
  // lost.
  void end(Span* span, ReturnedPages& returned) {
    if (span == nullptr) return;
    bytes_.fetch_sub(span->bytes(), std::memory_order_relaxed);
    if (!os::end_guard(span->first_page(), span->bytes())) return;
    span->start = span->first_page();
    free_span(span, returned);
  }

  std::atomic<Span*> slots_[kSlots] = {};
  std::atomic<unsigned> turns_{0};
  std::atomic<std::size_t> bytes_{0};
};
constinit Quarantine quarantine;

}  // namespace

void place_between_guards(Span& span, std::size_t size, std::size_t alignment) {
  const std::size_t guard = large_guard_bytes();
  // Of OS pages of 64 KiB the block's first one must be the span's.
  guarded.fetch_add(1, std::memory_order_relaxed);
  if (alignment <= guard && guard < kPageBytes) {
    if (may_have_guards()) os::make_guard(span.start, guard);
    span.start += guard;
  }
  set_usable_bytes(span, round_up(size, guard));
  guard_the_end(span);
}

bool resize_between_guards(Span& span, std::size_t size, ReturnedPages& returned) {
  const std::size_t guard = large_guard_bytes(), usable = round_up(size, guard);
  const std::size_t before = static_cast<std::size_t>(span.start - span.first_page());
  const PageCount pages = pages_for(before + usable + guard);
  if (usable > usable_bytes_of_large(span)) return grow(span, usable, pages, returned);
  if (usable < usable_bytes_of_large(span) - usable_bytes_of_large(span) / kWorthShrinking)
    shrink(span, usable, pages, returned);
  return true;
}

void quarantine_large(Span& span, ReturnedPages& returned) {
  SpanKind freed = SpanKind::kCached;
  SpanKind before{};
  __atomic_exchange(&span.kind, &freed, &before, __ATOMIC_ACQ_REL);
  if (before != SpanKind::kLarge) os::fatal("double free", span.start);
  guarded.fetch_sub(1, std::memory_order_relaxed);
  os::purge(span.start, usable_bytes_of_large(span));
  os::make_guard(span.first_page(), span.bytes());
  quarantine.add(span, returned);
}

bool end_quarantine() { return detail::kIsHardened && quarantine.end_all(); }

}  // namespace tarn::internal
