#include "pool/watched_blocks.h"

#include "general/pools/pool_registry.h"
#include "page/spans/page_map.h"
#include "page/spans/watched_spans.h"

namespace tarn::internal::watched {
namespace {

Span* find_span(const void* block) {
  Span* const span = page_map.find(block);
  return span != nullptr ? span : pool_registry.find_span(block);
}

bool forget(Span& span, void* block) {
  if (!observation.note_freed(block)) return false;
  watched_spans.forget_sample(span);
  return true;
}

}  // namespace

bool sample_if_due(const PoolHeader& pool, void* block, std::size_t bytes) {
  if (!observation.watches_this_thread() || !observation.is_sampled(bytes)) return false;
  Span* const span = find_span(block);
  if (span == nullptr || span->unmarked_pool() == nullptr) return false;  // malloc's, or a thread's record
  watched_spans.note_sample(*span);
  observation.note_allocated(block, bytes, pool.number);
  return true;
}

void sample_object_if_due(const PoolHeader& pool, void* object, std::size_t bytes) {
  if (!observation.watches_this_thread() || !observation.is_sampled(bytes)) return;
  observation.note_allocated(object, bytes, pool.number, SampleLasts::kUntilSwitch);
}

bool forget_sample_of(void* block) {
  Span* const span = find_span(block);
  if (span == nullptr || !span->has_mark(detail::SpanHead::kWatched)) return false;
  const bool was_sampled = span->sampled_count.load(std::memory_order_acquire) != 0 && forget(*span, block);
  watched_spans.unmark_if_idle(*span);
  return was_sampled;
}

void forget_samples_in(Span& span, std::size_t bytes, std::size_t step) {
  for (std::size_t at = 0; at < bytes; at += step) {
    if (!span.has_samples()) return;
    forget(span, span.start + at);
  }
}

}  // namespace tarn::internal::watched
