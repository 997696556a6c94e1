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
}

void HeapSlabs::stop(const char* what, const void* block) const {
  os::fatal_in_pool(pool_->name, what, block);
}

// A slab of the class with free blocks.
Span* HeapSlabs::take_slab(const BlockRequest& request, ReturnedPages& returned) {
  List<Span>& available = of_class(request.size_class).available;
  if (Span* const slab = available.first()) return slab;
  Span* const slab = make_slab_or_room(request, returned);
  if (slab != nullptr) list_slab(*slab);
  return slab;
}

void HeapSlabs::list_slab(Span& slab) {
  List<Span>& available = of_class(slab).available;
  if (is_used_by_half(slab)) {
    slab.settle_at = static_cast<std::uint16_t>(half_of(slab) + 1);
    available.push_front(&slab);
  } else {
    slab.settle_at = slab.block_count;
    available.push_back(&slab);
  }
}

// After blocks were taken from the first slab of its list.
void HeapSlabs::note_taken(Span& slab, unsigned count) {
  of_class(slab).taken += count;
  if (is_used_by_half(slab)) slab.settle_at = static_cast<std::uint16_t>(half_of(slab) + 1);
  if (slab.free_count != 0) return;
  of_class(slab).available.remove(&slab);
  full_.push_front(&slab);
}

// After a block came back to it.
void HeapSlabs::place_slab(Span& slab, bool was_full) {
  if (was_full) {
    full_.remove(&slab);
    list_slab(slab);
  } else if (slab.free_count == slab.settle_at && slab.free_count != slab.block_count) {
    of_class(slab).available.remove(&slab);
    list_slab(slab);
  }
}

void* HeapSlabs::take_block(const BlockRequest& request, ReturnedPages& returned) {
  const bool may_mix = request.may_lie_in_mixed_page() && !poisons_ && !lies_in_buffer();
  if (may_mix && mixed_of(request.block_bytes).live_count < kMostMixed &&
      (prefers_mixed_pages_ || of_class(request.size_class).available.is_empty()))
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
  note_taken(*slab, 1);
  if (std::uint8_t* const lives = slab->live_bytes()) {
    BlockIndex index{};
    slab_of_block(block, &index);
    __atomic_store_n(lives + number_of(index), 1, __ATOMIC_RELAXED);
  }
  return block;
}

// Takes free blocks of a slab with lives, from a word of its bits on. \returns how many.
unsigned HeapSlabs::take_from_word(Span& slab, std::uint32_t first_word, FreeBlock* blocks, unsigned wanted) {
  std::uint8_t* const lives = slab.live_bytes();
  unsigned taken = 0;
  for (std::uint32_t i = 0; i < slab.word_count && taken < wanted; ++i) {
    const std::uint32_t word = (first_word + i) % slab.word_count;
    const std::uint64_t bits = slab.free_bits[word];
    const std::uint64_t out =
        count_ones(bits) <= wanted - taken ? bits : bitmap::lowest_ones(bits, wanted - taken);
    slab.free_bits[word] = bits & ~out;
    bitmap::for_each_one(out, [&](unsigned position) {
      const BlockIndex index = bitmap::index_of_bit(word, static_cast<int>(position));
      blocks[taken++] = {slab.block(index), lives + number_of(index)};
    });
  }
  slab.free_count -= taken;
  return taken;
}

unsigned HeapSlabs::take_blocks(const BlockRequest& request, FreeBlock* blocks, unsigned count,
                                std::uint32_t place, ReturnedPages& returned) {
  unsigned taken = 0;
  while (taken < count) {
    Span* const slab = take_slab(request, returned);
    if (slab == nullptr || !begin_lives(*slab)) break;
    const unsigned found = take_from_word(*slab, place, blocks + taken, count - taken);
    note_taken(*slab, found);
    taken += found;
  }
  return taken;
}

std::uint8_t* HeapSlabs::end_life(void* block) const {
  BlockIndex index{};
  const Span& slab = slab_of_block(block, &index);
  std::uint8_t* const lives = slab.live_bytes();
  if (lives == nullptr) return nullptr;
  std::uint8_t* const is_live = lives + number_of(index);
  end_life(is_live, block);
  return is_live;
}

bool HeapSlabs::is_taken(const FreeBlock& block, SizeClass size_class) const {
  BlockIndex index{};
  const Span& slab = slab_of_block(block.block, &index);
  return class_of(slab) == size_class && block.is_live == slab.live_bytes() + number_of(index);
}

// Older pages first, so that the newer ones empty.
void* HeapSlabs::take_mixed(std::size_t bytes) {
  Mixed& of = mixed_of(bytes);
  if (of.at_hand_count != 0) {
    ++of.live_count;
    return mixed_.first()->block(BlockIndex{of.at_hand[--of.at_hand_count]});
  }
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
  ++of.live_count;
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
  if (slab == mixed_.first() && mixed_of(mixed_page::block_bytes(*slab, *index)).is_at_hand(*index))
    stop("double free", block);
  return *slab;
}

