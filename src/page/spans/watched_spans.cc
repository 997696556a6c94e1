#include "page/spans/watched_spans.h"

#include "page/spans/page_map.h"

namespace tarn::internal {

constinit WatchedSpans watched_spans;

void WatchedSpans::begin() {
  is_on_.store(true, std::memory_order_seq_cst);
  for (std::uint32_t i = 0; i < page_map.region_count(); ++i) {
    const Region& region = page_map.region(i);
    const std::size_t pages = std::size_t{region.committed_chunks} * (kChunkBytes / kPageBytes);
    for (std::size_t page = 0; page < pages; ++page)
      if (detail::SpanHead* const span = region.spans[page].load(std::memory_order_seq_cst))
        span->set_mark(detail::SpanHead::kWatched);  // does nothing to one without a pool
  }
}

// A thread that sets the mark first changes what is_needed() reads: so a mark that is cleared here meanwhile
// is set again.
void WatchedSpans::unmark_if_idle(Span& span) {
  const auto is_needed = [&] { return is_on() || span.sampled_count.load(std::memory_order_seq_cst) != 0; };
  if (!span.has_mark(detail::SpanHead::kWatched) || is_needed()) return;
  span.clear_mark(detail::SpanHead::kWatched);
  if (is_needed()) span.set_mark(detail::SpanHead::kWatched);
}

}  // namespace tarn::internal
