// An object pool whose objects lie in a fixed pool.
#include "pool/fixed_pool_state.h"
#include "pool/object_pool_state.h"

namespace tarn::internal {
namespace {

using detail::ObjectPoolState;

void* allocate(ObjectPoolState& state) { return detail::fixed_pool_allocate_shared(state.fixed); }

// The destructor of an object that ends with its sensitive pool runs after this.
void deallocate_unwiped(detail::FixedPoolState& blocks, void* block) {
  const detail::ProgramGuard guard(blocks.front->mutex);
  blocks.unwiped_back_end->deallocate(blocks, block);
}

void deallocate(ObjectPoolState& state, void* block) {
  if (state.is_ending && state.is_sensitive) return deallocate_unwiped(*state.fixed.state, block);
  detail::fixed_pool_deallocate_shared(state.fixed, block);
}

std::size_t live_count(ObjectPoolState& state) { return detail::fixed_pool_live_count(state.fixed); }

std::size_t prewarm(ObjectPoolState& state, std::size_t count) {
  return detail::fixed_pool_reserve(state.fixed, count, true);
}

std::size_t release_unused(ObjectPoolState& state) { return detail::fixed_pool_release_unused(state.fixed); }

void begin_to_end(ObjectPoolState&) {}

void* first_of_malloc(const ObjectPoolState& state) {
  return state.fixed.state->back_end->first_of_malloc(*state.fixed.state);
}

void visit_live(ObjectPoolState& state, const BlockVisitor& visit) {
  state.fixed.state->back_end->visit_live(*state.fixed.state, visit);
}

// The fixed pool tells of the objects, also of those that outlive their pool.
constexpr PoolOperations kOperations{.kind = kObjectPoolKind, .record = PoolRecord::kObject};

// A fixed pool with live objects stays for them.
bool end(ObjectPoolState& state, std::size_t live) {
  if (live != 0 && state.at_end != AtPoolEnd::kDestroy) return false;
  detail::end_fixed_pool(state.fixed);
  return true;
}

}  // namespace

constexpr ObjectPoolBackEnd kObjectPoolOverFixedPool{
    allocate,    deallocate,   live_count,      prewarm,    release_unused,
    kOperations, begin_to_end, first_of_malloc, visit_live, end};

bool make_fixed_pool_of(ObjectPoolState& state) {
  FixedPoolOptions options;
  options.block_bytes = state.type.bytes;
  options.alignment = state.type.alignment;
  options.name = state.name;
  options.sensitive = state.is_sensitive;
  if (!make_pool_of_objects(state.fixed, options, state.type.poisons)) return false;
  if (state.type.poisons) state.fixed.checked_as = &state;
  return true;
}

}  // namespace tarn::internal