std::size_t HeapSlabs::block_bytes_of(const Span& slab) const {
  return class_of(slab) != SizeClass::kNone ? class_geometry[class_of(slab)].block_bytes : slab_bytes(slab);
}

std::size_t HeapSlabs::block_bytes_of(const Span& slab, BlockIndex index) const {
  return mixed_page::is_mixed(slab) ? mixed_page::block_bytes(slab, index) : block_bytes_of(slab);
}

std::size_t HeapSlabs::block_bytes(const void* block) const {
  BlockIndex index{};
  const Span& slab = slab_of_block(block, &index);
  const std::uint8_t* const lives = slab.live_bytes();
  if (lives != nullptr && __atomic_load_n(lives + number_of(index), __ATOMIC_RELAXED) == 0)
    stop("double free", block);  // it lies in a magazine
  return block_bytes_of(slab, index);
}

BlockRequest HeapSlabs::request_of_block(const void* block) const {
  BlockIndex index{};
  const Span& slab = slab_of_block(block, &index);
  return {class_of(slab), block_bytes_of(slab, index), unit_bytes()};
}

bool HeapSlabs::is_worth_keeping(const Span& slab) const {
  const List<Span>& available = of_class(class_of(slab)).available;
  return class_of(slab) != SizeClass::kNone && slab.block_count > 1 && available.first() == available.last();
}

std::size_t HeapSlabs::take_back_mixed(Span& page, BlockIndex index, ReturnedPages& returned) {
  const std::size_t bytes = mixed_page::block_bytes(page, index);
  Mixed& of = mixed_of(bytes);
  --of.live_count;
  if (&page == mixed_.first() && of.at_hand_count < Mixed::kMostAtHand) {
    of.at_hand[of.at_hand_count++] = static_cast<std::uint16_t>(number_of(index));
    return bytes;
  }
  mixed_page::give_back(page, index);
  if (page.free_count == page.block_count && mixed_.first() != mixed_.last()) {
    mixed_.remove(&page);
    retire_slab(&page, returned);
  }
  return bytes;
}

// In the first mixed page.
void HeapSlabs::free_at_hand() {
  for (Mixed& of : mixed_of_)
    while (of.at_hand_count != 0)
      mixed_page::give_back(*mixed_.first(), BlockIndex{of.at_hand[--of.at_hand_count]});
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
  of_class(slab).taken -= 1;
  place_slab(slab, was_full);
  if (slab.free_count != slab.block_count || is_worth_keeping(slab)) return bytes;
  of_class(slab).available.remove(&slab);
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
  std::uint32_t slab_kib[kBinCount] = {}, taken[kBinCount] = {};
  const auto add = [&](const Span& slab) {
    validate_slab(slab);
    mapped += slab_bytes(slab);
    slab_kib[index_of_class(class_of(slab))] += static_cast<std::uint32_t>(slab_bytes(slab) / 1024);
    taken[index_of_class(class_of(slab))] += slab.block_count - slab.free_count;
    count += slab.block_count - slab.free_count;
    bytes += (slab.block_count - slab.free_count) * block_bytes_of(slab);
  };
  for (const Span* slab = full_.first(); slab != nullptr; slab = slab->next) {
    TARN_CHECK(slab->free_count == 0);
    add(*slab);
  }
  TARN_CHECK(of_[0].available.is_empty());
  for (unsigned index = 1; index < kBinCount; ++index)
    for (const Span* slab = of_[index].available.first(); slab != nullptr; slab = slab->next) {
      TARN_CHECK(slab->free_count != 0 && class_of(*slab) == class_of_index(index));
      add(*slab);
    }
  for (const Span* slab = quarantine_.first(); slab != nullptr; slab = slab->next) {
    TARN_CHECK(slab->free_count == slab->block_count);
    add(*slab);
    quarantined += slab_bytes(*slab);
  }
  for (unsigned index = 0; index < kBinCount; ++index)
    TARN_CHECK(slab_kib[index] == of_[index].slab_kib && taken[index] == of_[index].taken);
  for (const Span* page = mixed_.first(); page != nullptr; page = page->next) {
    const mixed_page::Live live = mixed_page::validate(*page);
    bytes += live.bytes;
    count += live.count;
    mapped += kPageBytes;
  }
  for (std::size_t i = 0; i < kMixedSizes; ++i) {
    bytes -= mixed_of_[i].at_hand_count * i * mixed_page::kGranuleBytes;
    count -= mixed_of_[i].at_hand_count;
  }
  for (const Span* page = spare_.first(); page != nullptr; page = page->next) mapped += kPageBytes;
  TARN_CHECK(mapped == mapped_.own() && quarantined == quarantined_bytes_);
  TARN_CHECK(bytes == live_bytes && count == live_count);
}

}  // namespace tarn::internal
