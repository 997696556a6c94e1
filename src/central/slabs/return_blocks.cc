#include "central/slabs/return_blocks.h"

#include <climits>

#include "base/bitmap.h"
#include "central/slabs/class_slabs.h"
#include "central/slabs/remote_free.h"
#include "central/slabs/slab.h"
#include "os/fatal.h"
#include "page/spans/page_map.h"

namespace tarn::internal {
namespace {

constexpr unsigned kOwnPerRemote = 4;  // 4 scattered own blocks cost as much as a word of another owner's
constexpr std::size_t kReturnedWorthALook = 1024 * 1024;

// Free memory inside slabs is given back when the owner idles, but only if somebody looks.
void note_returned(SlabOwner& owner, std::size_t bytes, ReturnedPages& returned) {
  settle_account(owner);
  owner.is_trimmed = false;
  owner.missing_run = UINT32_MAX;
  owner.returned_bytes += bytes;
  if (owner.returned_bytes < kReturnedWorthALook) return;
  owner.returned_bytes = 0;
  note_kept_memory(owner, returned);
}

// Returns own blocks that do not lie side by side, one by one, guessing nothing about the next place. Ends
// before the first block of any other kind, or address that is no block. \returns how many were returned.
unsigned return_scattered(SlabOwner& owner, void* const* blocks, unsigned count, ReturnedPages& returned) {
  const detail::SpanTable table = page_map.first_table();
  unsigned i = 0;
  for (; i < count; ++i) {
    auto* const slab = static_cast<Span*>(table.find(blocks[i]));
    if (slab == nullptr || slab->owner.load(std::memory_order_relaxed) != &owner) break;
    if (slab->pool_data != nullptr) break;  // counts are looked at
    const std::uint32_t stride = slab->stride;
    if (i + 1 < count) {
      const std::uintptr_t distance = address_of(blocks[i + 1]) - address_of(blocks[i]);
      if (distance == stride || distance + stride == 0) break;
    }
    const auto offset = static_cast<std::uint32_t>(address_of(blocks[i]) - address_of(slab->start));
    const BlockIndex index = index_of_offset(offset, slab->reciprocal);
    if (number_of(index) * stride != offset || number_of(index) >= slab->block_count) break;
    const std::uint32_t word = bitmap::word_of(index);
    const std::uint64_t bits = slab->free_bits[word];
    if ((bits & bitmap::bit(index)) != 0) break;
    bitmap::store(slab->free_bits + word, bits | bitmap::bit(index));
    slab->scan_word = word < slab->scan_word ? static_cast<std::uint16_t>(word) : slab->scan_word;
    note_more_free(*slab);
    slab->longest_run = slab->block_count;
    owner.taken_bytes -= stride;
    if (++slab->free_count >= slab->settle_at) [[unlikely]]
      settle_slab(owner, slab, returned);
  }
  return i;
}

/// A walk along blocks to return, in the given order.
struct Walk {
  void* const* blocks;
  unsigned count;
  unsigned at;
};

/// A slab's constant fields, copied: a slab of another owner may end with the last block of a run.
struct Cut {
  std::uintptr_t start;
  std::uint32_t stride, reciprocal, used_bytes;
};

/// The place of a walk's next block in a slab.
struct Place {
  std::uintptr_t offset;
  BlockIndex index;
};

// Gathers the next blocks of the walk that lie in one word of the slab's bitmap. Blocks freed in the order of
// their allocation lie one stride apart; these need no multiplication. \returns their bits.
// \post place.offset >= used_bytes when the next block lies in another slab, or there is none.
std::uint64_t gather_word(const Span& span, const Cut& slab, Walk& walk, Place& place) {
  const std::uint32_t word = bitmap::word_of(place.index);
  std::uint64_t bit = bitmap::bit(place.index), mask = 0;
  for (;;) {
    if ((mask & bit) != 0) [[unlikely]]
      stop_at_block(span, "double free", walk.blocks[walk.at]);
    mask |= bit;
    const std::uintptr_t last_offset = place.offset;
    ++walk.at;
    place.offset = walk.at == walk.count ? slab.used_bytes : address_of(walk.blocks[walk.at]) - slab.start;
    if (place.offset >= slab.used_bytes) return mask;
    if (place.offset == last_offset + slab.stride) {
      ++place.index;
      if ((bit <<= 1) == 0) return mask;
      continue;
    }
    place.index = index_of_offset(static_cast<std::uint32_t>(place.offset), slab.reciprocal);
    if (number_of(place.index) * slab.stride != place.offset) [[unlikely]]
      stop_at_block(span, "free of a pointer into a block", walk.blocks[walk.at]);
    bit = bitmap::bit(place.index);
    if (bitmap::word_of(place.index) != word) return mask;
  }
}

// Of a pool that no thread has a record of: its frees have looked at nothing.
void check_is_of_pool(const SlabOwner& own, const void* block) {
  const SlabOwner* const owner = owner_of_slab(page_map.find(block));
  if (owner != &own) [[unlikely]]
    stop_for_block_of_another(own, owner, block);
}

struct Returned {
  unsigned words;
  std::size_t bytes;
};

// Returns a run of blocks of one slab; writes at least one word.
Returned return_run(SlabOwner* own, Walk& walk, unsigned most_words, ReturnedPages& returned) {
  Place place{};
  if (own != nullptr && own->is_of_pool && own->first_class == SizeClass::kNone)
    check_is_of_pool(*own, walk.blocks[walk.at]);
  Span* const slab = slab_of_block(walk.blocks[walk.at], &place.index);
  const SlabOwner* const owner = slab->owner.load(std::memory_order_relaxed);
  // A slab that has ended has no live blocks.
  if (owner == nullptr) os::fatal("double free", walk.blocks[walk.at]);
  const Cut cut{address_of(slab->start), slab->stride, slab->reciprocal, slab->block_count * slab->stride};
  place.offset = std::uintptr_t{number_of(place.index)} * cut.stride;
  const unsigned first = walk.at;
  unsigned words = 0;
  do {
    const std::uint32_t word = bitmap::word_of(place.index);
    const std::uint64_t mask = gather_word(*slab, cut, walk, place);
    if (owner == own) {
      mark_free(*slab, word, mask);
    } else {
      return_remote(slab, word, mask, returned);
    }
  } while (++words < most_words && place.offset < cut.used_bytes);
  const std::size_t bytes = std::size_t{walk.at - first} * cut.stride;
  if (owner == own) {
    own->taken_bytes -= bytes;
    settle_slab(*own, slab, returned);
  }
  return {words, bytes};
}

}  // namespace

unsigned return_some_blocks(SlabOwner* own, void* const* blocks, unsigned count, unsigned most_words,
                            ReturnedPages& returned) {
  Walk walk{blocks, count, 0};
  std::size_t bytes = 0;
  for (unsigned words = 0; walk.at < count && words < most_words;) {
    // Own blocks that stand alone first; then one run of a slab, own or not, where neighbours share a word.
    // Own words need no atomics, so kOwnPerRemote scattered own blocks count as one word.
    if (own != nullptr) {
      const std::size_t taken = own->taken_bytes;
      const unsigned scattered = return_scattered(*own, blocks + walk.at, count - walk.at, returned);
      words += scattered / kOwnPerRemote;
      walk.at += scattered;
      bytes += taken - own->taken_bytes;
      if (walk.at == count) break;
    }
    const Returned run = return_run(own, walk, words < most_words ? most_words - words : 1, returned);
    words += run.words;
    bytes += run.bytes;
  }
  if (own != nullptr) note_returned(*own, bytes, returned);
  return walk.at;
}

void return_blocks(SlabOwner* own, void* const* blocks, unsigned count, ReturnedPages& returned) {
  return_some_blocks(own, blocks, count, UINT_MAX, returned);
}

}  // namespace tarn::internal
