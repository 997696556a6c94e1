// The pages of a heap: how they are made, and how they end.
#include <algorithm>
#include <iterator>

#include "base/bitmap.h"
#include "os/checker.h"
#include "os/memory/memory.h"
#include "page/spans.h"
#include "page/spans/watched_spans.h"
#include "pool/freed_block.h"
#include "pool/pages/heap_pages.h"
#include "pool/watched_blocks.h"

namespace tarn::internal {
namespace {

constexpr std::size_t kBlocksPerBufferPage = 8;
constexpr std::size_t kQuarantineBytes = 16 * 1024 * 1024;

void set_all_free(Span& span) {
  bitmap::fill(span.free_bits, span.block_count);
  span.free_count = span.block_count;
}

}  // namespace

bool HeapPages::begin(PoolHeader& pool, void* buffer, std::size_t buffer_bytes, bool poisons) {
  pool_ = &pool;
  poisons_ = poisons;
  return buffer == nullptr || buffer_.begin(buffer, buffer_bytes);
}

void HeapPages::end(ReturnedPages& returned) {
  retire_all(returned);
  end_unused(returned);
  buffer_.end();
}

Span* HeapPages::make_spare() const {
  Span* const page =
      allocate_span({.pages = PageCount{1}, .kind = SpanKind::kPool, .density = density_of(*pool_)});
  if (page != nullptr) os::populate(page->start, kPageBytes);
  return page;
}

bool HeapPages::add_spare(Span* page) {
  if (!mapped_.charge(kPageBytes)) return false;
  spare_.push_front(page);
  return true;
}

Span* HeapPages::take_spare(std::uint32_t words) {
  Span* const page = spare_.first();
  spare_.remove(page);
  Span* const span = give_room_for_bits(page, words);
  if (span == nullptr) {
    spare_.push_front(page);
    return nullptr;
  }
  span->set_pool(pool_);
  watched_spans.note_new(*span);
  return span;
}

Span* HeapPages::take_span(std::uint32_t words, std::size_t bytes, std::size_t alignment) {
  // A span over the caller's buffer: a record alone, whose memory is units of the buffer.
  if (lies_in_buffer()) {
    Span* const span = make_span_over(nullptr, words, pool_);
    if (span == nullptr) return nullptr;
    span->buffer_units = static_cast<std::uint32_t>(bytes / BufferPages::kUnitBytes);
    span->start = buffer_.take(span, bytes, alignment);
    if (span->start != nullptr) return span;
    end_span_over(span);
    return nullptr;
  }
  return allocate_span({.pages = pages_for(bytes),
                        .kind = SpanKind::kPool,
                        .bitmap_words = words,
                        .density = density_of(*pool_),
                        .alignment = alignment,
                        .pool = pool_});
}

// Spare pages are charged already.
Span* HeapPages::take_charged_span(std::uint32_t words, std::size_t bytes, std::size_t alignment) {
  if (bytes == kPageBytes && alignment == kPageBytes && !spare_.is_empty()) return take_spare(words);
  if (!mapped_.charge(bytes)) return nullptr;
  Span* const span = take_span(words, bytes, alignment);
  if (span == nullptr) mapped_.credit(bytes);
  return span;
}

// In a buffer a page has room for eight such blocks, or as many as there is room left for.
Span* HeapPages::make_mixed(const BlockRequest& request) {
  const std::uint32_t granule = mixed_page::granule_for(request.block_bytes, request.alignment);
  const std::size_t unit = unit_bytes(), least = round_up(request.block_bytes, unit);
  std::size_t bytes = kPageBytes;
  if (lies_in_buffer()) bytes = std::min(bytes, round_up(request.block_bytes * kBlocksPerBufferPage, unit));
  Span* page = nullptr;
  for (bytes = std::max(bytes, least);; bytes = std::max(round_up(bytes / 2, unit), least)) {
    page = take_charged_span(mixed_page::words_for(bytes, granule), bytes, unit);
    if (page != nullptr || bytes == least) break;
  }
  if (page == nullptr) return nullptr;
  mixed_page::begin(*page, bytes, granule);
  if (poisons_) os::poison(page->start, bytes);
  list_of(*page).push_back(page);
  return page;
}

Span* HeapPages::make_large(const BlockRequest& request) {
  const std::size_t bytes = round_up(request.block_bytes, unit_bytes());
  Span* const span = take_charged_span(1, bytes, std::max(request.alignment, unit_bytes()));
  if (span == nullptr) return nullptr;
  span->stride = static_cast<std::uint32_t>(request.block_bytes);  // may be cut off: one block needs none
  span->block_count = 1;
  span->word_count = 1;
  span->size_class.store(request.size_class, std::memory_order_relaxed);
  span->free_bits[0] = 0;
  span->free_count = 0;
  if (poisons_) os::poison(span->start, bytes);
  large_.push_front(span);
  return span;
}

// In a buffer, and below a limit of mapped bytes, the page that is kept may be the only memory left.
bool HeapPages::may_make_room() const {
  return lies_in_buffer() || !quarantine_.is_empty() || mapped_.least_limit() != SIZE_MAX;
}

// \pre the span is in no list.
void HeapPages::end_span(Span* span, ReturnedPages& returned) {
  const std::size_t bytes = span_bytes(*span);
  if (poisons_) os::unpoison(span->start, bytes);
  if (mixed_page::is_mixed(*span)) mixed_page::end(*span);
  mapped_.credit(bytes);
  span->set_pool(nullptr);
  if (!lies_in_buffer()) return free_span(span, returned);
  buffer_.give_back(span->start, bytes);
  end_span_over(span);
}

void HeapPages::end_quarantine(std::size_t bytes_to_keep, const Span* span_to_keep, ReturnedPages& returned) {
  while (Span* const span = quarantine_.first()) {
    if (span == span_to_keep || quarantined_bytes_ <= bytes_to_keep) return;
    quarantine_.remove(span);
    quarantined_bytes_ -= span_bytes(*span);
    end_span(span, returned);
  }
}

// \pre the span is in no list; its blocks have ended.
void HeapPages::retire_span(Span* span, ReturnedPages& returned) {
  const std::size_t bytes = span_bytes(*span);
  watched::note_span_ends(*span, bytes, mixed_page::is_mixed(*span) ? span->stride : bytes);
  if (!poisons_) return end_span(span, returned);
  set_all_free(*span);
  os::poison(span->start, bytes);
  quarantine_.push_back(span);
  quarantined_bytes_ += bytes;
  end_quarantine(kQuarantineBytes, span, returned);
}

void HeapPages::retire_list(List<Span>& spans, ReturnedPages& returned) {
  while (Span* const span = spans.first()) {
    spans.remove(span);
    if (pool_->is_sensitive) wipe_live(*span);
    retire_span(span, returned);
  }
}

// What its bits do not call free: free blocks are wiped.
void HeapPages::wipe_live(const Span& span) const {
  const std::size_t bytes = mixed_page::is_mixed(span) ? span.stride : span_bytes(span);
  for (BlockIndex block{0}; number_of(block) != span.block_count; ++block)
    if (!bitmap::test(span.free_bits, block)) wipe_block(span.block(block), bytes, poisons_);
}

void HeapPages::retire_all(ReturnedPages& returned) {
  for (List<Span>& pages : mixed_) retire_list(pages, returned);
  std::fill(std::begin(empty_), std::end(empty_), nullptr);
  retire_list(large_, returned);
}

void HeapPages::end_unused(ReturnedPages& returned) {
  end_quarantine(0, nullptr, returned);
  for (Span*& empty : empty_) {
    if (empty == nullptr) continue;
    list_of(*empty).remove(empty);
    end_span(empty, returned);
    empty = nullptr;
  }
  while (Span* const page = spare_.first()) {
    spare_.remove(page);
    mapped_.credit(kPageBytes);
    free_span(page, returned);
  }
}

std::size_t HeapPages::release_unused(ReturnedPages& returned) {
  const std::size_t before = mapped_.own();
  end_unused(returned);
  return before - mapped_.own();
}

}  // namespace tarn::internal
