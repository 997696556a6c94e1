// The one door to spans: pages, the span's record, its bits and its entries in the page map are had and given
// up together.
//
// A span is found by address from the moment it is allocated until its pages are given back; frees of its
// blocks take the slow door until set_record() names the record that takes them.
//
// Threads: any. allocate_span may be called under any lock below kPageGrowth. Pages go back with no lock held
// (returned_pages.h).
#pragma once
#include <cstddef>
#include <cstdint>

#include "page/chunk.h"
#include "page/returned_pages.h"
#include "page/span.h"

namespace tarn::internal {

struct SpanRequest {
  PageCount pages;
  SpanKind kind;
  std::uint32_t bitmap_words = 0;
  Density density = Density::kSparse;
  std::size_t alignment = kPageBytes;  // bytes, a power of two
  PageCount room = 0;                  // pages that should be free behind the span, because it is growing
  void* pool = nullptr;                // the pool it belongs to, for kPool
};

/// \returns nullptr when memory is refused. `start`, `pages`, `kind`, `pool` and `is_zeroed` are set; all
/// bits are zero. \cost a lock or two and bitmap steps.
Span* allocate_span(const SpanRequest& request);

/// Ends a span. \pre it is in no list, and nobody frees a block of it.
inline void free_span(Span* span, ReturnedPages& returned) { returned.add(span); }

/// Ends a span whose first pages have lost their contents to a move and have no memory behind them.
void free_moved_span(Span* span, PageCount moved, ReturnedPages& returned);

/// Makes a span longer or shorter where it is. \returns false when it cannot.
bool resize_span(Span* span, PageCount pages, ReturnedPages& returned);

/// Names the record that takes the span's blocks back: its byte offset in a thread's cache.
void set_record(Span* span, std::uint16_t record_offset);

/// Gives a span room for so many bitmap words, in another record if need be; the old one is not valid then.
/// \returns nullptr when memory is refused, and nothing changed. \pre it is in no list and has no blocks.
Span* give_room_for_bits(Span* span, std::uint32_t bitmap_words);

/// A span over memory of a caller's, which the page map does not know. \returns nullptr when memory is
/// refused.
Span* make_span_over(char* start, std::uint32_t bitmap_words, void* pool);
void end_span_over(Span* span);

}  // namespace tarn::internal
