// The library's record of a heap, its limits, and the two back ends that a heap may have: its own slabs, or
// malloc for each block (the option pools_use_malloc). Making a heap fixes its back end.
//
// Invariant, with the mutex held: live_bytes and live_count are sums over live blocks. Over malloc they also
// count blocks that are being made or freed: malloc may be ours, so no lock is held around it.
// Threads: any; the heap's mutex.
#pragma once
#include <cstddef>

#include "general/pool_header.h"
#include "pool/heap_slabs.h"
#include "tarn/heap.h"

namespace tarn::internal {

/// Live bytes before and after an allocation.
struct LiveBytes {
  std::size_t before, after;
};

/// The functions that differ between back ends. No lock is held.
struct HeapBackEnd {
  /// Allocates a block and charges the heap; nullptr when the hard limit or the system refuses it.
  void* (*allocate)(detail::HeapState& state, std::size_t size, std::size_t alignment, LiveBytes* live);
  void (*deallocate)(detail::HeapState& state, void* block);
  std::size_t (*usable_size)(detail::HeapState& state, const void* block);
  /// Resizes a block of `usable` bytes to `size` in place. \returns false when the block must move.
  bool (*resize)(detail::HeapState& state, void* block, std::size_t usable, std::size_t size);
  bool (*owns)(detail::HeapState& state, const void* pointer);
  /// \returns bytes taken ahead of need.
  std::size_t (*prewarm)(detail::HeapState& state, std::size_t bytes);
  /// Frees all live blocks; the heap stays usable.
  void (*clear)(detail::HeapState& state);
  /// Gives all memory except the record back.
  void (*end)(detail::HeapState& state);
};

extern const HeapBackEnd kHeapOverSlabs;
extern const HeapBackEnd kHeapOverMalloc;

}  // namespace tarn::internal

namespace TARN_NAMESPACE::detail {

struct HeapState : internal::PoolHeader {
  const internal::HeapBackEnd* back_end;
  Heap* heap;
  std::size_t live_bytes;
  std::size_t live_count;
  std::size_t peak_live_bytes;
  std::size_t soft_limit;
  std::size_t hard_limit;
  void (*on_soft_limit)(Heap&, void*);
  void* context;
  bool is_calling_back;
  internal::HeapSlabs slabs;

  bool may_grow_locked(std::size_t bytes) const {
    return live_bytes <= hard_limit && bytes <= hard_limit - live_bytes;
  }
  void charge_locked(std::size_t bytes) {
    live_bytes += bytes;
    ++live_count;
    if (live_bytes > peak_live_bytes) peak_live_bytes = live_bytes;
  }
  void credit_locked(std::size_t bytes) {
    live_bytes -= bytes;
    --live_count;
  }
};

}  // namespace TARN_NAMESPACE::detail

namespace tarn::internal {

/// Makes the record of a heap that no registry has yet; nullptr if memory is refused or a buffer too small.
detail::HeapState* make_heap_state(const HeapOptions& options, const PoolOperations& operations,
                                   bool poisons);

// The operations that a heap and the heap of all arenas share.
std::size_t usable_size_in_heap(PoolHeader& pool, const void* block);
PoolUse use_of_heap(PoolHeader& pool, ReturnedPages&);
std::size_t release_unused_of_heap(PoolHeader& pool, ReturnedPages& returned);

/// Stops the process when the invariant is broken. \pre no other thread uses the heap.
void validate(detail::HeapState& state);

}  // namespace tarn::internal
