#include "pool/heap_slabs.h"

#include "base/bitmap.h"
#include "os/checker.h"
#include "os/fatal.h"
#include "os/memory.h"
#include "page/page_cache.h"
#include "thread/slab.h"

namespace tarn::internal {
namespace {

constexpr std::size_t kOwnSlabBytes = 32 * 1024;  // above, a block is a slab
constexpr std::size_t kBlocksPerBufferSlab = 8;
constexpr std::size_t kQuarantineBytes = 16 * 1024 * 1024;

SizeClass class_of(const Span& slab) { return slab.size_class.load(std::memory_order_relaxed); }

void set_all_free(Span& slab) {
  bitmap::fill(slab.free_bits, slab.block_count);
  slab.free_count = slab.block_count;
}

}  // namespace

bool HeapSlabs::begin(PoolHeader& pool, void* buffer, std::size_t buffer_bytes, bool poisons) {
  pool_ = &pool;
  poisons_ = poisons;
  return buffer == nullptr || buffer_.begin(buffer, buffer_bytes);
}

void HeapSlabs::end() {
  retire_all();
  end_quarantine(0, nullptr);
  end_all_spare();
  buffer_.end();
}

void HeapSlabs::stop(const char* what, const void* block) const {
  os::fatal_in_pool(pool_->name, what, block);
}

HeapSlabs::Shape HeapSlabs::shape_of(const BlockRequest& request) const {
  if (request.size_class == 0) return {request.block_bytes, request.block_bytes};
  const ClassGeometry& geometry = class_geometry.of[request.size_class];
  const std::size_t unit = unit_bytes(), stride = geometry.stride;
  if (request.block_bytes > kOwnSlabBytes) return {round_up(request.block_bytes, unit), stride};
  if (!lies_in_buffer()) return {bytes_of(geometry.first_slab_pages), stride};
  return {stride < 512 ? unit : round_up(stride * kBlocksPerBufferSlab, unit), stride};
}

Span* HeapSlabs::make_spare() {
  Span* const page = span_store.take(0);
  if (page == nullptr) return nullptr;
  page->start = page_cache.allocate_pages(1).start;
  if (page->start == nullptr) {
    span_store.give_back(page);
    return nullptr;
  }
  os::populate(page->start, kPageBytes);
  return page;
}

void HeapSlabs::add_spare(Span* page) {
  spare_.push_front(page);
  mapped_bytes_ += kPageBytes;
}

void HeapSlabs::end_all_spare() {
  while (Span* const page = spare_.first()) {
    spare_.remove(page);
    mapped_bytes_ -= kPageBytes;
    page_cache.free_pages(page->start, 1, PageState::kDirty);
    span_store.give_back(page);
  }
}

char* HeapSlabs::take_pages(Span* slab, std::size_t bytes, std::size_t alignment) {
  if (lies_in_buffer()) return buffer_.take(slab, bytes, alignment);
  if (bytes == kPageBytes && alignment == kPageBytes && !spare_.is_empty()) {
    Span* const spare = spare_.first();
    spare_.remove(spare);
    mapped_bytes_ -= kPageBytes;
    char* const start = spare->start;
    span_store.give_back(spare);
    return start;
  }
  const auto pages = static_cast<PageCount>(bytes >> kPageShift);
  return page_cache.allocate_pages(pages, Density::kSparse, alignment).start;
}

Span* HeapSlabs::make_slab(const BlockRequest& request, const Shape& shape) {
  const auto block_count =
      static_cast<std::uint16_t>(shape.bytes / shape.stride == 0 ? 1 : shape.bytes / shape.stride);
  const auto word_count = static_cast<std::uint16_t>(bitmap::words_for(block_count));
  Span* const slab = span_store.take(word_count);
  if (slab == nullptr) return nullptr;
  char* const start = take_pages(slab, shape.bytes, request.alignment);
  if (start == nullptr) {
    span_store.give_back(slab);
    return nullptr;
  }
  slab->start = start;
  slab->pool = pool_;
  slab->pages = static_cast<PageCount>(shape.bytes / unit_bytes());
  slab->stride = static_cast<std::uint32_t>(shape.stride);  // unused where it does not fit: one block
  slab->block_count = block_count;
  slab->word_count = word_count;
  slab->size_class.store(request.size_class, std::memory_order_relaxed);
  slab->kind = SpanKind::kPool;
  slab->scan_word = 0;
  set_all_free(*slab);
  if (!lies_in_buffer()) page_map.set(slab, 0);
  if (poisons_) os::poison(start, shape.bytes);
  mapped_bytes_ += shape.bytes;
  return slab;
}

// The last of a buffer may have room for a block where it has none for a slab of several.
Span* HeapSlabs::make_any_slab(const BlockRequest& request) {
  const Shape shape = shape_of(request);
  Span* const slab = make_slab(request, shape);
  const std::size_t least_bytes = round_up(request.block_bytes, unit_bytes());
  if (slab != nullptr || !lies_in_buffer() || least_bytes >= shape.bytes) return slab;
  return make_slab(request, {least_bytes, shape.stride});
}

// In a buffer the empty slabs that were kept may be all that is left.
Span* HeapSlabs::make_slab_or_room(const BlockRequest& request) {
  Span* const slab = make_any_slab(request);
  if (slab != nullptr || (!lies_in_buffer() && quarantine_.is_empty())) return slab;
  end_quarantine(0, nullptr);
  if (lies_in_buffer()) end_empty_slabs();
  return make_any_slab(request);
}

// \pre the slab is in no list.
void HeapSlabs::end_slab(Span* slab) {
  const std::size_t bytes = slab_bytes(*slab);
  char* const start = slab->start;
  if (poisons_) os::unpoison(start, bytes);
  mapped_bytes_ -= bytes;
  if (lies_in_buffer()) {
    buffer_.give_back(start, bytes);
  } else {
    page_map.clear(slab);
    page_cache.free_pages(start, static_cast<PageCount>(bytes >> kPageShift), PageState::kDirty);
  }
  slab->pool = nullptr;
  span_store.give_back(slab);
}

void HeapSlabs::end_quarantine(std::size_t bytes_to_keep, const Span* slab_to_keep) {
  while (Span* const slab = quarantine_.first()) {
    if (slab == slab_to_keep || quarantined_bytes_ <= bytes_to_keep) return;
    quarantine_.remove(slab);
    quarantined_bytes_ -= slab_bytes(*slab);
    end_slab(slab);
  }
}

// \pre the slab is in no list; its blocks have ended.
void HeapSlabs::retire_slab(Span* slab) {
  if (!poisons_) return end_slab(slab);
  set_all_free(*slab);
  os::poison(slab->start, slab_bytes(*slab));
  quarantine_.push_back(slab);
  quarantined_bytes_ += slab_bytes(*slab);
  end_quarantine(kQuarantineBytes, slab);
}

void HeapSlabs::retire_list(List<Span>& slabs) {
  while (Span* const slab = slabs.first()) {
    slabs.remove(slab);
    retire_slab(slab);
  }
}

void HeapSlabs::retire_all() {
  retire_list(full_);
  for (List<Span>& slabs : available_) retire_list(slabs);
}

void HeapSlabs::end_empty_slabs() {
  for (List<Span>& slabs : available_) {
    for (Span* slab = slabs.first(); slab != nullptr;) {
      Span* const next = slab->next;
      if (slab->free_count == slab->block_count) {
        slabs.remove(slab);
        end_slab(slab);
      }
      slab = next;
    }
  }
}

std::size_t HeapSlabs::release_unused() {
  const std::size_t before = mapped_bytes_;
  end_quarantine(0, nullptr);
  end_empty_slabs();
  end_all_spare();
  return before - mapped_bytes_;
}

void* HeapSlabs::take_block(const BlockRequest& request) {
  List<Span>& available = available_[request.size_class];
  Span* slab = available.first();
  if (slab == nullptr) {
    slab = make_slab_or_room(request);
    if (slab == nullptr) return nullptr;
    available.push_front(slab);
  }
  void* block = nullptr;
  if (slab->block_count == 1) {
    slab->free_bits[0] = 0;
    slab->free_count = 0;
    block = slab->start;
  } else {
    take_from_slab(*slab, &block, 1);
  }
  if (slab->free_count == 0) {
    available.remove(slab);
    full_.push_front(slab);
  }
  return block;
}

Span& HeapSlabs::slab_of_block(const void* block, std::uint32_t* index) const {
  Span* const slab = find(block);
  if (slab == nullptr) stop("free of a pointer that is no block of the heap", block);
  const std::size_t offset = address_of(block) - address_of(slab->start);
  *index = slab->block_count == 1 ? 0 : static_cast<std::uint32_t>(offset / slab->stride);
  if ((slab->block_count == 1 ? offset != 0 : *index * std::size_t{slab->stride} != offset) ||
      *index >= slab->block_count)
    stop("free of a pointer into a block", block);
  if (bitmap::test(slab->free_bits, *index)) stop("double free", block);
  return *slab;
}

std::size_t HeapSlabs::block_bytes_of(const Span& slab) const {
  return class_of(slab) != 0 ? class_geometry.of[class_of(slab)].block_bytes : slab_bytes(slab);
}

std::size_t HeapSlabs::block_bytes(const void* block) const {
  std::uint32_t index = 0;
  return block_bytes_of(slab_of_block(block, &index));
}

bool HeapSlabs::is_worth_keeping(const Span& slab) const {
  const List<Span>& available = available_[class_of(slab)];
  return class_of(slab) != 0 && slab.block_count > 1 && available.first() == available.last();
}

HeapSlabs::TakenBack HeapSlabs::take_back(void* block) {
  std::uint32_t index = 0;
  Span& slab = slab_of_block(block, &index);
  const std::size_t bytes = block_bytes_of(slab);
  if (poisons_) {
    os::note_pool_free(pool_, block);
    os::poison(block, bytes);
  }
  const bool was_full = slab.free_count == 0;
  mark_free(slab, index / bitmap::kWordBits, bitmap::bit(index));
  List<Span>& available = available_[class_of(slab)];
  if (was_full) {
    full_.remove(&slab);
    available.push_front(&slab);
  }
  if (slab.free_count != slab.block_count || is_worth_keeping(slab)) return {bytes, false};
  available.remove(&slab);
  retire_slab(&slab);
  return {bytes, !lies_in_buffer()};
}

void HeapSlabs::validate_slab(const Span& slab) const {
  TARN_CHECK(slab.kind == SpanKind::kPool && find(slab.start) == &slab);
  TARN_CHECK(slab.block_count != 0 && slab.word_count == bitmap::words_for(slab.block_count));
  TARN_CHECK(slab.block_count == 1 || slab.block_count * std::size_t{slab.stride} <= slab_bytes(slab));
  const std::size_t bits = slab.word_count * bitmap::kWordBits;
  TARN_CHECK(slab.free_count == bitmap::count(slab.free_bits, bits));
  TARN_CHECK(bitmap::find_one(slab.free_bits, slab.block_count, bits) == bits);
}

void HeapSlabs::validate(std::size_t live_bytes, std::size_t live_count) const {
  std::size_t mapped = 0, quarantined = 0, bytes = 0, count = 0;
  const auto add = [&](const Span& slab) {
    validate_slab(slab);
    mapped += slab_bytes(slab);
    count += slab.block_count - slab.free_count;
    bytes += (slab.block_count - slab.free_count) * block_bytes_of(slab);
  };
  for (const Span* slab = full_.first(); slab != nullptr; slab = slab->next) {
    TARN_CHECK(slab->free_count == 0);
    add(*slab);
  }
  TARN_CHECK(available_[0].is_empty());
  for (SizeClass size_class = 1; size_class < kBinCount; ++size_class)
    for (const Span* slab = available_[size_class].first(); slab != nullptr; slab = slab->next) {
      TARN_CHECK(slab->free_count != 0 && class_of(*slab) == size_class);
      add(*slab);
    }
  for (const Span* slab = quarantine_.first(); slab != nullptr; slab = slab->next) {
    TARN_CHECK(slab->free_count == slab->block_count);
    add(*slab);
    quarantined += slab_bytes(*slab);
  }
  for (const Span* page = spare_.first(); page != nullptr; page = page->next) mapped += kPageBytes;
  TARN_CHECK(mapped == mapped_bytes_ && quarantined == quarantined_bytes_);
  TARN_CHECK(bytes == live_bytes && count == live_count);
}

}  // namespace tarn::internal
