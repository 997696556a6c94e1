#include "pool/pages/heap_pages.h"

#include <algorithm>

#include "base/bitmap.h"
#include "general/pools/live_picture.h"
#include "os/checker.h"
#include "os/fatal.h"

namespace tarn::internal {
namespace {

constexpr unsigned kPagesSeen = 16;

void add_live_of_mixed(const Span& page, LivePicture& picture) {
  for (std::size_t granule = 0; granule < page.block_count;) {
    const auto first = static_cast<BlockIndex>(granule);
    if (bitmap::test(page.free_bits, granule)) {
      ++granule;
      continue;
    }
    const std::size_t bytes = mixed_page::block_bytes(page, first);
    granule += bytes / page.stride;
    picture.add({page.block(first), 1, bytes, static_cast<std::uint32_t>(bytes), SizeClass::kNone});
  }
}

}  // namespace

void HeapPages::stop(const char* what, const void* block) const {
  os::fatal_in_pool(pool_->name, what, block);
}

BlockRequest HeapPages::request_of(std::size_t size, std::size_t alignment) const {
  if (size == 0) size = 1;
  if (size <= kLargestMixed && alignment <= std::min(unit_bytes(), mixed_page::kLargestAlignment))
    return {true, SizeClass::kNone, round_up(size, mixed_page::granule_for(size, alignment)), alignment};
  if (size > kLargestMixed && size <= detail::kMediumLimit && alignment <= unit_bytes()) {
    const SizeClass size_class = finest_class(detail::bin_of(size));
    return {false, size_class, class_geometry[size_class].stride, alignment};
  }
  return {false, SizeClass::kNone, round_up(size, unit_bytes()), alignment};
}

void* HeapPages::take_from(Span& page, const BlockRequest& request) {
  List<Span>* const before = &list_of(page);
  void* const block = mixed_page::take(page, request.block_bytes, request.alignment);
  if (block != nullptr && &page == empty_like(page)) empty_like(page) = nullptr;
  if (List<Span>* const after = &list_of(page); after != before) {
    before->remove(&page);
    after->push_back(&page);
  }
  return block;
}

// Of pages with a longest run that may do, those with the shortest come first. Of each length some pages are
// looked at, and then put last, so that others are looked at the next time; where memory is refused, all.
void* HeapPages::take_mixed(const BlockRequest& request, Search search) {
  const std::uint32_t granule = mixed_page::granule_for(request.block_bytes, request.alignment);
  const std::size_t needed = request.block_bytes / granule;
  for (List<Span>& pages : lists_for(granule, static_cast<unsigned>(needed))) {
    unsigned seen = 0;
    const Span* const last = pages.last();
    for (Span *page = pages.first(), *next = nullptr; page != nullptr; page = next) {
      if (search == Search::kSome && ++seen > kPagesSeen) break;
      next = page != last ? page->next : nullptr;
      if (page->longest_run >= needed)
        if (void* const block = take_from(*page, request)) return block;
      if (&list_of(*page) != &pages) continue;
      pages.remove(page);
      pages.push_back(page);
    }
  }
  return nullptr;
}

void* HeapPages::take_any(const BlockRequest& request) {
  if (!request.is_mixed) {
    Span* const span = make_large(request);
    return span != nullptr ? span->start : nullptr;
  }
  if (void* const block = take_mixed(request, Search::kSome)) return block;
  if (Span* const page = make_mixed(request)) return take_from(*page, request);
  return take_mixed(request, Search::kAll);
}

void* HeapPages::take_block(const BlockRequest& request, ReturnedPages& returned) {
  void* const block = take_any(request);
  if (block != nullptr || !may_make_room()) return block;
  end_unused(returned);
  returned.give_back();
  return take_any(request);
}

Span& HeapPages::span_of_block(const void* block, BlockIndex* index) const {
  Span* const span = find(block);
  if (span == nullptr) stop("free of a pointer that is no block of the heap", block);
  const std::size_t offset = address_of(block) - address_of(span->start);
  const bool is_mixed = mixed_page::is_mixed(*span);
  *index =
      is_mixed ? static_cast<BlockIndex>(static_cast<std::uint32_t>(offset) / span->stride) : BlockIndex{0};
  if (span->block(*index) != block || number_of(*index) >= span->block_count)
    stop("free of a pointer into a block", block);
  if (bitmap::test(span->free_bits, *index)) stop("double free", block);
  if (is_mixed && !mixed_page::is_block(*span, *index)) stop("free of a pointer into a block", block);
  return *span;
}

std::size_t HeapPages::block_bytes_of_large(const Span& span) const {
  const SizeClass size_class = span.size_class.load(std::memory_order_relaxed);
  return size_class != SizeClass::kNone ? class_geometry[size_class].stride : span_bytes(span);
}

std::size_t HeapPages::block_bytes_at(const Span& span, BlockIndex index) const {
  return mixed_page::is_mixed(span) ? mixed_page::block_bytes(span, index) : block_bytes_of_large(span);
}

std::size_t HeapPages::block_bytes(const void* block) const {
  BlockIndex index{};
  const Span& span = span_of_block(block, &index);
  return block_bytes_at(span, index);
}

std::size_t HeapPages::take_back_mixed(Span& page, BlockIndex index, ReturnedPages& returned) {
  List<Span>& before = list_of(page);
  const std::size_t bytes = mixed_page::give_back(page, index);
  Span*& empty = empty_like(page);
  const bool is_empty = page.free_count == page.block_count, ends = is_empty && empty != nullptr;
  if (is_empty && !ends) empty = &page;
  if (List<Span>& after = list_of(page); ends || &after != &before) {
    before.remove(&page);
    ends ? retire_span(&page, returned) : after.push_back(&page);
  }
  return bytes;
}

std::size_t HeapPages::take_back(void* block, ReturnedPages& returned) {
  BlockIndex index{};
  Span& span = span_of_block(block, &index);
  if (poisons_) {
    os::note_pool_free(pool_, block);
    os::poison(block, block_bytes_at(span, index));
  }
  if (mixed_page::is_mixed(span)) return take_back_mixed(span, index, returned);
  // A large block is all of its span.
  const std::size_t bytes = block_bytes_of_large(span);
  span.free_bits[0] = 1;
  span.free_count = 1;
  large_.remove(&span);
  retire_span(&span, returned);
  return bytes;
}

// Page by page in the order of their addresses.
bool HeapPages::add_live(std::uintptr_t& behind, LivePicture& picture) const {
  constexpr std::uint32_t kMost = 256;
  const Span* lowest[kMost];
  std::uint32_t count = 0;
  const auto is_lower = [](const Span* one, const Span* other) { return one->start < other->start; };
  const auto add_all = [&](const List<Span>& spans) {
    for (const Span* span = spans.first(); span != nullptr; span = span->next)
      if (address_of(span->start) > behind) keep_lowest(lowest, count, kMost, span, is_lower);
  };
  add_all(large_);
  for (const List<Span>& pages : mixed_) add_all(pages);
  std::sort_heap(lowest, lowest + count, is_lower);
  for (std::uint32_t i = 0; i < count; ++i) {
    const Span* const span = lowest[i];
    if (picture.room() < span->block_count) return true;
    if (mixed_page::is_mixed(*span))
      add_live_of_mixed(*span, picture);
    else
      picture.add({span->start, 1, block_bytes_of_large(*span), span->stride,
                   span->size_class.load(std::memory_order_relaxed)});
    behind = address_of(span->start);
  }
  return count == kMost;
}

void HeapPages::validate(std::size_t live_bytes, std::size_t live_count) const {
  // Every span is the heap's, a mixed page in the list of its longest_run; bytes and blocks in the lists are
  // what the accounts call live, mapped and in quarantine.
  std::size_t mapped = 0, quarantined = 0, bytes = 0, count = 0;
  const auto is_own = [&](const Span& span) {
    return span.kind == SpanKind::kPool && find(span.start) == &span &&
           span.block_count * std::size_t{mixed_page::is_mixed(span) ? span.stride : 1} <= span_bytes(span);
  };
  const auto self = const_cast<HeapPages*>(this);
  for (const List<Span>& pages : mixed_)
    for (const Span* page = pages.first(); page != nullptr; page = page->next) {
      TARN_CHECK(is_own(*page) && mixed_page::is_mixed(*page));
      TARN_CHECK(&pages == &self->list_of(*page));
      TARN_CHECK((page->free_count == page->block_count) == (page == self->empty_like(*page)));
      const mixed_page::Live live = mixed_page::validate(*page);
      bytes += live.bytes;
      count += live.count;
      mapped += span_bytes(*page);
    }
  for (const Span* span = large_.first(); span != nullptr; span = span->next) {
    TARN_CHECK(is_own(*span) && span->block_count == 1 && span->free_count == 0 && span->free_bits[0] == 0);
    bytes += block_bytes_of_large(*span);
    ++count;
    mapped += span_bytes(*span);
  }
  for (const Span* span = quarantine_.first(); span != nullptr; span = span->next) {
    TARN_CHECK(is_own(*span) && span->free_count == span->block_count);
    quarantined += span_bytes(*span);
  }
  for (const Span* page = spare_.first(); page != nullptr; page = page->next) mapped += kPageBytes;
  TARN_CHECK(mapped + quarantined == mapped_.own() && quarantined == quarantined_bytes_);
  TARN_CHECK(bytes == live_bytes && count == live_count);
}

}  // namespace tarn::internal
