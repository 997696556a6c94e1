// The entry points of Heap: making and ending a heap, its limits, calls of its back end (heap_state.h), and
// the operations that every pool has.
#include "tarn/heap.h"

#include <cerrno>
#include <cstring>
#include <new>

#include "base/units.h"
#include "general/configuration.h"
#include "general/large.h"
#include "general/pool_registry.h"
#include "general/setup.h"
#include "os/checker.h"
#include "os/fatal.h"
#include "os/held_locks.h"
#include "page/metadata.h"
#include "pool/heap_state.h"

namespace TARN_NAMESPACE::detail {

using namespace internal;

namespace {

HeapState& state_of(PoolHeader& pool) { return static_cast<HeapState&>(pool); }

// Runs the callback when an allocation has crossed the soft limit. The callback may use the heap: no lock is
// held, and a crossing inside of the callback does not call it again.
void note_soft_limit(HeapState& state, const LiveBytes& live) {
  if (state.on_soft_limit == nullptr) return;
  {
    os::LockGuard guard(state.mutex);
    if (live.before > state.soft_limit || live.after <= state.soft_limit || state.is_calling_back) return;
    state.is_calling_back = true;
  }
  os::check_no_lock_is_held("while a function of the program's runs");
  state.on_soft_limit(*state.heap, state.context);
  os::LockGuard guard(state.mutex);
  state.is_calling_back = false;
}

void deallocate_any(PoolHeader& pool, void* block) { heap_deallocate(&state_of(pool), block); }

void* allocate_any(PoolHeader& pool, std::size_t size, std::size_t alignment) {
  return heap_allocate(&state_of(pool), size, alignment);
}

void* reallocate_any(PoolHeader& pool, void* block, std::size_t size) {
  return heap_reallocate(&state_of(pool), block, size);
}

Span* find_span_any(PoolHeader& pool, const void* pointer) {
  HeapState& state = state_of(pool);
  if (!state.slabs.lies_in_buffer()) return nullptr;
  os::LockGuard guard(state.mutex);
  return state.slabs.find_in_buffer(pointer);
}

constexpr PoolOperations kOperations{
    "heap",         allocate_any, deallocate_any,         usable_size_in_heap,
    reallocate_any, use_of_heap,  release_unused_of_heap, find_span_any};

}  // namespace

HeapState* make_heap(Heap& heap, const HeapOptions& options, bool poisons) noexcept {
  HeapState* const state = make_heap_state(options, kOperations, poisons);
  if (state == nullptr) return nullptr;
  state->heap = &heap;
  if (state->slabs.poisons()) os::begin_checked_pool(state);
  pool_registry.add(*state);
  if (state->slabs.lies_in_buffer()) pool_registry.add_callers_memory(*state);
  return state;
}

void end_heap(HeapState* state) noexcept {
  if (state == nullptr) return;
  pool_registry.remove(*state);
  if (state->slabs.lies_in_buffer()) pool_registry.remove_callers_memory(*state);
  if (state->slabs.poisons()) os::end_checked_pool(state);
  state->back_end->end(*state);
  metadata.free(state, sizeof(HeapState));
}

void* heap_allocate(HeapState* state, std::size_t size, std::size_t alignment) noexcept {
  if (!is_power_of_two(alignment)) {
    errno = EINVAL;
    return nullptr;
  }
  if (state == nullptr || size > kLargestRequest || alignment > kLargestRequest) return out_of_memory();
  LiveBytes live{};
  void* const block = state->back_end->allocate(*state, size, alignment, &live);
  if (block == nullptr) return out_of_memory();
  note_soft_limit(*state, live);
  return block;
}

void heap_deallocate(HeapState* state, void* block) noexcept {
  if (state == nullptr) os::fatal("free of a block of a heap that has ended", block);
  state->back_end->deallocate(*state, block);
}

std::size_t heap_usable_size(HeapState* state, const void* block) noexcept {
  return state != nullptr ? state->back_end->usable_size(*state, block) : 0;
}

void* heap_reallocate(HeapState* state, void* block, std::size_t size) noexcept {
  const std::size_t alignment = size <= detail::kTinyLimit ? detail::kTinyLimit : 16;
  if (block == nullptr) return heap_allocate(state, size, alignment);
  if (state == nullptr) os::fatal("use of a block of a heap that has ended", block);
  const std::size_t usable = heap_usable_size(state, block);
  if (state->back_end->resize(*state, block, usable, size)) return block;
  void* const moved = heap_allocate(state, size, alignment);
  if (moved == nullptr) return size <= usable ? block : nullptr;
  // Bytes beyond the requested ones are poisoned.
  if (state->slabs.poisons()) os::unpoison(block, usable);
  std::memcpy(moved, block, usable < size ? usable : size);
  heap_deallocate(state, block);
  return moved;
}

void heap_clear(HeapState* state) noexcept {
  if (state != nullptr) state->back_end->clear(*state);
}

bool heap_owns(const HeapState* state, const void* pointer) noexcept {
  return state != nullptr && state->back_end->owns(const_cast<HeapState&>(*state), pointer);
}

std::size_t heap_release_unused(HeapState* state) noexcept {
  if (state == nullptr) return 0;
  ReturnedPages returned;
  return release_unused_of_heap(*state, returned);
}

std::size_t heap_prewarm(HeapState* state, std::size_t bytes) noexcept {
  return state != nullptr ? state->back_end->prewarm(*state, bytes) : 0;
}

HeapUse heap_use(HeapState* state) noexcept {
  if (state == nullptr) return {};
  os::LockGuard guard(state->mutex);
  return {state->live_bytes, state->live_count, state->peak_live_bytes, state->slabs.mapped_bytes()};
}

void heap_set_limits(HeapState* state, std::size_t soft_limit, std::size_t hard_limit) noexcept {
  if (state == nullptr) return;
  os::LockGuard guard(state->mutex);
  state->soft_limit = soft_limit;
  state->hard_limit = hard_limit;
}

}  // namespace TARN_NAMESPACE::detail

