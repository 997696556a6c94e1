// A walk over the live blocks of a fixed pool, in address order.
//
// The library finds the chunks, one after the other; the header goes through a chunk's bits, 64 blocks at a
// time. Between two blocks it holds no reference to anything but the chunk, which stays: while a pool is
// walked, it ends no chunk. Before each visit the block's bit (or byte, or record) is read again, so that a
// visit may free any block and make new ones.
//
// Threads: those of the pool. No lock is held during a visit.
#pragma once
#include <cstddef>
#include <cstdint>

#include "tarn/detail/api.h"
#include "tarn/detail/live_bits.h"

namespace TARN_NAMESPACE::detail {

struct FixedPoolFront;

/// Keeps a pool's chunks and names them in the order of their addresses. Block i of a chunk is live when bit
/// i of `free_bits` is 0; of a pool with magazines, when `live_bytes[i]` is 1. Where blocks are malloc's,
/// there are no chunks but groups of some `blocks`.
class LiveWalk {
 public:
  TARN_API explicit LiveWalk(FixedPoolFront& front) noexcept;
  TARN_API ~LiveWalk();
  LiveWalk(const LiveWalk&) = delete;
  LiveWalk& operator=(const LiveWalk&) = delete;

  /// Goes to the next chunk. \returns false behind the last one.
  TARN_API bool advance() noexcept;
  /// Whether a block of `blocks` is live still.
  TARN_API bool is_live(const void* block) const noexcept;

  static constexpr unsigned kMostBlocks = 256;

  char* start = nullptr;  // block 0
  const std::uint64_t* free_bits = nullptr;
  const std::uint8_t* live_bytes = nullptr;  // nullptr: the bits say it
  std::uint32_t block_count = 0;
  bool is_over_malloc = false;
  bool prefetches = false;  // the pool is large
  void* blocks[kMostBlocks];

 private:
  FixedPoolFront& front_;
  std::uint32_t slot_ = 0;   // of the chunk in the ring, when it was found
  std::uintptr_t last_ = 0;  // the address of the last chunk's first block, or of the last of `blocks`
  bool has_magazines_ = false;
};

/// Which of a chunk's blocks are live, by its bits.
struct LivenessInBits {
  const std::uint64_t* free_bits;

  /// \returns a one for each live block of the `count` (64 at most) from `first` on. \pre first % 64 == 0.
  TARN_INLINE std::uint64_t bits(std::uint32_t first, std::uint32_t count) const {
    const std::uint64_t live = ~__atomic_load_n(free_bits + first / 64, __ATOMIC_RELAXED);
    return count < 64 ? live & ((std::uint64_t{1} << count) - 1) : live;
  }
  TARN_INLINE bool test(std::uint32_t first, std::uint32_t i) const {
    return (__atomic_load_n(free_bits + first / 64, __ATOMIC_RELAXED) >> i & 1) == 0;
  }
};

/// The same, by its live bytes.
struct LivenessInBytes {
  const std::uint8_t* live_bytes;

  TARN_INLINE std::uint64_t bits(std::uint32_t first, std::uint32_t count) const {
    return count == 64 ? bits_of_64_bytes(live_bytes + first) : bits_of_bytes(live_bytes + first, count);
  }
  TARN_INLINE bool test(std::uint32_t first, std::uint32_t i) const {
    return __atomic_load_n(live_bytes + first + i, __ATOMIC_RELAXED) != 0;
  }
};

/// Asks for the first lines of the objects that ones name; side by side, the processor asks for them itself.
TARN_INLINE void prefetch_sparse(std::uint64_t ones, const char* start, std::size_t stride) {
  if (ones == ~std::uint64_t{0}) return;
  for (; ones != 0; ones &= ones - 1)
    __builtin_prefetch(start + static_cast<std::uint32_t>(__builtin_ctzll(ones)) * stride, 1);
}

/// Pools of this size and more do not fit into the caches: a walk asks for objects 64 ahead.
inline constexpr std::size_t kPrefetchedBytes = std::size_t{32} << 20;

/// Whether four are live side by side, as almost always where half are live. \why where a tenth is live,
/// asking ahead took longer than it saved.
TARN_INLINE bool are_many(std::uint64_t ones) { return (ones & ones >> 1 & ones >> 2 & ones >> 3) != 0; }

template <typename Liveness, typename Visit>
TARN_INLINE void visit_chunk(Liveness live, const LiveWalk& walk, std::size_t stride, Visit& visit) {
  const std::uint32_t block_count = walk.block_count;
  const bool prefetches = walk.prefetches;
  char* start = walk.start;
  std::uint64_t next = live.bits(0, block_count < 64 ? block_count : 64);
  for (std::uint32_t first = 0; first < block_count; first += 64, start += 64 * stride) {
    std::uint64_t bits = next;
    const std::uint32_t left = block_count - first;
    next = left > 64 ? live.bits(first + 64, left < 128 ? left - 64 : 64) : 0;
    if (prefetches && are_many(next)) prefetch_sparse(next, start + 64 * stride, stride);
    if (bits == ~std::uint64_t{0}) {
      char* block = start;
      for (std::uint32_t i = 0; i < 64; ++i, block += stride)
        if (live.test(first, i)) [[likely]]
          visit(static_cast<void*>(block));
      continue;
    }
    for (; bits != 0; bits &= bits - 1) {
      const auto i = static_cast<std::uint32_t>(__builtin_ctzll(bits));
      if (live.test(first, i)) [[likely]]
        visit(static_cast<void*>(start + i * stride));
    }
  }
}

/// Calls visit(void* block) for each live block. \param stride the distance of blocks.
template <typename Visit>
TARN_LOCAL void visit_live_blocks(FixedPoolFront& front, std::size_t stride, Visit& visit) {
  LiveWalk walk(front);
  while (walk.advance()) {
    if (walk.is_over_malloc) [[unlikely]] {
      for (std::uint32_t i = 0; i < walk.block_count; ++i)
        if (walk.is_live(walk.blocks[i])) visit(walk.blocks[i]);
    } else if (walk.live_bytes != nullptr) {
      visit_chunk(LivenessInBytes{walk.live_bytes}, walk, stride, visit);
    } else {
      visit_chunk(LivenessInBits{walk.free_bits}, walk, stride, visit);
    }
  }
}

}  // namespace TARN_NAMESPACE::detail
