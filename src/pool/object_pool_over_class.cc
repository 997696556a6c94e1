// An object pool whose objects have their own size class (private_class.h).
#include <climits>

#include "base/units.h"
#include "central/class_slabs.h"
#include "central/depot.h"
#include "central/owners.h"
#include "central/trim.h"
#include "general/memory_limits.h"
#include "os/fatal.h"
#include "page/page_map.h"
#include "pool/fixed_pool_state.h"
#include "pool/object_pool_state.h"
#include "thread/magazine.h"
#include "thread/private_class.h"
#include "thread/registry.h"
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
  return count_private_class(state.size_class, returned).live_count;
}

std::size_t prewarm(ObjectPoolState& state, std::size_t count) {
  ThreadHeap* const heap = attach_this_thread();
  std::size_t made = 0;
  take_within_limits([&] {
    if (heap != nullptr) made = prewarm_class(*heap, state.size_class, count);
    return made >= count;
  });
  return made;
}

std::size_t release_unused(ObjectPoolState& state) {
  ReturnedPages returned;
  registry.for_each_heap([&](ThreadHeap& heap) {
    if (&heap == this_heap() || heap.is_left()) drop_magazine_locked(heap, state.size_class, returned);
  });
  owners.for_each([&](SlabOwner& owner) { return_parked(owner, state.size_class, UINT_MAX, returned); });
  owners.for_each([&](SlabOwner& owner) {
    trim_class_locked(owner, state.size_class, TrimDepth::kAll, returned);
    end_spare_slabs(owner, 0, returned);  // slabs that ended here before may be among them
  });
  return returned.bytes();
}

PoolUse use(PoolHeader& pool, ReturnedPages& returned) {
  const ObjectPoolState& state = static_cast<ObjectPoolState&>(pool);
  const ClassCensus census = count_private_class(state.size_class, returned);
  PoolUse use{};
  use.kind = kObjectPoolKind;
  use.block_bytes = class_geometry[state.size_class].stride;
  use.live_count = census.live_count;
  use.live_bytes = census.live_count * use.block_bytes;
  use.peak_live_bytes = peak_of_private_class(state.size_class) * use.block_bytes;
  use.mapped_bytes = census.slab_bytes;
  use.is_in_classes = true;
  use.waste_bytes = use.mapped_bytes > use.live_bytes ? use.mapped_bytes - use.live_bytes : 0;
  use.capacity = census.block_count;
  use.largest_count = use.limit_bytes = use.mapped_limit_bytes = PoolUse::kNoLimit;
  use.refusals = state.refusals.load(std::memory_order_relaxed);
  return use;
}

void begin_to_end(ObjectPoolState& state) {
  begin_to_end_private_class(state.size_class);
  settle_private_class(state.size_class);
}

void* first_of_malloc(const ObjectPoolState&) { return nullptr; }

void visit_live(ObjectPoolState& state, const BlockVisitor& visit) {
  visit_live_blocks(state.size_class, visit);
}

bool end(ObjectPoolState& state, std::size_t live) {
  if (live != 0 && state.at_end == AtPoolEnd::kDestroy) settle_private_class(state.size_class);
  release_private_class(state.size_class);
  return true;
}

SizeClass class_of(const PoolHeader& pool) { return static_cast<const ObjectPoolState&>(pool).size_class; }

constexpr PoolOperations kOperations{
    .kind = kObjectPoolKind, .record = PoolRecord::kObject, .use = use, .private_class = class_of};

}  // namespace

constexpr ObjectPoolBackEnd kObjectPoolOverClass{allocate,       deallocate,  live_count,   prewarm,
                                                 release_unused, kOperations, begin_to_end, first_of_malloc,
                                                 visit_live,     end};

}  // namespace tarn::internal
