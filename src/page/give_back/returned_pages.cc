#include "page/give_back/returned_pages.h"

#include "page/give_back/background.h"
#include "page/give_back/page_cache.h"
#include "page/spans/page_map.h"

namespace tarn::internal {

void ReturnedPages::finish() {
  give_back();
  if (has_kept_much_) background.note_kept();
  if (has_given_back_) background.notice(bytes_);
}

void ReturnedPages::note_kept(std::size_t bytes) {
  has_kept_much_ |= bytes + page_cache.dirty_bytes() >= Background::kWorthATick;
}

bool may_keep_memory() { return background.keeps_memory(); }

bool may_leave_memory(std::size_t bytes) {
  return bytes >= Background::kWorthATick && background.keeps_memory();
}

void note_left_memory() { background.note_kept(); }

void ReturnedPages::give_back() {
  while (first_ != nullptr) {
    Span* const span = first_;
    first_ = span->next;
    char* const start = span->first_page();
    const PageCount pages = span->pages;
    const bool is_zero = span->is_zero_when_free;
    page_map.clear(span);
    span_store.give_back(span);
    is_zero ? page_cache.free_pages(start, pages, PageState::kDirty) : free_used_pages(start, pages);
    has_given_back_ = true;
  }
}

}  // namespace tarn::internal
