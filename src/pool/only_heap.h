// A heap of the library's own, of which there is one: made at its first use, and never ended.
//
// Threads: any. Several may make it at once; the registry accepts only the first.
#pragma once
#include <atomic>

#include "general/pool_registry.h"
#include "page/metadata.h"
#include "pool/heap_state.h"

namespace tarn::internal {

/// Who wipes the blocks of a sensitive heap.
enum class Wiped : std::uint8_t { kByHeap, kByUsers };

class OnlyHeap {
 public:
  /// \returns nullptr when memory is refused. The arguments are always the same.
  detail::HeapState* get(const HeapOptions& options, const PoolOperations& operations,
                         Wiped wiped = Wiped::kByHeap) {
    PoolHeader* made = made_.load(std::memory_order_acquire);
    if (made == nullptr) [[unlikely]] {
      if (!make(options, operations, wiped)) return nullptr;
      made = made_.load(std::memory_order_acquire);
    }
    return static_cast<detail::HeapState*>(made);
  }

 private:
  bool make(const HeapOptions& options, const PoolOperations& operations, Wiped wiped) {
    detail::HeapState* const state = make_heap_state(options, operations, false);
    if (state == nullptr) return false;
    if (wiped == Wiped::kByUsers) state->back_end = state->unwiped_back_end;
    if (!pool_registry.add_only(*state, made_)) metadata.free(state, sizeof(detail::HeapState));
    return true;
  }

  std::atomic<PoolHeader*> made_{nullptr};
};

}  // namespace tarn::internal
