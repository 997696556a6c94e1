// The beginning and the end of a pool of blocks, what it counts and gives back, and the operations that every
// pool has.
#include <algorithm>

#include "base/units.h"
#include "central/cached/cached_blocks.h"
#include "general/options/configuration.h"
#include "general/pools/live_picture.h"
#include "general/pools/pool_registry.h"
#include "general/pools/system_blocks.h"
#include "os/checker.h"
#include "os/locks/owner_lock.h"
#include "pool/blocks/block_pool_state.h"
#include "pool/freed_block.h"
#include "pool/watched_blocks.h"
#include "thread/observation/observation.h"
#include "thread/pools/pool_owner.h"

namespace tarn::internal {

using Source = BlockPoolState::Source;

namespace {

BlockPoolState& state_of(PoolHeader& pool) { return static_cast<BlockPoolState&>(pool); }

void free_all_of_malloc(BlockPoolState& pool) {
  while (void* const block = system_blocks.first_of(pool)) give_to_malloc(pool, block);
}

}  // namespace

// Blocks taken together are one malloc block: they are freed together, whatever count the caller passes.
void give_to_malloc(BlockPoolState& pool, void* blocks) {
  std::size_t bytes = 0;
  if (!system_blocks.deallocate(pool, blocks, &bytes))
    pool.stop("free of a pointer that is no block of the pool", blocks);
  pool.of_malloc -= bytes / pool.stride;
}

PoolCensus census_of(BlockPoolState& pool, ReturnedPages& returned) {
  if (pool.is_over_malloc()) {
    const std::size_t live = pool.of_malloc;
    return {live, live * pool.stride, live * pool.stride, live};
  }
  return take_census(*pool.owner, returned);
}

std::size_t release_unused(BlockPoolState& pool, ReturnedPages& returned) {
  if (pool.is_over_malloc()) return 0;
  os::LockGuard guard(pool.mutex);
  if (pool.walks != 0) return 0;
  const std::size_t before = returned.bytes();
  if (pool.own != nullptr) empty_own(pool, returned);
  return_runs(pool, returned);
  release_unused_slabs(*pool.owner, returned);
  return returned.bytes() - before;
}

// Blocks that are told of one by one before all are freed at once.
void free_all(BlockPoolState& pool) {
  if (pool.is_over_malloc()) return free_all_of_malloc(pool);
  ReturnedPages returned;
  if (observation.has_begun() || pool.wipes_freed()) {
    begin_walk(pool);
    visit_live_blocks(*pool.owner, pool.size_class, [&](void* block) {
      // Samples of a pool with records lie in slabs that no mark tells of.
      if (observation.has_begun() && !watched::note_freed(block)) observation.note_freed(block);
      if (pool.wipes_freed()) wipe_block(block, pool.stride, pool.poisons);
    });
    end_walk(pool);
  }
  if (pool.own != nullptr) empty_own(pool, returned);
  return_runs(pool, returned);
  pool.sampled_count = 0;
  os::LockGuard guard(pool.mutex);
  return_all_cached(*pool.owner, returned);
  free_all_blocks(*pool.owner, returned);
}

Source source_of_blocks(Source usual, bool keeps_free_blocks_long) {
  if (configuration.is_on(Option::kPoolsUseMalloc)) return Source::kMalloc;
  return keeps_free_blocks_long || detail::kIsHardened ? Source::kSlabs : usual;
}

bool are_valid(const FixedPoolOptions& options) {
  constexpr std::size_t kLargestBlock = 256 * 1024, kLargestAlignment = 65536, kMostInChunk = 32768;
  return options.block_bytes != 0 && options.block_bytes <= kLargestBlock &&
         is_power_of_two(options.alignment) && options.alignment <= kLargestAlignment &&
         options.blocks_per_chunk <= kMostInChunk && options.initial_count <= options.largest_count;
}

namespace {

bool begin(detail::BlockPoolFront& front, BlockPoolState& pool, const BlockPoolRequest& request) {
  pool.operations = &request.operations;
  pool.set_name(request.name, request.usual_name);
  pool.is_sensitive = request.is_sensitive;
  pool.source = request.source;
  pool.alignment = request.alignment;
  pool.stride = request.geometry.stride;
  pool.block_bytes = request.geometry.block_bytes;
  pool.blocks_per_chunk = request.geometry.block_count;
  pool.largest_count = request.most_blocks;
  pool.is_checked = request.is_checked;
  pool.poisons = request.poisons && !pool.is_over_malloc();
  // A free by address goes to the record that the page names, where frees may be hits; else the span names
  // the pool, which is asked.
  const bool has_hits = pool.source == Source::kRecords, names_record = has_hits && !request.has_slots;
  if (!pool.is_over_malloc()) {
    pool.owner = acquire_pool_owner({.geometries = &request.geometry,
                                     .name = pool.name,
                                     .has_records = has_hits || pool.source == Source::kMarked,
                                     .hides_slabs = !names_record,
                                     .keeps_slabs = request.keeps_slabs,
                                     .asks_pool = !names_record,
                                     .has_one_part = !names_record,
                                     .has_counts = request.has_counts,
                                     .has_slots = request.has_slots,
                                     .poisons = pool.poisons,
                                     .density = request.has_slots ? Density::kSparse : density_of(pool),
                                     .most_blocks = request.most_blocks});
    if (pool.owner == nullptr) return false;
    pool.size_class = pool.owner->first_class;
  }
  if (pool.source == Source::kMarked) os::OwnerLock::prepare();
  // No hit is possible yet: the callers set the place of the record, or the top and limit of a pool of one
  // thread.
  front = {pool.stride, &pool, pool.is_checked ? &pool : nullptr};
  if (pool.is_checked) os::begin_checked_pool(&pool);
  return true;
}

// \returns whether the pool has its first blocks; else it has ended again.
bool register_pool(BlockPoolState& pool, std::size_t count) {
  pool_registry.add(pool);
  if (count == 0) return true;
  if (detail::block_pool_reserve(&pool, count, false) >= count) return true;
  begin_to_end_blocks(pool);
  end_blocks(pool);
  return false;
}

}  // namespace

bool begin_block_pool(detail::SharedPoolFront& front, BlockPoolState& pool, const BlockPoolRequest& request) {
  front.place = detail::RecordPlace::kNone;
  if (!begin(front, pool, request)) return false;
  if (pool.source == Source::kRecords) front.place = record_of_class(pool.size_class);
  return register_pool(pool, request.initial_count);
}

bool begin_block_pool(detail::OwnPoolFront& front, BlockPoolState& pool, const BlockPoolRequest& request) {
  if (!begin(front, pool, request)) return false;
  begin_own(pool, front);
  return register_pool(pool, request.initial_count);
}

// One page of blocks, more pages for larger blocks; one block less where that leaves room for slabs that
// begin at other lines.
std::size_t usual_blocks_in_chunk(std::size_t stride) {
  constexpr std::size_t kLeastBlocks = 64, kLargestBytes = std::size_t{1} << 20, kColouredStride = 128;
  std::size_t bytes = stride * kLeastBlocks;
  bytes = bytes < kPageBytes      ? kPageBytes
          : bytes > kLargestBytes ? kLargestBytes
                                  : round_up(bytes, kPageBytes);
  const std::size_t count = bytes / stride;
  return stride % kColouredStride == 0 && count * stride == bytes ? count - 1 : count;
}

// Only the own thread of a pool may do so.
std::size_t release_unused_of_blocks(PoolHeader& header, ReturnedPages& returned) {
  BlockPoolState& pool = state_of(header);
  return pool.own != nullptr ? 0 : release_unused(pool, returned);
}

void end_pool_of_blocks(BlockPoolState& pool) {
  begin_to_end_blocks(pool);
  free_all(pool);
  end_blocks(pool);
}

void begin_to_end_blocks(BlockPoolState& pool) {
  pool_registry.remove(pool);
  if (pool.is_over_malloc()) return;
  ReturnedPages returned;
  if (pool.own != nullptr) empty_own(pool, returned);
  return_runs(pool, returned);
  begin_to_end(*pool.owner);
  settle(*pool.owner, returned);
}

void visit_live_blocks_of(BlockPoolState& pool, const BlockVisitor& visit) {
  if (!pool.is_over_malloc()) return visit_live_blocks(*pool.owner, pool.size_class, visit);
  while (void* const block = system_blocks.first_of(pool)) visit(block);
}

void end_blocks(BlockPoolState& pool) {
  if (pool.is_checked) os::end_checked_pool(&pool);
  if (pool.is_over_malloc()) return;
  if (pool.poisons)  // what outlives the pool
    visit_live_blocks_of(pool, [&](const void* block) { os::unpoison(block, pool.stride); });
  forget_cached_blocks(*pool.owner);
  end_cached_blocks(pool.magazine);
  end_runs(pool);
  {
    ReturnedPages returned;
    settle(*pool.owner, returned);
  }
  release_pool_owner(*pool.owner);
}

void deallocate_block_of(PoolHeader& header, void* block) {
  BlockPoolState& pool = state_of(header);
  if (pool.own != nullptr && pool.own->user != nullptr && pool.own->user != detail::address_of_own_cache())
    detail::block_pool_check_user_slow(*pool.own);
  if (pool.is_checked) os::note_pool_free(&pool, block);
  if (pool.poisons) os::poison(block, pool.stride);
  detail::block_pool_deallocate_slow(&pool, block);
}

std::size_t usable_size_of_block(PoolHeader& header, const void* block) {
  const BlockPoolState& pool = state_of(header);
  if (pool.poisons) os::unpoison(block, pool.stride);
  return pool.stride;
}

PoolUse use_of_blocks(PoolHeader& header, ReturnedPages& returned) {
  BlockPoolState& pool = state_of(header);
  const PoolCensus census = census_of(pool, returned);
  PoolUse use{};
  use.kind = pool.operations->kind;
  use.block_bytes = pool.stride;
  use.live_count = census.live_count;
  use.live_bytes = census.live_count * pool.stride;
  const std::size_t peak =
      pool.is_over_malloc() ? pool.most_of_malloc * pool.stride : largest_taken_bytes(*pool.owner);
  use.peak_live_bytes = std::max(peak, use.live_bytes);
  use.mapped_bytes = census.slab_bytes;
  use.in_classes_bytes = pool.is_over_malloc() ? 0 : use.live_bytes;
  use.waste_bytes = use.mapped_bytes > use.live_bytes ? use.mapped_bytes - use.live_bytes : 0;
  use.capacity = census.block_count;
  // A cap beyond all memory is none.
  const bool has_cap = pool.largest_count < PoolUse::kNoLimit / pool.stride;
  use.largest_count = has_cap ? pool.largest_count : PoolUse::kNoLimit;
  use.limit_bytes = has_cap ? pool.largest_count * pool.stride : PoolUse::kNoLimit;
  use.mapped_limit_bytes = PoolUse::kNoLimit;
  use.refusals = pool.refusals.load(std::memory_order_relaxed);
  return use;
}

bool add_live_of_blocks(PoolHeader& header, std::uintptr_t& behind, LivePicture& picture) {
  const BlockPoolState& pool = state_of(header);
  return pool.is_over_malloc() && system_blocks.add_live(pool, behind, picture);
}

SlabOwner* owner_of_blocks(const PoolHeader& header) {
  return static_cast<const BlockPoolState&>(header).owner;
}

}  // namespace tarn::internal
