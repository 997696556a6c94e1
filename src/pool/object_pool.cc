// The entry points of ObjectPool: making and ending a pool, and calls of its back end (object_pool_state.h).
#include "tarn/object_pool.h"

#include <new>

#include "base/units.h"
#include "base/wipe.h"
#include "central/private_classes.h"
#include "general/configuration.h"
#include "general/memory_limits.h"
#include "general/pool_registry.h"
#include "general/setup.h"
#include "os/checker.h"
#include "os/held_locks.h"
#include "page/metadata.h"
#include "pool/object_pool_state.h"
#include "thread/pool_owner.h"

namespace TARN_NAMESPACE::detail {

using namespace internal;

namespace {

void destroy_object(const ObjectPoolState& state, void* block) {
  os::check_no_lock_is_held("while a function of the program's runs");
  state.type.destroy(block);
}

void destroy_live(ObjectPoolState& state) {
  while (void* const block = state.back_end->first_of_malloc(state)) {
    destroy_object(state, block);
    if (state.type.poisons) os::note_pool_free(&state, block);
    state.back_end->deallocate(state, block);
  }
  state.is_ending = true;
  state.back_end->visit_live(state, [&](void* block) {
    if (state.type.poisons) os::note_pool_free(&state, block);
    // Freed first, so that calls of the destructor see a free block.
    state.back_end->deallocate(state, block);
    if (state.type.poisons) os::unpoison(block, state.type.bytes);
    destroy_object(state, block);
    if (state.is_sensitive) wipe(block, state.type.bytes);
  });
}

// Live objects stay usable; for a checker they no longer belong to the pool.
void end_for_checkers(ObjectPoolState& state) {
  if (!state.type.poisons) return;
  os::end_checked_pool(&state);
  state.fixed.checked_as = nullptr;
  state.back_end->visit_live(state, [&](void* block) { os::unpoison(block, state.type.bytes); });
}

}  // namespace

ObjectPoolState* make_object_pool(const ObjectPoolOptions& options, const ObjectPoolType& type,
                                  RecordPlace* place) noexcept {
  set_up_once();
  void* const record = metadata.allocate(sizeof(ObjectPoolState));
  if (record == nullptr) return nullptr;
  auto* const state = new (record) ObjectPoolState{};
  state->set_name(options.name, "object pool");
  state->at_end = options.at_end;
  state->type = type;
  state->is_sensitive = options.sensitive;
  const bool has_class = !configuration.is_on(Option::kPoolsUseMalloc) &&
                         type.live_objects == LiveObjects::kCounted && !options.sensitive;
  if (has_class) {
    const ClassGeometry geometry = pool_geometry(type.bytes, type.alignment);
    state->owner = acquire_pool_owner(&geometry, 1);
    if (state->owner != nullptr) state->size_class = state->owner->first_class;
  }
  state->back_end = has_class ? &kObjectPoolOverClass : &kObjectPoolOverFixedPool;
  state->operations = &state->back_end->operations;
  if (has_class ? state->size_class == SizeClass::kNone : !make_fixed_pool_of(*state)) {
    metadata.free(state, sizeof(ObjectPoolState));
    return nullptr;
  }
  *place = record_of_class(state->size_class);
  if (type.poisons) os::begin_checked_pool(state);
  pool_registry.add(*state);
  if (object_pool_prewarm(state, options.initial_count) >= options.initial_count) return state;
  end_object_pool(state);
  return nullptr;
}

void end_object_pool(ObjectPoolState* state) noexcept {
  pool_registry.remove(*state);
  state->back_end->begin_to_end(*state);
  const std::size_t live = state->back_end->live_count(*state);
  if (live != 0 && state->at_end == AtPoolEnd::kReport) state->report_live(live, state->type.bytes);
  if (live != 0 && state->at_end == AtPoolEnd::kDestroy) destroy_live(*state);
  end_for_checkers(*state);
  if (state->back_end->end(*state, live)) metadata.free(state, sizeof(ObjectPoolState));
}

FixedPoolFront* blocks_of_object_pool(ObjectPoolState* state) noexcept { return &state->fixed; }

void* object_pool_allocate_slow(ObjectPoolState* state) noexcept {
  void* const block = state->back_end->allocate(*state);
  if (block == nullptr) state->refusals.fetch_add(1, std::memory_order_relaxed);
  return block;
}

void object_pool_deallocate_slow(ObjectPoolState* state, void* block) noexcept {
  state->back_end->deallocate(*state, block);
}

void* object_pool_allocate(ObjectPoolState* state, RecordPlace place) noexcept {
  void* const block = pop(own_cache(), place);
  return block != nullptr ? block : object_pool_allocate_slow(state);
}

void object_pool_deallocate(ObjectPoolState* state, RecordPlace place, void* block) noexcept {
  ThreadCache* const cache = own_cache();
  if (record_of(cache, block) != place || !push(cache, place, block)) [[unlikely]]
    object_pool_deallocate_slow(state, block);
}

std::size_t object_pool_live_count(ObjectPoolState* state) noexcept {
  return state->back_end->live_count(*state);
}

std::size_t object_pool_prewarm(ObjectPoolState* state, std::size_t count) noexcept {
  // More than there can be is not tried slab by slab.
  return count != 0 && may_be_had(count, state->type.bytes) ? state->back_end->prewarm(*state, count) : 0;
}

std::size_t object_pool_release_unused(ObjectPoolState* state) noexcept {
  return state->back_end->release_unused(*state);
}

}  // namespace TARN_NAMESPACE::detail
