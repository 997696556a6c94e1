// The library's record of a buffer pool: a pool of blocks for each size, a heap for larger blocks.
//
// The counts of a slab's blocks are an array beside it (SpanHead::pool_data). Larger blocks, and those that
// come from malloc, lie in no slab; each that is shared has a record of its own.
//
// Invariant: a count is 0 unless its block is a shared buffer of several handles. A LoneCount is in
// `free_counts` exactly when its block is nullptr; all are in `counts` until the pool ends.
// Threads: those of the fixed pools and of the heap. The lists of LoneCounts are under the mutex of the first
// size; all else is constant but for the counts.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "pool/blocks/block_pool_state.h"
#include "tarn/buffer_pool.h"

namespace TARN_NAMESPACE::detail {

struct HeapState;

/// The pool of blocks of a size.
struct BufferSizeState : BlockPoolState {
  BufferPoolState* buffers = nullptr;
};

/// The references of a shared buffer that lies in no chunk. \why never another record's memory while the pool
/// exists: a handle that ends twice finds that the block is not its own.
struct LoneCount {
  LoneCount* next;       // in the list of all
  LoneCount* next_free;  // in the list of those without a block
  BufferPoolState* pool;
  BufferSizeState* size;  // nullptr: the block is the heap's
  void* block;            // nullptr: there is none
  std::uint32_t others;   // as in BufferHandle
};

struct BufferPoolState : BufferPoolFront {
  static constexpr unsigned kMostSizes = 32;

  SharedPoolFront sizes[kMostSizes];
  unsigned size_count;
  std::size_t alignment;
  HeapState* heap;  // nullptr: larger blocks are refused
  std::atomic<std::size_t> refusals_above;
  LoneCount* counts;
  LoneCount* free_counts;
  AtCap at_cap;
  AtPoolEnd at_end;
  void (*on_refusal)(void*);
  void* context;

  const char* name() const { return sizes[0].state->name; }
  internal::os::Mutex& counts_mutex() { return sizes[0].state->mutex; }
  /// \returns the smallest size for so many bytes. \pre bytes <= largest.
  SharedPoolFront& size_for_any(std::size_t bytes) const { return size_for(bytes == 0 ? 1 : bytes); }
};

/// Gives tests access to a pool's state.
struct BufferPoolAccess {
  static BufferPoolState& state(BufferPool& pool) { return *pool.state_; }
};

}  // namespace TARN_NAMESPACE::detail

namespace tarn::internal {

/// Of the fixed pool of a size; of the heap of larger blocks.
extern const PoolOperations kBufferOperations, kLargerBufferOperations;

/// Stops the process when the invariant is broken. \pre no other thread uses the pool.
void validate(detail::BufferPoolState& state);

}  // namespace tarn::internal
