// Blocks, runs and visits of a block pool, at its slabs.
#include <bit>

#include "base/bitmap.h"
#include "central/cached/cached_blocks.h"
#include "central/live_blocks.h"
#include "central/owners.h"
#include "central/slabs/class_slabs.h"
#include "central/slabs/slab.h"
#include "page/spans/page_map.h"
#include "pool/blocks/block_pool_state.h"
#include "pool/freed_block.h"
#include "thread/pools/marked_hits.h"
#include "thread/pools/pool_owner.h"

namespace tarn::internal {
namespace {

// A pool with less free than this keeps no magazines, once it was short of blocks: an eighth, and 64 at
// least, or half where it has few.
constexpr std::size_t kScarceShare = 8, kScarceShareOfFew = 2;
constexpr std::size_t kLeastPlenty = 64;

std::size_t plenty_of(const BlockPoolState& pool) {
  const std::size_t share = pool.largest_count / kScarceShare,
                    of_few = pool.largest_count / kScarceShareOfFew;
  const std::size_t least = of_few < kLeastPlenty ? of_few : kLeastPlenty;
  return share < least ? least : share;
}

std::size_t free_blocks_locked(const SlabOwner& owner, const BlockPoolState& pool) {
  const std::size_t blocks = owner.of(pool.size_class).totals.blocks;
  return blocks + owner.room.load(std::memory_order_relaxed) - owner.taken_bytes / pool.stride;
}

// \pre the mutex of the owner is held.
void end_scarcity_if_plenty(SlabOwner& owner, BlockPoolState& pool) {
  if (!pool.is_scarce) return;
  if (free_blocks_locked(owner, pool) < plenty_of(pool)) return;
  pool.is_scarce = false;
  owner.no_magazines.fetch_sub(1, std::memory_order_seq_cst);
}

// \pre no thread gets magazines of the pool.
void drop_all(BlockPoolState& pool, ReturnedPages& returned) {
  if (pool.own != nullptr) empty_own(pool, returned);
  return_runs(pool, returned);
  if (pool.size_class == SizeClass::kNone) return;
  const bool is_marked = pool.source == BlockPoolState::Source::kMarked;
  drop_all_magazines(*pool.owner, is_marked ? Hits::kMarked : Hits::kPlain, returned);
}

}  // namespace

BlockPlace place_in_pool(const BlockPoolState& pool, const void* blocks, std::size_t count) {
  Span* const slab = page_map.find(blocks);
  const SlabOwner* const owner = owner_of_slab(slab);
  if (owner == nullptr || owner->first_part != pool.owner) [[unlikely]] {
    if (pool.owner != nullptr) stop_for_block_of_another(*pool.owner, owner, blocks);
    pool.stop("free of a pointer that is no block of the pool", blocks);
  }
  BlockIndex index{};
  const AddressIs place = place_in_slab(*slab, blocks, &index);
  if (place == AddressIs::kInside) pool.stop("free of a pointer into a block", blocks);
  if (place == AddressIs::kBehind || count > slab->block_count - number_of(index))
    pool.stop("free of a pointer that is no block of the pool", blocks);
  return {slab, index};
}

void stop_if_free(const BlockPoolState& pool, const BlockPlace& place, std::size_t count) {
  bitmap::for_each_word(number_of(place.index), count, [&](std::size_t word, std::uint64_t mask) {
    const std::uint64_t twice = marked_free(*place.slab, word, mask);
    if (twice == 0) return;
    const auto of_word = static_cast<std::uint32_t>(word);
    pool.stop("double free", place.slab->block(bitmap::index_of_bit(of_word, std::countr_zero(twice))));
  });
}

void* checked_for_writes(const BlockPoolState& pool, void* blocks, std::size_t count) {
  if (detail::kIsHardened && !pool.owner->has_slots) {  // slots keep what handles compare with
    const auto* const words = static_cast<const std::uint64_t*>(blocks);
    for (std::size_t i = 0; blocks != nullptr && i < count * pool.stride / sizeof *words; ++i)
      if (words[i] != 0) pool.stop("write into a freed block, found when it was handed out again", words + i);
  }
  return blocks;
}

void* take_from_slabs(BlockPoolState& pool) {
  ReturnedPages returned;
  return checked_for_writes(pool, take_block(*pool.owner, pool.size_class, returned), 1);
}

void give_to_slabs(BlockPoolState& pool, void* block) {
  ReturnedPages returned;
  if (!end_live_run(pool.size_class, block, 1, pool.stride)) return;
  give_run_to_slabs(pool, block, 1, returned);
}

namespace {

// \returns how many free blocks lie side by side where a run is that has come back.
std::uint32_t joined_run(const Span& slab, BlockIndex index, std::size_t count) {
  const std::size_t first = number_of(index), before = bitmap::ones_before(slab.free_bits, first);
  const std::size_t end = bitmap::find_zero(slab.free_bits, first + count, slab.block_count);
  return static_cast<std::uint32_t>(end - first + before);
}

}  // namespace

void give_run_to_slabs(BlockPoolState& pool, void* blocks, std::size_t count, ReturnedPages& returned) {
  const BlockPlace place = place_in_pool(pool, blocks, count);
  for (;;) {
    SlabOwner* const owner_now = place.slab->owner.load(std::memory_order_acquire);
    if (owner_now == nullptr) pool.stop("double free", blocks);  // the slab has ended meanwhile
    SlabOwner& owner = *owner_now;
    os::LockGuard guard(owner.mutex);
    if (place.slab->owner.load(std::memory_order_acquire) != &owner) continue;
    // What the run joins, and no more, may have become longer.
    const std::uint32_t missing_before = owner.missing_run, longest_before = place.slab->longest_run;
    stop_if_free(pool, place, count);
    bitmap::for_each_word(number_of(place.index), count, [&](std::size_t word, std::uint64_t mask) {
      mark_free(*place.slab, static_cast<std::uint32_t>(word), mask);
    });
    owner.taken_bytes -= count * pool.stride;
    const std::uint32_t joined = joined_run(*place.slab, place.index, count);
    place.slab->longest_run = static_cast<std::uint16_t>(joined > longest_before ? joined : longest_before);
    settle_slab(owner, place.slab, returned);
    owner.missing_run = joined < missing_before ? missing_before : joined + 1;
    end_scarcity_if_plenty(owner, pool);
    return;
  }
}

NoMagazines without_magazines(BlockPoolState& pool, ReturnedPages& returned) {
  return NoMagazines(pool.owner, [&](SlabOwner&) { drop_all(pool, returned); });
}

void begin_walk(BlockPoolState& pool) {
  ReturnedPages returned;
  os::LockGuard guard(pool.mutex);
  if (pool.walks++ == 0) internal::begin_to_end(*pool.owner);
  pool.owner->no_magazines.fetch_add(1, std::memory_order_seq_cst);
  drop_all(pool, returned);
}

void end_walk(BlockPoolState& pool) {
  os::LockGuard guard(pool.mutex);
  pool.owner->no_magazines.fetch_sub(1, std::memory_order_seq_cst);
  if (--pool.walks == 0) end_no_more(*pool.owner);
}

void make_scarce(BlockPoolState& pool, ReturnedPages& returned) {
  os::LockGuard guard(pool.mutex);
  {
    os::LockGuard owner_guard(pool.owner->mutex);
    if (pool.is_scarce) return;
    pool.is_scarce = true;
    pool.owner->no_magazines.fetch_add(1, std::memory_order_seq_cst);
  }
  // What the visit finds may be plenty before it ends.
  const NoMagazines without = without_magazines(pool, returned);
}

void validate(BlockPoolState& pool) {
  if (pool.is_over_malloc()) return;
  os::LockGuard pool_guard(pool.mutex);
  std::size_t blocks = 0;
  // What is cached is not marked free; the blocks that exist and those that may still be made add up to the
  // cap.
  for_each_part(*pool.owner, [&](SlabOwner& part) {
    os::LockGuard guard(part.mutex);
    validate_locked(part);
    blocks += part.of(pool.size_class).totals.blocks;
    for (const CachedBlocks* cached = part.cached_blocks; cached != nullptr; cached = cached->next)
      TARN_CHECK(cached->count() <= cached->capacity);
    visit_cached_blocks(part, [&](const void* block) {
      const BlockPlace place = place_in_pool(pool, block, 1);
      TARN_CHECK(!is_marked_free_locked(*place.slab, place.index));
    });
  });
  const std::size_t room = pool.owner->room.load(std::memory_order_relaxed);
  TARN_CHECK(pool.largest_count == SlabOwner::kNoCap ? room == SlabOwner::kNoCap
                                                     : room + blocks == pool.largest_count);
}

}  // namespace tarn::internal
