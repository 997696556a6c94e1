// The entry points of ObjectPool: making and ending a pool. Its blocks are those of a block pool
// (block_pool_state.h).
#include "tarn/object_pool.h"

#include "base/wipe.h"
#include "general/options/memory_limits.h"
#include "general/options/setup.h"
#include "general/pools/pool_registry.h"
#include "os/checker.h"
#include "os/locks/held_locks.h"
#include "page/memory/metadata.h"
#include "pool/blocks/block_pool_state.h"
#include "pool/watched_blocks.h"
#include "thread/pools/pool_owner.h"

namespace TARN_NAMESPACE::detail {

struct ObjectPoolState : BlockPoolState {
  AtPoolEnd at_end{};
  ObjectPoolType type{};
};

using namespace internal;

namespace {

// Its slabs are trimmed as those of threads' owners are.
constexpr PoolOperations kOperations = [] {
  PoolOperations operations = operations_of_blocks(kObjectPoolKind);
  operations.release_unused = nullptr;
  return operations;
}();

void destroy_object(const ObjectPoolState& state, void* block) {
  os::check_no_lock_is_held("while a function of the program's runs");
  state.type.destroy(block);
}

// Freed first, so that calls of the destructor see a free block; but malloc's blocks last.
void destroy_live(ObjectPoolState& state) {
  state.is_ending = true;
  visit_live_blocks_of(state, [&](void* block) {
    if (state.is_over_malloc()) {
      destroy_object(state, block);
      if (state.type.poisons) os::note_pool_free(&state, block);
      return block_pool_deallocate_slow(&state, block);
    }
    if (state.type.poisons) os::note_pool_free(&state, block);
    watched::note_freed(block);
    mark_block_free(block);
    if (state.type.poisons) os::unpoison(block, state.type.bytes);
    destroy_object(state, block);
    if (state.is_sensitive) wipe(block, state.type.bytes);
  });
}

// Whether blocks may be freed when the pool's record is gone: those that threads find the class of.
bool may_outlive(const ObjectPoolState& state) { return state.source == BlockPoolState::Source::kRecords; }

}  // namespace

ObjectPoolState* make_object_pool(const ObjectPoolOptions& options, const ObjectPoolType& type,
                                  SharedPoolFront& front) noexcept {
  set_up_once();
  auto* const state = metadata.make<ObjectPoolState>();
  if (state == nullptr) return nullptr;
  state->at_end = options.at_end;
  state->type = type;
  const BlockPoolRequest request{
      .operations = kOperations,
      .name = options.name.text(),
      .usual_name = "object pool",
      .geometry = pool_geometry(type.bytes, type.alignment),
      .alignment = type.alignment,
      .source = source_of_blocks(BlockPoolState::Source::kRecords, options.sensitive),
      .is_sensitive = options.sensitive,
      .is_checked = type.poisons,
      .poisons = type.poisons};
  if (!begin_block_pool(front, *state, request)) {
    metadata.end(state);
    return nullptr;
  }
  // Too few blocks ahead of need, as at the limit: no pool, rather than one that breaks its promise.
  if (object_pool_prewarm(state, options.initial_count) >= options.initial_count) return state;
  end_object_pool(state);
  return nullptr;
}

void end_object_pool(ObjectPoolState* state) noexcept {
  const std::size_t live = block_pool_live_count(state);
  if (live != 0 && state->at_end == AtPoolEnd::kReport) state->report_live(live, state->type.bytes);
  // The record stays for live objects that will be freed by their addresses.
  if (live != 0 && state->at_end != AtPoolEnd::kDestroy && !may_outlive(*state)) return;
  begin_to_end_blocks(*state);
  if (live != 0 && state->at_end == AtPoolEnd::kDestroy) destroy_live(*state);
  end_blocks(*state);
  metadata.end(state);
}

std::size_t object_pool_prewarm(ObjectPoolState* state, std::size_t count) noexcept {
  // More than there can be is not tried slab by slab.
  if (count == 0 || !may_be_had(count, state->type.bytes)) return 0;
  if (state->is_over_malloc()) return count;
  std::size_t made = 0;
  take_within_limits([&] {
    made = prewarm_class(*state->owner, state->size_class, count);
    return made >= count;
  });
  return made;
}

}  // namespace TARN_NAMESPACE::detail
