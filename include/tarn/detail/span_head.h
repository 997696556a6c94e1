// What the inlined paths of the pools read of a span's record, which lies apart from its blocks.
//
// start        block 0; blocks follow at distances of `stride` bytes.
// free_bits    bit i % 64 of word i / 64 is one when block i is free.
// pool         the pool's own record when the span belongs to one; nullptr for spans of the general pool. Its
//              lowest bit may be set to send every free through the pool's slow door.
// reciprocal   ceil(2^32 / stride): (offset * reciprocal) >> 32 is the block's index when offset is that of a
//              block.
// pool_blocks  instead of it, in a chunk of a fixed pool: how many blocks there are.
//
// Threads: constant while the span lives, but for free_bits' words and the lowest bit of `pool`, which are
// the pool's, under its rules.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tarn/detail/abi.h"

namespace TARN_NAMESPACE::detail {

struct SpanHead {
  char* start;
  std::uint64_t* free_bits;
  void* pool;
  std::uint32_t stride;
  union {
    std::uint32_t reciprocal;
    std::uint32_t pool_blocks;
  };

  /// `pool` with its mark, which the pool may be changing under a lock that the reader does not hold.
  void* marked_pool() const { return __atomic_load_n(&pool, __ATOMIC_RELAXED); }
  void set_marked_pool(void* marked) { __atomic_store_n(&pool, marked, __ATOMIC_RELAXED); }
};

/// Address -> span for the pages of one region of addresses.
struct SpanTable {
  static constexpr unsigned kPageShift = 16;

  std::uintptr_t start;
  std::size_t bytes;
  const std::atomic<SpanHead*>* spans;  // one per page

  /// The span that holds an address; nullptr when there is none in this region.
  SpanHead* find(const void* pointer) const {
    const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(pointer) - start;
    return offset < bytes ? spans[offset >> kPageShift].load(std::memory_order_relaxed) : nullptr;
  }
};

}  // namespace TARN_NAMESPACE::detail
