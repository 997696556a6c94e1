// A walk over the live blocks of a pool of blocks, in address order.
//
// The library finds the slabs, one after the other, and copies which of their blocks are live; the header
// goes through the copy, 64 blocks at a time. Between two blocks it holds no reference to anything but the
// slab, which stays: while a pool is walked, no slab ends, and what is freed goes to the slab's bits at once.
// Before each visit the block's bit (or record) is read again, so that a visit may free any block and make
// new ones.
//
// Threads: those of the pool. No lock is held during a visit.
#pragma once
#include <cstddef>
#include <cstdint>

#include "tarn/detail/api.h"

namespace TARN_NAMESPACE::detail {

struct BlockPoolState;

/// Of what the library keeps in a walk: the order of spans.
inline constexpr std::size_t kOrderBytes = 320;

/// Keeps a pool's slabs and names them in the order of their addresses. Where blocks are malloc's, there are
/// no slabs but groups of some `blocks`.
class LiveWalk {
 public:
  TARN_API explicit LiveWalk(BlockPoolState* pool) noexcept;
  TARN_API ~LiveWalk();
  LiveWalk(const LiveWalk&) = delete;
  LiveWalk& operator=(const LiveWalk&) = delete;

  /// Goes to the next slab. \returns false behind the last one.
  TARN_API bool advance() noexcept;
  /// Whether a block of `blocks` is live still.
  TARN_API bool is_live(const void* block) const noexcept;

  static constexpr unsigned kMostBlocks = 256, kMostWords = 512;

  char* start = nullptr;  // block 0
  const std::uint64_t* free_bits = nullptr;
  const std::uint64_t* remote_bits = nullptr;
  std::uint32_t block_count = 0;
  bool is_over_malloc = false;
  bool prefetches = false;         // the pool is large
  std::uint64_t live[kMostWords];  // a one for each block that was live when the walk came to the slab
  void* blocks[kMostBlocks];

 private:
  BlockPoolState& pool_;
  alignas(void*) unsigned char order_[kOrderBytes];  // of the slabs
  std::uintptr_t last_ = 0;                          // the address of the last of `blocks`
};

/// Whether block `first` + i of a slab is live still.
TARN_INLINE bool is_live_still(const LiveWalk& walk, std::uint32_t first, std::uint32_t i) {
  const std::uint64_t remote = atomic_load(walk.remote_bits + first / 64, kAcquire);
  const std::uint64_t free = atomic_load(walk.free_bits + first / 64, kRelaxed) | remote;
  return (free >> i & 1) == 0;
}

/// Asks for the first lines of the objects that ones name; side by side, the processor asks for them itself.
TARN_INLINE void prefetch_sparse(std::uint64_t ones, const char* start, std::size_t stride) {
  if (ones == ~std::uint64_t{0}) return;
  for (; ones != 0; ones &= ones - 1) prefetch_for_write(start + trailing_zeros(ones) * stride);
}

/// Pools of this size and more do not fit into the caches: a walk asks for objects 64 ahead.
inline constexpr std::size_t kPrefetchedBytes = std::size_t{32} << 20;

/// Whether four are live side by side, as almost always where half are live. \why where a tenth is live,
/// asking ahead took longer than it saved.
TARN_INLINE bool are_many(std::uint64_t ones) { return (ones & ones >> 1 & ones >> 2 & ones >> 3) != 0; }

template <typename Visit>
TARN_INLINE void visit_slab(const LiveWalk& walk, std::size_t stride, Visit& visit) {
  const std::uint32_t block_count = walk.block_count;
  const bool prefetches = walk.prefetches;
  char* start = walk.start;
  for (std::uint32_t first = 0; first < block_count; first += 64, start += 64 * stride) {
    std::uint64_t bits = walk.live[first / 64];
    if (prefetches && block_count - first > 64)
      if (const std::uint64_t next = walk.live[first / 64 + 1]; are_many(next))
        prefetch_sparse(next, start + 64 * stride, stride);
    if (bits == ~std::uint64_t{0}) {
      char* block = start;
      for (std::uint32_t i = 0; i < 64; ++i, block += stride)
        if (is_live_still(walk, first, i)) [[likely]]
          visit(static_cast<void*>(block));
      continue;
    }
    for (; bits != 0; bits &= bits - 1) {
      const auto i = trailing_zeros(bits);
      if (is_live_still(walk, first, i)) [[likely]]
        visit(static_cast<void*>(start + i * stride));
    }
  }
}

/// Calls visit(void* block) for each live block. \param stride the distance of blocks.
template <typename Visit>
TARN_LOCAL void visit_live_blocks(BlockPoolState* pool, std::size_t stride, Visit& visit) {
  LiveWalk walk(pool);
  while (walk.advance()) {
    if (!walk.is_over_malloc) [[likely]] {
      visit_slab(walk, stride, visit);
      continue;
    }
    for (std::uint32_t i = 0; i < walk.block_count; ++i)
      if (walk.is_live(walk.blocks[i])) visit(walk.blocks[i]);
  }
}

}  // namespace TARN_NAMESPACE::detail
