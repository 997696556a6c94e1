// The slabs of a heap: how they are made of pages, and how they end.
#include <algorithm>
#include <iterator>

#include "base/bitmap.h"
#include "os/checker.h"
#include "os/memory.h"
#include "page/metadata.h"
#include "page/spans.h"
#include "page/watched_spans.h"
#include "pool/heap_slabs.h"
#include "pool/watched_blocks.h"
#include "pool/wipe_block.h"

namespace tarn::internal {
namespace {

constexpr std::size_t kBlocksPerBufferSlab = 8;
constexpr std::size_t kQuarantineBytes = 16 * 1024 * 1024;

void set_all_free(Span& slab) {
  bitmap::fill(slab.free_bits, slab.block_count);
  slab.free_count = slab.block_count;
}

// The distance of places where blocks of a slab may begin.
std::size_t step_of_blocks(const Span& slab, std::size_t bytes) {
  if (mixed_page::is_mixed(slab)) return mixed_page::kGranuleBytes;
  return slab.block_count == 1 ? bytes : slab.stride;
}

}  // namespace

HeapSlabs::Shape HeapSlabs::shape_of(const BlockRequest& request) const {
  if (request.size_class == SizeClass::kNone) return {request.block_bytes, request.block_bytes};
  const ClassGeometry& geometry = class_geometry[request.size_class];
  const std::size_t unit = unit_bytes(), stride = geometry.stride;
  if (geometry.block_bytes > kOwnSlabBlockBytes) return {round_up(request.block_bytes, unit), stride};
  if (!lies_in_buffer()) return {bytes_of(geometry.first_slab_pages), stride};
  return {stride < 512 ? unit : round_up(stride * kBlocksPerBufferSlab, unit), stride};
}

Span* HeapSlabs::make_spare() const {
  Span* const page =
      allocate_span({.pages = PageCount{1}, .kind = SpanKind::kPool, .density = density_of(*pool_)});
  if (page != nullptr) os::populate(page->start, kPageBytes);
  return page;
}

bool HeapSlabs::add_spare(Span* page) {
  if (!mapped_.charge(kPageBytes)) return false;
  spare_.push_front(page);
  return true;
}

void HeapSlabs::end_all_spare(ReturnedPages& returned) {
  while (Span* const page = spare_.first()) {
    spare_.remove(page);
    mapped_.credit(kPageBytes);
    free_span(page, returned);
  }
}

Span* HeapSlabs::take_spare(std::uint32_t words) {
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

Span* HeapSlabs::take_span(std::uint32_t words, std::size_t bytes, std::size_t alignment) {
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
Span* HeapSlabs::take_charged_span(std::uint32_t words, std::size_t bytes, std::size_t alignment) {
  if (bytes == kPageBytes && alignment == kPageBytes && !spare_.is_empty()) return take_spare(words);
  if (!mapped_.charge(bytes)) return nullptr;
  Span* const span = take_span(words, bytes, alignment);
  if (span == nullptr) mapped_.credit(bytes);
  return span;
}

Span* HeapSlabs::make_slab(const BlockRequest& request, const Shape& shape) {
  const auto block_count =
      static_cast<std::uint16_t>(shape.bytes / shape.stride == 0 ? 1 : shape.bytes / shape.stride);
  const auto word_count = static_cast<std::uint16_t>(bitmap::words_for(block_count));
  Span* const slab = take_charged_span(word_count, shape.bytes, std::max(request.alignment, unit_bytes()));
  if (slab == nullptr) return nullptr;
  slab->stride = static_cast<std::uint32_t>(shape.stride);  // may be cut off for one block, which needs none
  slab->reciprocal = class_geometry[request.size_class].reciprocal;
  slab->block_count = block_count;
  slab->word_count = word_count;
  slab->size_class.store(request.size_class, std::memory_order_relaxed);
  slab->scan_word = 0;
  set_all_free(*slab);
  if (poisons_) os::poison(slab->start, shape.bytes);
  return slab;
}

// The last pages of a buffer may have room for one block but not for a slab of several.
Span* HeapSlabs::make_any_slab(const BlockRequest& request) {
  const Shape shape = shape_of(request);
  Span* const slab = make_slab(request, shape);
  const std::size_t least_bytes = round_up(request.block_bytes, unit_bytes());
  if (slab != nullptr || !lies_in_buffer() || least_bytes >= shape.bytes) return slab;
  return make_slab(request, {least_bytes, shape.stride});
}

// In a buffer, and below a limit of mapped bytes, the kept empty slabs may be the only memory left.
bool HeapSlabs::may_make_room() const {
  return lies_in_buffer() || !quarantine_.is_empty() || mapped_.least_limit() != SIZE_MAX;
}

Span* HeapSlabs::make_slab_or_room(const BlockRequest& request, ReturnedPages& returned) {
  Span* const slab = make_any_slab(request);
  if (slab != nullptr || !may_make_room()) return slab;
  end_quarantine(0, nullptr, returned);
  end_empty_slabs(returned);
  end_all_spare(returned);
  returned.give_back();
  return make_any_slab(request);
}

// \pre the slab is in no list.
void HeapSlabs::end_slab(Span* slab, ReturnedPages& returned) {
  const std::size_t bytes = slab_bytes(*slab);
  if (poisons_) os::unpoison(slab->start, bytes);
  if (mixed_page::is_mixed(*slab)) mixed_page::end(*slab);
  slab->settle_at = 0;
  mapped_.credit(bytes);
  slab->set_pool(nullptr);
  if (!lies_in_buffer()) return free_span(slab, returned);
  buffer_.give_back(slab->start, bytes);
  end_span_over(slab);
}

void HeapSlabs::end_quarantine(std::size_t bytes_to_keep, const Span* slab_to_keep, ReturnedPages& returned) {
  while (Span* const slab = quarantine_.first()) {
    if (slab == slab_to_keep || quarantined_bytes_ <= bytes_to_keep) return;
    quarantine_.remove(slab);
    quarantined_bytes_ -= slab_bytes(*slab);
    end_slab(slab, returned);
  }
}

// \pre the slab is in no list; its blocks have ended.
void HeapSlabs::retire_slab(Span* slab, ReturnedPages& returned) {
  watched::note_span_ends(*slab, slab_bytes(*slab), step_of_blocks(*slab, slab_bytes(*slab)));
  if (!poisons_) return end_slab(slab, returned);
  set_all_free(*slab);
  os::poison(slab->start, slab_bytes(*slab));
  quarantine_.push_back(slab);
  quarantined_bytes_ += slab_bytes(*slab);
  end_quarantine(kQuarantineBytes, slab, returned);
}

void HeapSlabs::retire_list(List<Span>& slabs, ReturnedPages& returned) {
  while (Span* const slab = slabs.first()) {
    slabs.remove(slab);
    if (pool_->is_sensitive) wipe_live(*slab);
    retire_slab(slab, returned);
  }
}

// What its bits do not call free: free blocks are wiped.
void HeapSlabs::wipe_live(const Span& slab) const {
  const std::size_t bytes = slab.block_count == 1 ? slab_bytes(slab) : slab.stride;
  for (BlockIndex block{0}; number_of(block) != slab.block_count; ++block)
    if (!bitmap::test(slab.free_bits, block)) wipe_block(slab.block(block), bytes, poisons_);
}

void HeapSlabs::retire_all(ReturnedPages& returned) {
  retire_list(full_, returned);
  retire_list(mixed_, returned);
  std::fill(std::begin(mixed_of_), std::end(mixed_of_), std::uint16_t{0});
  for_each_list([&](List<Span>& slabs) { retire_list(slabs, returned); });
}

void HeapSlabs::end_empty_slabs(ReturnedPages& returned) {
  const auto end_empty = [&](List<Span>& slabs) {
    for (Span* slab = slabs.first(); slab != nullptr;) {
      Span* const next = slab->next;
      if (slab->free_count == slab->block_count) {
        slabs.remove(slab);
        end_slab(slab, returned);
      }
      slab = next;
    }
  };
  end_empty(mixed_);
  for_each_list(end_empty);
}

std::size_t HeapSlabs::release_unused(ReturnedPages& returned) {
  const std::size_t before = mapped_.own();
  end_quarantine(0, nullptr, returned);
  end_empty_slabs(returned);
  end_all_spare(returned);
  return before - mapped_.own();
}

}  // namespace tarn::internal
