#include "page/spans.h"

#include "page/give_back/page_cache.h"
#include "page/spans/page_map.h"
#include "page/spans/watched_spans.h"

namespace tarn::internal {
namespace {

PageRun take_pages(const SpanRequest& request) {
  if (request.room != PageCount{0}) {
    const PageRun run =
        page_cache.allocate_pages(request.pages, request.density, request.alignment, request.room);
    if (run.start != nullptr) return run;
  }
  return page_cache.allocate_pages(request.pages, request.density, request.alignment);
}

}  // namespace

Span* allocate_span(const SpanRequest& request) {
  Span* const span = span_store.take(request.bitmap_words);
  if (span == nullptr) return nullptr;
  const PageRun run = take_pages(request);
  if (run.start == nullptr) {
    span_store.give_back(span);
    return nullptr;
  }
  span->start = run.start;
  span->pages = request.pages;
  span->is_zeroed = run.is_zeroed;
  span->set_pool(request.pool);
  span->kind = request.kind;
  // The map last: whoever finds the span finds it whole.
  page_map.set(span);
  if (request.pool != nullptr) watched_spans.note_new(*span);
  return span;
}

void free_moved_span(Span* span, PageCount moved, ReturnedPages& returned) {
  char* const start = span->first_page();
  const PageCount pages = span->pages;
  page_map.clear(span);
  span_store.give_back(span);
  page_cache.free_pages(start, moved, PageState::kClean);
  if (pages != moved) free_used_pages(start + bytes_of(moved), pages - moved);
  returned.note_given_back(bytes_of(pages - moved));
}

bool resize_span(Span* span, PageCount pages, ReturnedPages& returned) {
  const PageCount old_pages = span->pages;
  if (pages > old_pages) {
    bool is_zeroed = false;
    if (!page_cache.try_extend(span->first_page() + bytes_of(old_pages), pages - old_pages, &is_zeroed))
      return false;
    span->pages = pages;
    page_map.set_pages(span, number_of(old_pages), pages - old_pages);
  } else if (pages < old_pages) {
    // The map first: once they are free, the pages may be another span's.
    page_map.clear_pages(span, number_of(pages), old_pages - pages);
    span->pages = pages;
    free_used_pages(span->first_page() + bytes_of(pages), old_pages - pages);
    returned.note_given_back(bytes_of(old_pages - pages));
  }
  return true;
}

void set_record(Span* span, detail::RecordPlace record) { page_map.set_record(span, record); }

Span* give_room_for_bits(Span* span, std::uint32_t bitmap_words) {
  if ((1u << span->capacity_log2) >= bitmap_words) return span;
  Span* const roomier = span_store.take(bitmap_words);
  if (roomier == nullptr) return nullptr;
  roomier->start = span->start;
  roomier->pages = span->pages;
  roomier->is_zeroed = span->is_zeroed;
  roomier->set_pool(span->unmarked_pool());
  roomier->kind = span->kind;
  // The map changes over before the old record ends: at no instant is the address unknown.
  page_map.set(roomier);
  span_store.give_back(span);
  return roomier;
}

Span* make_span_over(char* start, std::uint32_t bitmap_words, void* pool) {
  Span* const span = span_store.take(bitmap_words);
  if (span == nullptr) return nullptr;
  span->start = start;
  span->set_pool(pool);
  span->kind = SpanKind::kPool;
  return span;
}

void end_span_over(Span* span) { span_store.give_back(span); }

}  // namespace tarn::internal
