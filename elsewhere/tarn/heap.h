#pragma once
#include "../../include/tarn/heap.h"
#include "tarn/memory_pool.h"

namespace TARN_NAMESPACE::detail {

struct HeapState : PoolBlocks {
  using PoolBlocks::PoolBlocks;
  Heap* heap = nullptr;
  std::size_t soft_limit = SIZE_MAX;
  void (*on_soft_limit)(Heap& heap, void* context) = nullptr;
  void* context = nullptr;
};

inline HeapState* make_heap(Heap& heap, const HeapOptions& options, bool) noexcept {
  if (options.buffer != nullptr && options.buffer_bytes < std::size_t{64} << 10) return nullptr;
  auto* const state = new HeapState("heap", options.name, "heap");
  state->heap = &heap;
  state->soft_limit = options.soft_limit;
  state->on_soft_limit = options.on_soft_limit;
  state->context = options.context;
  // Pages and a buffer hold no more than they have bytes.
  state->most_bytes = std::min(options.hard_limit, options.mapped_limit);
  if (options.buffer != nullptr) state->most_bytes = std::min(state->most_bytes, options.buffer_bytes);
  state->is_sensitive = options.sensitive;
  if (options.parent != nullptr) state->parent = HeapAccess::state(*options.parent);
  return state;
}
inline void end_heap(HeapState* state) noexcept { delete state; }
inline void* heap_allocate(HeapState* state, std::size_t size, std::size_t alignment) noexcept {
  if (state == nullptr) return refuse(ENOMEM);
  void* const block = state->take(size, alignment);
  if (block == nullptr) return ++state->refusals, nullptr;
  const std::size_t bytes = usable_size(block);
  for (HeapState* heap = state; heap != nullptr; heap = static_cast<HeapState*>(heap->parent)) {
    const std::size_t live_bytes = heap->live_bytes;
    if (live_bytes > heap->soft_limit && live_bytes - bytes <= heap->soft_limit &&
        heap->on_soft_limit != nullptr)
      heap->on_soft_limit(*heap->heap, heap->context);
  }
  return block;
}
inline void* heap_allocate(HeapState* state, std::size_t size) noexcept {
  return heap_allocate(state, size, 16);
}
inline void* heap_reallocate(HeapState* state, void* block, std::size_t size) noexcept {
  return state != nullptr ? reallocate_in(state, block, size) : refuse(ENOMEM);
}
inline void heap_deallocate(HeapState* state, void* block) noexcept { state->give(block); }
inline void heap_check_free(HeapState*, const void*) noexcept {}
inline void heap_clear(HeapState* state) noexcept {
  if (state != nullptr) state->clear();
}
inline bool heap_owns(const HeapState* state, const void* pointer) noexcept {
  return state != nullptr && state->owns(pointer);
}
inline std::size_t heap_usable_size(HeapState*, const void* block) noexcept { return usable_size(block); }
inline std::size_t heap_release_unused(HeapState*) noexcept { return 0; }
inline std::size_t heap_prewarm(HeapState*, std::size_t) noexcept { return 0; }
inline HeapUse heap_use(HeapState* state) noexcept {
  if (state == nullptr) return {};
  const PoolsGuard guard(mutex_of_pools());
  std::size_t own = 0;
  for (const auto& [block, piece] : state->live) own += piece.bytes;
  return {state->live_bytes, state->live.size(), state->peak_live_bytes, state->live_bytes,
          state->live_bytes - own};
}
inline void heap_set_limits(HeapState* state, std::size_t soft_limit, std::size_t hard_limit) noexcept {
  if (state == nullptr) return;
  state->soft_limit = soft_limit;
  state->most_bytes = hard_limit;
}
inline void* enter_scope(Heap& heap) noexcept { return exchange_scope(HeapAccess::state(heap)); }
inline Heap* current_heap() noexcept {
  return scope != nullptr ? static_cast<HeapState*>(scope)->heap : nullptr;
}
/// malloc and new bypass heaps here, always.
inline bool is_in_pages(const void*) noexcept { return false; }
inline void say_that_malloc_is_foreign() noexcept {}

}  // namespace TARN_NAMESPACE::detail
