// The part of a span's record that the pools' inlined paths read. The record lies apart from the blocks.
//
// start        block 0; blocks follow at distances of `stride` bytes.
// free_bits    bit i % 64 of word i / 64 is one when block i is free.
// pool         the pool's own record when the span belongs to a pool that is asked to free its blocks; else
//              nullptr, as for spans of the general pool.
//              Marked (kWatched) it equals no pool: so every free takes the pool's slow door.
// reciprocal   ceil(2^32 / stride): (offset * reciprocal) >> 32 is a block's index when offset is the start
//              of a block.
// pool_data    in a slab of a buffer pool: a count for each block; of objects of a handle pool: the words of
//              their slots; else nullptr.
//
// Threads: constant while the span exists, except the words of free_bits and the marks of `pool`; the pool's
// own rules guard those, but kWatched, which any thread may set and clear.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tarn/detail/api.h"

namespace TARN_NAMESPACE::detail {

struct SpanHead {
  char* start;
  std::uint64_t* free_bits;
  void* pool;
  std::uint32_t stride;
  std::uint32_t reciprocal;
  void* pool_data;

  static constexpr std::uintptr_t kWatched = 2;  // the process's allocations are, or were, watched

  /// `pool` with its marks; others may change these meanwhile.
  void* marked_pool() const { return atomic_load(&pool, kRelaxed); }
  /// `pool` without its mark.
  void* unmarked_pool() const {
    return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(marked_pool()) & ~kWatched);
  }
  bool has_mark(std::uintptr_t mark) const {
    return (reinterpret_cast<std::uintptr_t>(marked_pool()) & mark) != 0;
  }
  void set_pool(void* owner) { atomic_store(&pool, owner, kRelease); }
  /// Sets a mark unless the span has no pool, now or by the time it is set.
  void set_mark(std::uintptr_t mark) {
    void* seen = marked_pool();
    while (seen != nullptr &&
           !atomic_compare_exchange<true>(
               &pool, seen, reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(seen) | mark), kSeqCst,
               kRelaxed)) {
    }
  }
  void clear_mark(std::uintptr_t mark) {
    void* seen = marked_pool();
    while (seen != nullptr &&
           !atomic_compare_exchange<true>(
               &pool, seen, reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(seen) & ~mark), kSeqCst,
               kRelaxed)) {
    }
  }
};

/// Address -> span for the pages of one region of addresses.
struct SpanTable {
  static constexpr unsigned kPageShift = 16;

  std::uintptr_t start;
  std::size_t bytes;
  const std::atomic<SpanHead*>* spans;  // one per page

  /// \returns the span that holds an address; nullptr when this region has none there.
  SpanHead* find(const void* pointer) const {
    const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(pointer) - start;
    return offset < bytes ? spans[offset >> kPageShift].load(std::memory_order_relaxed) : nullptr;
  }
};

}  // namespace TARN_NAMESPACE::detail
