// The calls of FixedPool and SharedFixedPool.
#include <algorithm>

#include "base/units.h"
#include "central/live_blocks.h"
#include "central/slabs/slab.h"
#include "general/class_calls.h"
#include "general/options/memory_limits.h"
#include "general/options/setup.h"
#include "general/pools/pool_registry.h"
#include "general/pools/system_blocks.h"
#include "general/slow_door.h"
#include "os/checker.h"
#include "os/locks/held_locks.h"
#include "page/memory/metadata.h"
#include "page/spans/page_map.h"
#include "pool/blocks/block_pool_state.h"
#include "pool/freed_block.h"
#include "pool/watched_blocks.h"
#include "thread/observation/observation.h"
#include "thread/pools/marked_hits.h"
#include "thread/pools/pool_owner.h"
#include "thread/thread_heap.h"

namespace TARN_NAMESPACE::detail {

using namespace internal;
using Source = BlockPoolState::Source;

namespace {

constexpr std::size_t kLeastStride = 8;

// -- Blocks of malloc ------------------------------------------------------------------------------------

void* take_from_malloc(BlockPoolState& pool, std::size_t count) {
  std::size_t live = pool.of_malloc.load();
  do {
    if (pool.largest_count - live < count) return nullptr;
  } while (!pool.of_malloc.compare_exchange_weak(live, live + count));
  void* const blocks = system_blocks.allocate(pool, count * pool.stride, pool.alignment);
  if (blocks == nullptr) return pool.of_malloc -= count, nullptr;
  raise_peak(pool.most_of_malloc, live + count);
  return blocks;
}

// -- Samples -------------------------------------------------------------------------------------------

// A pool for one thread counts them: its hits look at no page's mark.
void note_sample_if_due(BlockPoolState& pool, void* blocks, std::size_t bytes) {
  if (watched::note_allocated(pool, blocks, bytes) && pool.own != nullptr) ++pool.sampled_count;
}
void forget_samples(BlockPoolState& pool, std::size_t count) {
  if (pool.own != nullptr) pool.sampled_count -= std::min(count, pool.sampled_count);
}

// -- Blocks of slabs -------------------------------------------------------------------------------------

void* take_marked(BlockPoolState& pool) {
  ThreadHeap* const heap = heap_of_this_thread();
  if (has_magazines(*pool.owner)) {
    void* block = heap != nullptr ? pop_marked(*pool.owner, pool.size_class, *heap) : nullptr;
    if (block == nullptr && heap != nullptr) block = refill_and_take(*heap, pool.size_class);
    if (block != nullptr) return block;
  }
  if (void* const block = take_from_slabs(pool)) return block;
  ReturnedPages returned;
  make_scarce(pool, returned);
  return take_from_slabs(pool);
}

void give_marked(BlockPoolState& pool, void* block) {
  ThreadHeap* const heap = heap_of_this_thread();
  if (heap == nullptr || !has_magazines(*pool.owner)) return give_to_slabs(pool, block);
  if (push_marked(*pool.owner, pool.size_class, *heap, block)) return;
  ReturnedPages returned;
  internal::deallocate(*heap, block, pool.size_class, returned);
}

void* take(BlockPoolState& pool) {
  switch (pool.source) {
    // Never comes here: allocate_slow_from() takes the slow call of the pool's class.
    case Source::kRecords:
      break;
    case Source::kMarked:
      return take_marked(pool);
    case Source::kOwn:
      return take_from_own(pool);
    case Source::kSlabs:
      return take_from_slabs(pool);
    case Source::kMalloc:
      return take_from_malloc(pool, 1);
  }
  return nullptr;
}

void give(BlockPoolState& pool, void* block) {
  // The place first: a pointer that is not the pool's stops the program before it is written through. What
  // destructors free while the pool ends is only marked in its slab, which that walk goes through.
  if (!pool.is_over_malloc()) place_in_pool(pool, block, 1);
  if (pool.wipes_freed() && !pool.is_over_malloc()) wipe_block(block, pool.stride, pool.poisons);
  if (pool.is_ending && !pool.is_over_malloc()) return mark_block_free(block);
  switch (pool.source) {
    case Source::kRecords:
      break;
    case Source::kMarked:
      return give_marked(pool, block);
    case Source::kOwn:
      return give_to_own(pool, block);
    case Source::kSlabs:
      return give_to_slabs(pool, block);
    case Source::kMalloc:
      return give_to_malloc(pool, block);
  }
}

constexpr PoolOperations kOperations = operations_of_blocks("fixed pool");

template <typename Front>
bool make(Front& front, const FixedPoolOptions& options, bool poisons, Source usual) {
  if (!are_valid(options)) return false;
  set_up_once();
  auto* const pool = metadata.make<BlockPoolState>();
  if (pool == nullptr) return false;
  const std::size_t alignment = options.alignment < kLeastStride ? kLeastStride : options.alignment;
  // Blocks stand side by side, so each is aligned if their distance is a multiple of the alignment.
  const std::size_t stride = round_up(options.block_bytes, alignment);
  const std::size_t blocks =
      options.blocks_per_chunk != 0 ? options.blocks_per_chunk : usual_blocks_in_chunk(stride);
  pool->stack_owner = lies_on_this_stack(&front) ? address_of_own_cache() : nullptr;
  pool->at_cap = options.at_cap;
  pool->on_refusal = options.on_refusal;
  pool->context = options.context;
  const BlockPoolRequest request{.operations = kOperations,
                                 .name = options.name.text(),
                                 .usual_name = "fixed pool",
                                 .geometry = chunk_geometry(stride, alignment, blocks),
                                 .alignment = alignment,
                                 .source = source_of_blocks(usual, poisons || options.sensitive),
                                 .most_blocks = options.largest_count,
                                 .initial_count = options.initial_count,
                                 .is_sensitive = options.sensitive,
                                 .is_checked = poisons,
                                 .poisons = poisons,
                                 .keeps_slabs = true};
  if (begin_block_pool(front, *pool, request)) return true;
  metadata.end(pool);
  return false;
}

}  // namespace

bool make_pool(SharedPoolFront& front, const FixedPoolOptions& options, bool poisons) noexcept {
  return make(front, options, poisons,
              options.largest_count == SIZE_MAX ? Source::kRecords : Source::kMarked);
}

bool make_pool(OwnPoolFront& front, const FixedPoolOptions& options, bool poisons) noexcept {
  front.user = nullptr;
  return make(front, options, poisons, Source::kOwn);
}

void end_block_pool(BlockPoolState* pool) noexcept {
  end_pool_of_blocks(*pool);
  metadata.end(pool);
}

void* block_pool_allocate_slow(BlockPoolState* pool) noexcept {
  return allocate_slow_from(*pool, pool->block_bytes);
}

void block_pool_deallocate_slow(BlockPoolState* pool, void* block) noexcept {
  if (block == nullptr) return;
  // The general pool's slow call knows samples and watchers itself. A marked magazine takes the block if
  // nobody watches. All others go by the pool's own way.
  if (pool->source == Source::kRecords) {
    place_in_pool(*pool, block, 1);
    return pool->is_ending ? mark_block_free(block) : deallocate_class_slow(block, pool->size_class);
  }
  if (pool->source == Source::kMarked && !is_disturbed() && !checks_pools()) {
    const Span& slab = *place_in_pool(*pool, block, 1).slab;
    ThreadHeap* const heap = this_heap();
    if (heap != nullptr && !slab.has_samples() && push_marked(*pool->owner, pool->size_class, *heap, block))
      return;
  }
  const SlowDoor door;
  watched::notice_at_free();
  if (watched::note_freed(block)) forget_samples(*pool, 1);
  give(*pool, block);
}

void* pool_allocate_by_call(SharedPoolFront& front) noexcept { return pool_hit_allocate(front); }
void* pool_allocate_by_call(OwnPoolFront& front) noexcept { return pool_hit_allocate(front); }
void pool_deallocate_by_call(SharedPoolFront& front, void* block) noexcept {
  pool_hit_deallocate(front, block);
}
void pool_deallocate_by_call(OwnPoolFront& front, void* block) noexcept { pool_hit_deallocate(front, block); }

namespace {

// As the inlined hits of a pool for any threads.
void* allocate_one(BlockPoolState& pool) {
  void* const block =
      pool.source == Source::kRecords ? pop(own_cache(), record_of_class(pool.size_class)) : nullptr;
  return block != nullptr ? block : block_pool_allocate_slow(&pool);
}
void free_one(BlockPoolState& pool, void* block) {
  ThreadCache* const cache = own_cache();
  const RecordPlace place = record_of(cache, block);
  if (pool.source != Source::kRecords || place != record_of_class(pool.size_class) ||
      !push(cache, place, block))
    block_pool_deallocate_slow(&pool, block);
}

}  // namespace

void* block_pool_allocate_run(BlockPoolState* pool, std::size_t count) noexcept {
  if (count == 1) return pool->own != nullptr ? pool_hit_allocate(*pool->own) : allocate_one(*pool);
  // A cached run is a hit unless somebody watches; a pool's slabs are searched behind the door.
  if (!is_disturbed())
    if (void* const run = take_cached_run(*pool, count))
      return begin_live_run(pool->size_class, run, count, pool->stride), run;
  if (count == 0 || count > pool->blocks_per_chunk) return nullptr;
  const SlowDoor door;
  const auto take_any = [&] {
    const ShownHits shown(*pool);
    return pool->is_over_malloc() ? take_from_malloc(*pool, count)
                                  : checked_for_writes(*pool, take_run(*pool, count), count);
  };
  void* const blocks = take_within_limits(take_any);
  if (blocks == nullptr) pool->note_refusal();
  if (blocks != nullptr && pool->poisons) os::unpoison(blocks, count * pool->stride);
  if (blocks != nullptr) begin_live_run(pool->size_class, blocks, count, pool->stride);
  note_sample_if_due(*pool, blocks, count * pool->stride);
  return blocks;
}

void block_pool_deallocate_run(BlockPoolState* pool, void* blocks, std::size_t count) noexcept {
  if (count == 0) return;
  if (count == 1)
    return pool->own != nullptr ? pool_hit_deallocate(*pool->own, blocks) : free_one(*pool, blocks);
  if (!pool->is_over_malloc()) {
    place_in_pool(*pool, blocks, count);
    if (!end_live_run(pool->size_class, blocks, count, pool->stride)) return;
  }
  if (!is_disturbed() && !pool->is_over_malloc()) {
    const Span& slab = *place_in_pool(*pool, blocks, count).slab;
    // In a slab with samples the run may have one: it takes the slow way, which ends it, and is not cached.
    if (!slab.has_samples() && cache_run(*pool, blocks, count)) return;
  }
  const SlowDoor door;
  const ShownHits shown(*pool);
  watched::notice_at_free();
  forget_samples(*pool, watched::note_run_freed(blocks, count, pool->stride));
  if (pool->is_over_malloc()) return give_to_malloc(*pool, blocks);
  if (pool->wipes_freed()) {
    place_in_pool(*pool, blocks, count);
    wipe_block(blocks, count * pool->stride, pool->poisons);
  }
  ReturnedPages returned;
  give_run_to_slabs(*pool, blocks, count, returned);
}

void block_pool_check_free(BlockPoolState* pool, const void* blocks, std::size_t count) noexcept {
  if (blocks == nullptr || count == 0) return;
  if (pool->is_over_malloc() && system_blocks.pool_of(blocks) != pool)
    pool->stop("free of a pointer that is no block of the pool", blocks);
  if (pool->is_over_malloc()) return;
  const BlockPlace place = place_in_pool(*pool, blocks, count);
  // A slab's bits know what was returned; of what is cached only the newest few are looked through, since all
  // of it would make each free as long as the magazine.
  stop_if_free(*pool, place, count);
  const OwnPoolFront* const own = pool->own;
  void* const* top = nullptr;
  if (own == nullptr && count == 1 && pool->size_class != SizeClass::kNone)
    top = newest_cached(pool->size_class);
  else if (own != nullptr && (count == 1 || (own->runs != nullptr && count <= kLongestCachedRun)))
    top = count == 1 ? own->top : own->runs[count].top;
  if (top != nullptr && is_among_newest(top, blocks)) pool->stop("double free", blocks);
}

bool block_pool_owns(const BlockPoolState* pool, const void* pointer) noexcept {
  if (pool->is_over_malloc()) return system_blocks.pool_of(pointer) == pool;
  const Span* const slab = page_map.find(pointer);
  const SlabOwner* const owner = owner_of_slab(slab);
  return owner != nullptr && owner->first_part == pool->owner &&
         address_of(pointer) - address_of(slab->start) < slab->block_count * pool->stride;
}

std::size_t block_pool_reserve(BlockPoolState* pool, std::size_t count, bool populates) noexcept {
  if (pool->is_over_malloc()) return count;
  const SlowDoor door;
  // More than there can be is not tried slab by slab; as many as the cap allows are.
  const bool is_possible = may_be_had(std::min(count, pool->largest_count), pool->stride);
  std::size_t usable = 0;
  take_within_limits([&] {
    usable = block_pool_usable_count(pool);
    const std::size_t wanted = is_possible && count > usable ? count - usable : 0;
    usable += add_slabs(*pool->owner, pool->size_class, wanted, populates);
    return usable >= count || !is_possible;
  });
  return usable;
}

std::size_t block_pool_release_unused(BlockPoolState* pool) noexcept {
  ReturnedPages returned;
  return release_unused(*pool, returned);
}

void block_pool_clear(BlockPoolState* pool) noexcept {
  if (pool->is_checked) {
    os::end_checked_pool(pool);
    os::begin_checked_pool(pool);
  }
  free_all(*pool);
}

std::size_t block_pool_capacity(const BlockPoolState* pool) noexcept {
  ReturnedPages returned;
  return census_of(const_cast<BlockPoolState&>(*pool), returned).block_count;
}
std::size_t block_pool_live_count(const BlockPoolState* pool) noexcept {
  ReturnedPages returned;
  return census_of(const_cast<BlockPoolState&>(*pool), returned).live_count;
}
std::size_t block_pool_usable_count(const BlockPoolState* pool) noexcept {
  ReturnedPages returned;
  const PoolCensus census = census_of(const_cast<BlockPoolState&>(*pool), returned);
  return census.block_count - census.live_count;
}
std::size_t block_pool_blocks_per_chunk(const BlockPoolState* pool) noexcept {
  return pool->blocks_per_chunk;
}
std::size_t block_pool_alignment(const BlockPoolState* pool) noexcept { return pool->alignment; }
std::size_t block_pool_chunk_count(const BlockPoolState* pool) noexcept {
  return pool->owner == nullptr ? 0 : slab_count(*pool->owner);
}
bool block_pool_throws(const BlockPoolState* pool) noexcept { return pool->at_cap == AtCap::kThrow; }

void block_pool_check_user_slow(OwnPoolFront& front) noexcept {
  if (front.user != nullptr)
    os::fatal_in_pool(front.state->name, "use of a single-thread pool by a second thread", &front);
  front.user = address_of_own_cache();
}

void block_pool_refused(BlockPoolState* pool) noexcept {
  if (pool->on_refusal == nullptr) return;
  os::check_no_lock_is_held("while a function of the program's runs");
  pool->on_refusal(pool->context);
}

}  // namespace TARN_NAMESPACE::detail

namespace tarn::internal {

using Source = BlockPoolState::Source;

void* allocate_slow_from(BlockPoolState& pool, std::size_t requested) {
  void* block = nullptr;
  if (pool.source == Source::kMarked && !is_disturbed()) {
    ThreadHeap* const heap = this_heap();
    if (heap != nullptr && (block = pop_marked(*pool.owner, pool.size_class, *heap)) != nullptr) return block;
  }
  if (pool.source == Source::kRecords) {
    block = allocate_class_slow(pool.size_class, requested);
    // The blocks that are missing may lie in runs that the pool has cached.
    if (block == nullptr && pool.run_lengths != 0) {
      ReturnedPages returned;
      return_runs(pool, returned);
      block = allocate_class_slow(pool.size_class, requested);
    }
  } else {
    const SlowDoor door;
    block = take_within_limits([&pool] { return detail::take(pool); });
    if (block != nullptr && pool.poisons) os::unpoison(block, pool.stride);
    detail::note_sample_if_due(pool, block, requested);
  }
  if (block == nullptr) pool.note_refusal();
  return block;
}

}  // namespace tarn::internal
