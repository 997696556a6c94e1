#include "pool/arena_heap.h"

#include <atomic>

#include "general/pool_registry.h"
#include "page/metadata.h"
#include "pool/heap_state.h"

namespace tarn::internal {
namespace {

// Blocks in an arena's chunk are not freed one by one.
void ignore(PoolHeader&, void*) {}

constexpr PoolOperations kOperations{"arenas",    PoolRecord::kHeap,      nullptr,
                                     ignore,      usable_size_in_heap,    nullptr,
                                     use_of_heap, release_unused_of_heap, nullptr};

constinit std::atomic<PoolHeader*> only_heap{nullptr};

}  // namespace

// Several threads may make one at the same time; the registry accepts only the first.
detail::HeapState* arena_heap() {
  PoolHeader* made = only_heap.load(std::memory_order_acquire);
  if (made == nullptr) {
    detail::HeapState* const state = make_heap_state({.name = "arenas"}, kOperations, false);
    if (state == nullptr) return nullptr;
    if (!pool_registry.add_only(*state, only_heap)) metadata.free(state, sizeof(detail::HeapState));
    made = only_heap.load(std::memory_order_acquire);
  }
  return static_cast<detail::HeapState*>(made);
}

}  // namespace tarn::internal
