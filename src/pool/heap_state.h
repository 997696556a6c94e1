// The library's record of a heap, its limits, and the two back ends that a heap may have: its own slabs, or
// malloc for each block (the option pools_use_malloc). Making a heap fixes its back end.
//
// Invariant, with the mutex held: taken_count is the number of live blocks and of those in magazines
// (heap_magazines.h); account says what is charged. Over malloc they also count blocks that are being made or
// freed: malloc may be ours, so no lock is held around it.
// Threads: any; the heap's mutex.
#pragma once
#include <atomic>
#include <cstddef>

#include "general/pool_header.h"
#include "pool/call_rate.h"
#include "pool/heap_account.h"
#include "pool/heap_slabs.h"
#include "pool/shared_use.h"
#include "tarn/heap.h"

namespace tarn::internal {

class HeapMagazines;

/// The functions that differ between back ends. No lock is held.
struct HeapBackEnd {
  /// Allocates a block and charges the heap; nullptr when the hard limit or the system refuses it.
  void* (*allocate)(detail::HeapState& state, std::size_t size, std::size_t alignment);
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
/// Before one of these, for a sensitive heap (wipe_block.h).
extern const HeapBackEnd kWipedHeap;

}  // namespace tarn::internal

namespace TARN_NAMESPACE::detail {

struct HeapState : internal::PoolHeader {
  Heap* heap;
  HeapState* around;  // the heap that this one lies in, or nullptr
  std::atomic<std::uint32_t> heaps_within;
  internal::HeapAccount account;
  std::size_t taken_count;
  void (*on_soft_limit)(Heap&, void*);
  void* context;
  std::atomic<std::size_t> refusals;  // calls that got no block
  bool is_calling_back;
  bool may_have_magazines;
  const internal::HeapBackEnd* unwiped_back_end;  // back_end, unless the heap is sensitive
  // While there are no magazines, or they rest.
  internal::SharedUse shared_use;
  internal::CallRate call_rate;
  internal::HeapSlabs slabs;
  /// What every call reads, in a line that nobody writes: magazines changes once, under the registry's lock
  /// and the mutex.
  alignas(internal::kCacheLineBytes) std::atomic<internal::HeapMagazines*> magazines;
  const internal::HeapBackEnd* back_end;
  char rest_of_line[internal::kCacheLineBytes - 2 * sizeof(void*)];
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
bool add_live_of_heap(PoolHeader& pool, std::uintptr_t& behind, LivePicture& picture);

/// When all blocks have ended; those of heaps within stay charged.
inline void credit_all(detail::HeapState& state) {
  state.account.credit(state.account.own());
  state.taken_count = 0;
}

/// Calls the program's function when an allocation has crossed the soft limit of the heap or one around it.
/// \pre no lock is held.
void note_soft_limits(detail::HeapState& state);

/// Stops the process when the invariant is broken. \pre no other thread uses the heap.
void validate(detail::HeapState& state);

}  // namespace tarn::internal