namespace tarn::internal {

using detail::HeapState;

HeapState* make_heap_state(const HeapOptions& options, const PoolOperations& operations, bool poisons) {
  set_up_once();
  void* const record = metadata.allocate(sizeof(HeapState));
  if (record == nullptr) return nullptr;
  const bool is_over_malloc = configuration.is_on(Option::kPoolsUseMalloc);
  auto* const state = new (record) HeapState{};
  state->operations = &operations;
  state->back_end = is_over_malloc ? &kHeapOverMalloc : &kHeapOverSlabs;
  state->set_name(options.name, "heap");
  state->soft_limit = options.soft_limit;
  state->hard_limit = options.hard_limit;
  state->on_soft_limit = options.on_soft_limit;
  state->context = options.context;
  if (state->slabs.begin(*state, options.buffer, options.buffer_bytes, poisons && !is_over_malloc))
    return state;
  metadata.free(state, sizeof(HeapState));
  return nullptr;
}

std::size_t usable_size_in_heap(PoolHeader& pool, const void* block) {
  return heap_usable_size(&detail::state_of(pool), block);
}

PoolUse use_of_heap(PoolHeader& pool, ReturnedPages&) {
  HeapState& state = detail::state_of(pool);
  os::LockGuard guard(state.mutex);
  return {
      state.operations->kind,     state.name, 0, state.live_count, state.live_bytes, state.peak_live_bytes,
      state.slabs.mapped_bytes(), false};
}

std::size_t release_unused_of_heap(PoolHeader& pool, ReturnedPages& returned) {
  HeapState& state = detail::state_of(pool);
  os::LockGuard guard(state.mutex);
  return state.slabs.release_unused(returned);
}

void validate(HeapState& state) {
  TARN_CHECK(state.live_bytes <= state.peak_live_bytes);
  const bool is_over_malloc = state.back_end == &kHeapOverMalloc;
  state.slabs.validate(is_over_malloc ? 0 : state.live_bytes, is_over_malloc ? 0 : state.live_count);
}

}  // namespace tarn::internal
