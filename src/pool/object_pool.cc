// The slow side of ObjectPool. The usual pool has a private size class (private_class.h). Where there are too
// many pools for that, and where blocks are to be malloc's, a fixed pool behind a mutex takes its place, and
// every call is slow.
#include "tarn/object_pool.h"

#include <new>

#include "base/text.h"
#include "base/units.h"
#include "central/class_slabs.h"
#include "central/owners.h"
#include "central/trim.h"
#include "general/configuration.h"
#include "general/pool_registry.h"
#include "general/setup.h"
#include "os/checker.h"
#include "os/fatal.h"
#include "page/background.h"
#include "page/metadata.h"
#include "page/page_map.h"
#include "pool/live_blocks.h"
#include "tarn/fixed_pool.h"
#include "thread/magazine.h"
#include "thread/private_class.h"
#include "thread/this_thread.h"

namespace TARN_NAMESPACE::detail {

using namespace internal;

struct ObjectPoolState : PoolHeader {
  SizeClass size_class;  // 0: objects lie in the fixed pool
  bool is_ending;        // every free goes to its slab at once
  AtPoolEnd at_end;
  ObjectPoolType type;
  FixedPoolFront fixed;  // has a mutex of its own
};

namespace {

ObjectPoolState& state_of(PoolHeader& pool) { return static_cast<ObjectPoolState&>(pool); }

bool is_fixed(const ObjectPoolState& state) { return state.size_class == 0; }

// Calls operation() under the fixed pool's lock, if it has one.
template <typename Operation>
auto with_fixed_pool(ObjectPoolState& state, Operation operation) {
  if (state.fixed.mutex == nullptr) return operation();
  MutexGuard guard(*state.fixed.mutex);
  return operation();
}

std::size_t live_count(ObjectPoolState& state) {
  if (!is_fixed(state)) {
    ReturnedPages returned;
    return count_private_class(state.size_class, returned).live_count;
  }
  return with_fixed_pool(
      state, [&] { return fixed_pool_capacity(state.fixed) - fixed_pool_usable_count(state.fixed); });
}

PoolUse use_of(PoolHeader& pool, ReturnedPages& returned) {
  ObjectPoolState& state = state_of(pool);
  // The fixed pool in its place tells of itself.
  if (is_fixed(state)) return {state.operations->kind, state.name, state.type.bytes, 0, 0, 0, 0, false};
  const ClassCensus census = count_private_class(state.size_class, returned);
  const std::size_t stride = class_geometry.of[state.size_class].stride;
  return {state.operations->kind, state.name, stride, census.live_count, census.live_count * stride, 0,
          census.slab_bytes,      true};
}

constexpr PoolOperations kOperations{"object pool", nullptr, nullptr, nullptr,
                                     nullptr,       use_of,  nullptr, nullptr};

void report_live(const ObjectPoolState& state, std::size_t count) {
  FixedText<256> line;
  line.add("tarn: '").add(state.name).add("' ended with ").add_decimal(count);
  line.add(count == 1 ? " live object of " : " live objects of ")
      .add_decimal(state.type.bytes)
      .add(" bytes\n");
  os::write_line(line.data(), line.length());
}

void visit_live(ObjectPoolState& state, const BlockVisitor& visit) {
  if (is_fixed(state)) {
    visit_live_blocks(state.fixed, visit);
  } else {
    visit_live_blocks(state.size_class, visit);
  }
}

void destroy_live(ObjectPoolState& state) {
  while (void* const block = is_fixed(state) ? first_system_block(state.fixed) : nullptr) {
    state.type.destroy(block);
    if (state.type.poisons) os::note_pool_free(&state, block);
    object_pool_deallocate_slow(&state, block);
  }
  state.is_ending = true;
  visit_live(state, {[](void* block, void* context) {
                       ObjectPoolState& pool = *static_cast<ObjectPoolState*>(context);
                       if (pool.type.poisons) os::note_pool_free(&pool, block);
                       // First, so that a destructor's own calls see it.
                       object_pool_deallocate_slow(&pool, block);
                       if (pool.type.poisons) os::unpoison(block, pool.type.bytes);
                       pool.type.destroy(block);
                     },
                     &state});
}

// What is live stays usable; for a checker it is no longer the pool's.
void end_for_checkers(ObjectPoolState& state) {
  if (!state.type.poisons) return;
  os::end_checked_pool(&state);
  state.fixed.checked_as = nullptr;
  visit_live(state, {[](void* block, void* context) {
                       os::unpoison(block, static_cast<ObjectPoolState*>(context)->type.bytes);
                     },
                     &state});
}

bool make_fixed(ObjectPoolState& state) {
  FixedPoolOptions options;
  options.block_bytes = state.type.bytes;
  options.alignment = state.type.alignment;
  options.name = state.name;
  if (!make_fixed_pool(state.fixed, options, PoolThreads::kAny, state.type.poisons)) return false;
  if (state.type.poisons) state.fixed.checked_as = &state;
  return true;
}

void end_with_class(ObjectPoolState& state) {
  begin_to_end_private_class(state.size_class);
  settle_private_class(state.size_class);
  std::size_t live = live_count(state);
  if (live != 0 && state.at_end == AtPoolEnd::kReport) report_live(state, live);
  if (live != 0 && state.at_end == AtPoolEnd::kDestroy) destroy_live(state);
  end_for_checkers(state);
  if (live != 0 && state.at_end == AtPoolEnd::kDestroy) settle_private_class(state.size_class);
  release_private_class(state.size_class);
  metadata.free(&state, sizeof(ObjectPoolState));
}

// A fixed pool that still has live objects stays behind for them.
void end_with_fixed_pool(ObjectPoolState& state) {
  const std::size_t live = live_count(state);
  if (live != 0 && state.at_end == AtPoolEnd::kReport) report_live(state, live);
  if (live != 0 && state.at_end == AtPoolEnd::kDestroy) destroy_live(state);
  end_for_checkers(state);
  if (live != 0 && state.at_end != AtPoolEnd::kDestroy) return;
  end_fixed_pool(state.fixed);
  metadata.free(&state, sizeof(ObjectPoolState));
}

}  // namespace

ObjectPoolState* make_object_pool(const ObjectPoolOptions& options, const ObjectPoolType& type,
                                  std::uint32_t* record_offset) noexcept {
  set_up_once();
  void* const record = metadata.allocate(sizeof(ObjectPoolState));
  if (record == nullptr) return nullptr;
  auto* const state = new (record) ObjectPoolState{};
  state->operations = &kOperations;
  state->set_name(options.name, "object pool");
  state->at_end = options.at_end;
  state->type = type;
  if (!configuration.is_on(Option::kPoolsUseMalloc))
    state->size_class = acquire_private_class(type.bytes, type.alignment);
  if (is_fixed(*state) && !make_fixed(*state)) {
    metadata.free(state, sizeof(ObjectPoolState));
    return nullptr;
  }
  *record_offset = static_cast<std::uint32_t>(state->size_class * sizeof(Record));
  if (type.poisons) os::begin_checked_pool(state);
  pool_registry.add(*state);
  if (object_pool_prewarm(state, options.initial_count) >= options.initial_count) return state;
  end_object_pool(state);
  return nullptr;
}

void end_object_pool(ObjectPoolState* state) noexcept {
  pool_registry.remove(*state);
  if (is_fixed(*state)) {
    end_with_fixed_pool(*state);
  } else {
    end_with_class(*state);
  }
  background.notice();
}

void* object_pool_allocate_slow(ObjectPoolState* state) noexcept {
  if (!is_fixed(*state)) return allocate_bin_slow(state->size_class);
  return with_fixed_pool(*state, [&] { return fixed_pool_allocate(state->fixed); });
}

void object_pool_deallocate_slow(ObjectPoolState* state, void* block) noexcept {
  if (is_fixed(*state)) return with_fixed_pool(*state, [&] { fixed_pool_deallocate(state->fixed, block); });
  const Span* const span = page_map.find(block);
  if (span == nullptr || span->kind != SpanKind::kSlab || span->size_class != state->size_class)
    os::fatal_in_pool(state->name, "free of a pointer that is no block of the pool", block);
  if (state->is_ending) return mark_block_free(block);
  deallocate_bin_slow(block, state->size_class);
}

std::size_t object_pool_live_count(ObjectPoolState* state) noexcept { return live_count(*state); }

std::size_t object_pool_prewarm(ObjectPoolState* state, std::size_t count) noexcept {
  if (count == 0) return 0;
  if (is_fixed(*state))
    return with_fixed_pool(*state, [&] { return fixed_pool_reserve(state->fixed, count, true); });
  ThreadHeap* const heap = attach_this_thread();
  return heap == nullptr ? 0 : prewarm_class(*heap, state->size_class, count);
}

std::size_t object_pool_release_unused(ObjectPoolState* state) noexcept {
  if (is_fixed(*state)) return fixed_pool_release_unused(state->fixed);
  ReturnedPages returned;
  if (ThreadHeap* const heap = this_heap(); heap != nullptr) {
    os::LockGuard guard(heap->mutex());
    drop_magazine_locked(*heap, state->size_class, returned);
  }
  owners.for_each([&](SlabOwner& owner) {
    trim_class_locked(owner, state->size_class, TrimDepth::kAll, returned);
    end_spare_slabs(owner, 0, returned);  // among them those that ended here before
  });
  return returned.bytes();
}

}  // namespace TARN_NAMESPACE::detail
