#include "pool/heap_slabs.h"

#include <algorithm>

#include "base/bitmap.h"
#include "central/slab.h"
#include "os/checker.h"
#include "os/fatal.h"

namespace tarn::internal {
namespace {

// With more free blocks a slab is used by less than half.
std::uint16_t half_of(const Span& slab) { return static_cast<std::uint16_t>(slab.block_count / 2); }

bool is_used_by_half(const Span& slab) { return slab.free_count <= half_of(slab); }

}  // namespace

bool HeapSlabs::begin(PoolHeader& pool, void* buffer, std::size_t buffer_bytes, bool poisons) {
  pool_ = &pool;
  poisons_ = poisons;
  return buffer == nullptr || buffer_.begin(buffer, buffer_bytes);
}

void HeapSlabs::end(ReturnedPages& returned) {
  retire_all(returned);
  end_quarantine(0, nullptr, returned);
  end_all_spare(returned);
  buffer_.end();
  if (available_ != nullptr) metadata.free(available_, kBinCount * sizeof(List<Span>));
  available_ = nullptr;
}

bool HeapSlabs::make_lists() {
  if (available_ == nullptr)
    available_ = static_cast<List<Span>*>(metadata.allocate_zeroed(kBinCount * sizeof(List<Span>)));
  return available_ != nullptr;
}

void HeapSlabs::stop(const char* what, const void* block) const {
  os::fatal_in_pool(pool_->name, what, block);
}

// A slab of the class with free blocks.
Span* HeapSlabs::take_slab(const BlockRequest& request, ReturnedPages& returned) {
  if (Span* const slab = available(request.size_class).first()) return slab;
  if (!make_lists()) return nullptr;
  Span* const slab = make_slab_or_room(request, returned);
  if (slab != nullptr) list_slab(*slab);
  return slab;
}

void HeapSlabs::list_slab(Span& slab) {
  if (is_used_by_half(slab)) {
    slab.settle_at = static_cast<std::uint16_t>(half_of(slab) + 1);
    available(slab).push_front(&slab);
  } else {
    slab.settle_at = slab.block_count;
    available(slab).push_back(&slab);
  }
}

// After a block was taken from the first slab of its list.
void HeapSlabs::note_taken(Span& slab) {
  if (is_used_by_half(slab)) slab.settle_at = static_cast<std::uint16_t>(half_of(slab) + 1);
  if (slab.free_count != 0) return;
  available(slab).remove(&slab);
  full_.push_front(&slab);
}

// After a block came back to it.
void HeapSlabs::place_slab(Span& slab, bool was_full) {
  if (was_full) {
    full_.remove(&slab);
    list_slab(slab);
  } else if (slab.free_count == slab.settle_at && slab.free_count != slab.block_count) {
    available(slab).remove(&slab);
    list_slab(slab);
  }
}

void* HeapSlabs::take_block(const BlockRequest& request, ReturnedPages& returned) {
  const bool may_mix = request.may_lie_in_mixed_page() && !poisons_ && !lies_in_buffer();
  if (may_mix && mixed_of(request.block_bytes) < kMostMixed && available(request.size_class).is_empty())
    if (void* const block = take_mixed(request.block_bytes)) return block;
  Span* const slab = take_slab(request, returned);
  if (slab == nullptr) return may_mix ? take_mixed(request.block_bytes) : nullptr;
  void* block = nullptr;
  if (slab->block_count == 1) {
    slab->free_bits[0] = 0;
    slab->free_count = 0;
    block = slab->start;
  } else {
    take_from_slab(*slab, &block, 1);
  }
  note_taken(*slab);
  return block;
}

// Older pages first, so that the newer ones empty.
void* HeapSlabs::take_mixed(std::size_t bytes) {
  void* block = nullptr;
  for (Span* page = mixed_.first(); page != nullptr && block == nullptr; page = page->next)
    block = mixed_page::take(*page, bytes);
  if (block == nullptr) {
    Span* const page = take_charged_span(mixed_page::kAllWords, kPageBytes, kPageBytes);
    if (page == nullptr) return nullptr;
    mixed_page::begin(*page);
    mixed_.push_back(page);
    block = mixed_page::take(*page, bytes);
  }
  ++mixed_of(bytes);
  return block;
}

Span& HeapSlabs::slab_of_block(const void* block, BlockIndex* index) const {
  Span* const slab = find(block);
  if (slab == nullptr) stop("free of a pointer that is no block of the heap", block);
  const std::size_t offset = address_of(block) - address_of(slab->start);
  const bool is_mixed = mixed_page::is_mixed(*slab);
  *index = slab->block_count == 1 ? BlockIndex{0}
           : is_mixed             ? static_cast<BlockIndex>(offset / mixed_page::kGranuleBytes)
                      : static_cast<BlockIndex>(static_cast<std::uint32_t>(offset) / slab->stride);
  if (slab->block(*index) != block || number_of(*index) >= slab->block_count)
    stop("free of a pointer into a block", block);
  if (bitmap::test(slab->free_bits, *index)) stop("double free", block);
  if (!is_mixed) return *slab;
  if (!mixed_page::is_block(*slab, *index)) stop("free of a pointer into a block", block);
  return *slab;
}

std::size_t HeapSlabs::block_bytes_of(const Span& slab) const {
  return class_of(slab) != SizeClass::kNone ? class_geometry[class_of(slab)].stride : slab_bytes(slab);
}

std::size_t HeapSlabs::block_bytes_of(const Span& slab, BlockIndex index) const {
  return mixed_page::is_mixed(slab) ? mixed_page::block_bytes(slab, index) : block_bytes_of(slab);
}

std::size_t HeapSlabs::block_bytes(const void* block) const {
  BlockIndex index{};
  const Span& slab = slab_of_block(block, &index);
  return block_bytes_of(slab, index);
}

bool HeapSlabs::is_worth_keeping(const Span& slab) const {
  const List<Span>& others = available(class_of(slab));
  return class_of(slab) != SizeClass::kNone && slab.block_count > 1 && others.first() == others.last();
}

std::size_t HeapSlabs::take_back_mixed(Span& page, BlockIndex index, ReturnedPages& returned) {
  const std::size_t bytes = mixed_page::give_back(page, index);
  --mixed_of(bytes);
  if (page.free_count == page.block_count && mixed_.first() != mixed_.last()) {
    mixed_.remove(&page);
    retire_slab(&page, returned);
  }
  return bytes;
}

std::size_t HeapSlabs::take_back(void* block, ReturnedPages& returned) {
  BlockIndex index{};
  Span& slab = slab_of_block(block, &index);
  if (mixed_page::is_mixed(slab)) return take_back_mixed(slab, index, returned);
  const std::size_t bytes = block_bytes_of(slab);
  if (poisons_) {
    os::note_pool_free(pool_, block);
    os::poison(block, bytes);
  }
  const bool was_full = slab.free_count == 0;
  mark_free(slab, bitmap::word_of(index), bitmap::bit(index));
  place_slab(slab, was_full);
  if (slab.free_count != slab.block_count || is_worth_keeping(slab)) return bytes;
  available(slab).remove(&slab);
  retire_slab(&slab, returned);
  return bytes;
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
  TARN_CHECK(available(SizeClass::kNone).is_empty());
  for_each_list([&](const List<Span>& slabs) {
    for (const Span* slab = slabs.first(); slab != nullptr; slab = slab->next) {
      TARN_CHECK(slab->free_count != 0 && &available(class_of(*slab)) == &slabs);
      add(*slab);
    }
  });
  for (const Span* slab = quarantine_.first(); slab != nullptr; slab = slab->next) {
    TARN_CHECK(slab->free_count == slab->block_count);
    add(*slab);
    quarantined += slab_bytes(*slab);
  }
  for (const Span* page = mixed_.first(); page != nullptr; page = page->next) {
    const mixed_page::Live live = mixed_page::validate(*page);
    bytes += live.bytes;
    count += live.count;
    mapped += kPageBytes;
  }
  for (const Span* page = spare_.first(); page != nullptr; page = page->next) mapped += kPageBytes;
  TARN_CHECK(mapped == mapped_.own() && quarantined == quarantined_bytes_);
  TARN_CHECK(bytes == live_bytes && count == live_count);
}

}  // namespace tarn::internal
