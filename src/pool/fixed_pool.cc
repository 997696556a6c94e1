// The entry points of FixedPool and SharedFixedPool: making and ending a pool, calls of its back end
// (fixed_pool_state.h), and the operations that every pool has.
#include "tarn/fixed_pool.h"

#include <new>

#include "base/units.h"
#include "general/configuration.h"
#include "general/pool_registry.h"
#include "general/setup.h"
#include "os/checker.h"
#include "os/held_locks.h"
#include "page/metadata.h"
#include "pool/fixed_pool_state.h"

namespace TARN_NAMESPACE::detail {

using namespace internal;

namespace {

constexpr std::size_t kLargestBlock = 256 * 1024;
constexpr std::size_t kLargestAlignment = 65536;
constexpr std::size_t kLeastStride = 8;

FixedPoolState& state_of(PoolHeader& pool) { return static_cast<FixedPoolState&>(pool); }

void deallocate_any(PoolHeader& pool, void* block) {
  FixedPoolState& state = state_of(pool);
  if (state.front->user != nullptr && state.front->user != &thread_cache)
    fixed_pool_check_user_slow(*state.front);
  if (state.front->checked_as != nullptr) os::note_pool_free(state.front->checked_as, block);
  const ProgramGuard guard(state.front->mutex);
  if (state.poisons) os::poison(block, state.front->stride);
  fixed_pool_deallocate(*state.front, block);
}

std::size_t usable_size_of(PoolHeader& pool, const void*) { return state_of(pool).front->stride; }

PoolUse use_of(PoolHeader& pool, ReturnedPages&) {
  FixedPoolState& state = state_of(pool);
  os::LockGuard guard(state.structure);
  const std::size_t live = state.capacity - state.ring.free_count(), stride = state.front->stride;
  return {state.operations->kind, state.name, stride, live, live * stride, 0, state.mapped_bytes, false};
}

std::size_t release_unused_shared(PoolHeader& pool, ReturnedPages& returned) {
  FixedPoolState& state = state_of(pool);
  if (state.front->mutex == nullptr) return 0;
  os::LockGuard guard(*state.front->mutex);
  return state.back_end->release_unused(state, returned);
}

constexpr PoolOperations kOperations{"fixed pool", nullptr, deallocate_any,        usable_size_of,
                                     nullptr,      use_of,  release_unused_shared, nullptr};

bool are_valid(const FixedPoolOptions& options) {
  return options.block_bytes != 0 && options.block_bytes <= kLargestBlock &&
         is_power_of_two(options.alignment) && options.alignment <= kLargestAlignment &&
         options.blocks_per_chunk <= PoolChunk::kLargestCount;
}

/// Whether an object lies above this call on the thread's stack, judged by its distance.
bool lies_on_this_stack(const void* object) {
  constexpr std::size_t kLargestStack = std::size_t{64} << 20;
  return address_of(object) - address_of(__builtin_frame_address(0)) < kLargestStack;
}

}  // namespace

bool make_fixed_pool(FixedPoolFront& front, const FixedPoolOptions& options, PoolThreads threads,
                     bool poisons) noexcept {
  if (!are_valid(options)) return false;
  set_up_once();
  void* const record = metadata.allocate(sizeof(FixedPoolState));
  if (record == nullptr) return false;
  const bool is_over_malloc = configuration.is_on(Option::kPoolsUseMalloc);
  const std::size_t alignment = options.alignment < kLeastStride ? kLeastStride : options.alignment;
  front = {};
  auto* const state = new (record) FixedPoolState(front);
  front.stride = round_up(options.block_bytes, alignment);
  front.reciprocal = ~std::uint64_t{0} / front.stride + 1;
  front.state = state;
  if (poisons) front.checked_as = state;
  state->operations = &kOperations;
  state->back_end = is_over_malloc ? &kFixedPoolOverMalloc : &kFixedPoolOverChunks;
  state->set_name(options.name, "fixed pool");
  state->stack_owner = lies_on_this_stack(&front) ? &thread_cache : nullptr;
  state->alignment = alignment;
  state->blocks_per_chunk = options.blocks_per_chunk != 0
                                ? static_cast<std::uint32_t>(options.blocks_per_chunk)
                                : usual_chunk_count(front.stride);
  state->largest_count = options.largest_count;
  state->at_cap = options.at_cap;
  state->is_checked = poisons;
  state->poisons = poisons && !is_over_malloc;
  // Checkers see more wrong uses of a block that stays free for long.
  if (!poisons && !is_over_malloc) front.freed_end = state->freed + FixedPoolState::kFreedBlocks;
  // Over malloc, which may be ours, no lock is held: the counts are atomic.
  front.mutex = threads == PoolThreads::kAny && !is_over_malloc ? &state->mutex : nullptr;
  state->on_refusal = options.on_refusal;
  state->context = options.context;
  if (poisons) os::begin_checked_pool(state);
  pool_registry.add(*state);
  if (fixed_pool_reserve(front, options.initial_count, false) >= options.initial_count) return true;
  end_fixed_pool(front);
  return false;
}

void end_fixed_pool(FixedPoolFront& front) noexcept {
  FixedPoolState& state = *front.state;
  pool_registry.remove(state);
  if (state.is_checked) os::end_checked_pool(&state);
  ReturnedPages returned;
  state.back_end->end(state, returned);
  metadata.free(&state, sizeof(FixedPoolState));
}

void* fixed_pool_allocate_slow(FixedPoolFront& front) noexcept {
  return front.state->back_end->allocate(*front.state);
}

void fixed_pool_deallocate_slow(FixedPoolFront& front, void* block) noexcept {
  if (block != nullptr) front.state->back_end->deallocate(*front.state, block);
}

void* fixed_pool_allocate_run(FixedPoolFront& front, std::size_t count) noexcept {
  if (count == 1) return fixed_pool_allocate(front);
  if (count == 0 || count > front.state->blocks_per_chunk) return nullptr;
  return front.state->back_end->allocate_run(*front.state, count);
}

void fixed_pool_deallocate_run(FixedPoolFront& front, void* blocks, std::size_t count) noexcept {
  if (count == 1) return fixed_pool_deallocate(front, blocks);
  if (count != 0) front.state->back_end->deallocate_run(*front.state, blocks, count);
}

bool fixed_pool_owns(const FixedPoolFront& front, const void* pointer) noexcept {
  return front.state->back_end->owns(*front.state, pointer);
}

std::size_t fixed_pool_reserve(FixedPoolFront& front, std::size_t count, bool populates) noexcept {
  return front.state->back_end->reserve(*front.state, count, populates);
}

std::size_t fixed_pool_release_unused(FixedPoolFront& front) noexcept {
  ReturnedPages returned;
  const ProgramGuard guard(front.mutex);
  return front.state->back_end->release_unused(*front.state, returned);
}

void fixed_pool_clear(FixedPoolFront& front) noexcept {
  FixedPoolState& state = *front.state;
  if (state.is_checked) {
    os::end_checked_pool(&state);
    os::begin_checked_pool(&state);
  }
  state.back_end->clear(state);
}

std::size_t fixed_pool_capacity(const FixedPoolFront& front) noexcept { return front.state->capacity; }
std::size_t fixed_pool_usable_count(const FixedPoolFront& front) noexcept {
  return front.state->ring.free_count();
}
std::size_t fixed_pool_blocks_per_chunk(const FixedPoolFront& front) noexcept {
  return front.state->blocks_per_chunk;
}
std::size_t fixed_pool_alignment(const FixedPoolFront& front) noexcept { return front.state->alignment; }
std::size_t fixed_pool_chunk_count(const FixedPoolFront& front) noexcept { return front.state->ring.count(); }
bool fixed_pool_throws(const FixedPoolFront& front) noexcept { return front.state->at_cap == AtCap::kThrow; }

void fixed_pool_refused(FixedPoolFront& front) noexcept {
  if (front.state->on_refusal == nullptr) return;
  os::check_no_lock_is_held("while a function of the program's runs");
  front.state->on_refusal(front.state->context);
}

void fixed_pool_check_user_slow(FixedPoolFront& front) noexcept {
  if (front.user != nullptr)
    os::fatal_in_pool(front.state->name, "use of a single-thread pool by a second thread", &front);
  front.user = &thread_cache;
}

}  // namespace TARN_NAMESPACE::detail
