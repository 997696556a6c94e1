// The only interface for allocating and freeing spans: a span's pages, record, bits and page map entries are
// made and given back together.
//
// The page map finds a span from its allocation until its pages are freed. Frees of its blocks take the slow
// door until set_record() names the record that takes them.
//
// Threads: any. allocate_span may be called under any lock below kPageGrowth. Pages are freed with no lock
// held (returned_pages.h).
#pragma once
#include <cstddef>
#include <cstdint>

#include "page/give_back/returned_pages.h"
#include "page/spans/chunk.h"
#include "page/spans/span.h"

namespace tarn::internal {

struct SpanRequest {
  PageCount pages;
  SpanKind kind;
  std::uint32_t bitmap_words = 0;
  Density density = Density::kSparse;
  std::size_t alignment = kPageBytes;  // bytes, a power of two
  PageCount room{0};                   // pages that should be free behind a span that will grow
  void* pool = nullptr;                // for kPool: the pool that the span belongs to
};

/// \returns nullptr when memory is refused. `start`, `pages`, `kind`, `pool` and `is_zeroed` are set; all
/// bits are zero. \cost a lock or two and bitmap steps.
Span* allocate_span(const SpanRequest& request);

/// Ends a span. \pre it is in no list, and no thread frees a block of it.
inline void free_span(Span* span, ReturnedPages& returned) { returned.add(span); }

/// Frees a span whose first `moved` pages were moved away: those have no contents and no memory behind them.
void free_moved_span(Span* span, PageCount moved, ReturnedPages& returned);

/// Makes a span longer or shorter in place. \returns false when that is impossible.
bool resize_span(Span* span, PageCount pages, ReturnedPages& returned);

/// Names the record that takes the span's blocks back: its byte offset in a thread's cache.
void set_record(Span* span, detail::RecordPlace record);

/// Gives a span room for `bitmap_words` words, in another record if needed; the old record is then invalid.
/// \returns nullptr when memory is refused, and nothing changed. \pre the span is in no list and has no
/// blocks.
Span* give_room_for_bits(Span* span, std::uint32_t bitmap_words);

/// Makes a span over the caller's memory, which the page map does not know. \returns nullptr when memory is
/// refused.
Span* make_span_over(char* start, std::uint32_t bitmap_words, void* pool);
void end_span_over(Span* span);

}  // namespace tarn::internal
