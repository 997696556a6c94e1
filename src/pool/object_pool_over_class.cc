// An object pool that owns its slabs (thread/pool_owner.h).
#include "base/units.h"
#include "general/memory_limits.h"
#include "os/fatal.h"
#include "page/page_map.h"
#include "pool/fixed_pool_state.h"
#include "pool/object_pool_state.h"
#include "thread/pool_owner.h"
#include "thread/this_thread.h"

namespace tarn::internal {
namespace {

using detail::ObjectPoolState;

void* allocate(ObjectPoolState& state) { return detail::allocate_class_slow(state.size_class); }

void deallocate(ObjectPoolState& state, void* block) {
  const Span* const span = page_map.find(block);
  if (span == nullptr || span->kind != SpanKind::kSlab || span->size_class != state.size_class)
    os::fatal_in_pool(state.name, "free of a pointer that is no block of the pool", block);
  if (state.is_ending) return mark_block_free(block);
  detail::deallocate_class_slow(block, state.size_class);
}

std::size_t live_count(ObjectPoolState& state) {
  ReturnedPages returned;
  return take_census(*state.owner, state.size_class, returned).live_count;
}

std::size_t prewarm(ObjectPoolState& state, std::size_t count) {
  std::size_t made = 0;
  take_within_limits([&] {
    made = prewarm_class(*state.owner, state.size_class, count);
    return made >= count;
  });
  return made;
}

std::size_t release_unused(ObjectPoolState& state) { return release_unused_slabs(*state.owner); }

PoolUse use(PoolHeader& pool, ReturnedPages& returned) {
  const ObjectPoolState& state = static_cast<ObjectPoolState&>(pool);
  const ClassCensus census = take_census(*state.owner, state.size_class, returned);
  PoolUse use{};
  use.kind = kObjectPoolKind;
  use.block_bytes = class_geometry[state.size_class].stride;
  use.live_count = census.live_count;
  use.live_bytes = census.live_count * use.block_bytes;
  use.peak_live_bytes = largest_taken_bytes(*state.owner);
  use.mapped_bytes = census.slab_bytes;
  use.is_in_classes = true;
  use.waste_bytes = use.mapped_bytes > use.live_bytes ? use.mapped_bytes - use.live_bytes : 0;
  use.capacity = census.block_count;
  use.largest_count = use.limit_bytes = use.mapped_limit_bytes = PoolUse::kNoLimit;
  use.refusals = state.refusals.load(std::memory_order_relaxed);
  return use;
}

void begin_to_end(ObjectPoolState& state) {
  internal::begin_to_end(*state.owner);
  settle(*state.owner);
}

void* first_of_malloc(const ObjectPoolState&) { return nullptr; }

void visit_live(ObjectPoolState& state, const BlockVisitor& visit) {
  visit_live_blocks(*state.owner, state.size_class, visit);
}

bool end(ObjectPoolState& state, std::size_t live) {
  if (live != 0 && state.at_end == AtPoolEnd::kDestroy) settle(*state.owner);
  release_pool_owner(*state.owner);
  return true;
}

SlabOwner* owner_of(const PoolHeader& pool) { return static_cast<const ObjectPoolState&>(pool).owner; }

constexpr PoolOperations kOperations{
    .kind = kObjectPoolKind, .record = PoolRecord::kObject, .use = use, .owner = owner_of};

}  // namespace

constexpr ObjectPoolBackEnd kObjectPoolOverClass{allocate,       deallocate,  live_count,   prewarm,
                                                 release_unused, kOperations, begin_to_end, first_of_malloc,
                                                 visit_live,     end};

}  // namespace tarn::internal
