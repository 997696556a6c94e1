// What pools do with a block that comes back: look whether it is free already, and wipe it.
//
// The look is not exact. \why a bit that each call exchanges costs more than the call; what the look misses
// is seen when the block returns to its slab. It takes no lock, over malloc one of system_blocks: a live
// block is in no magazine and has no bit set; a visit may take what lies below the newest block meanwhile.
//
// A sensitive pool wipes a block when it is freed, before another may get it, and live blocks when it is
// cleared or ends; so its free memory, and what it gives back, is zero. It caches no block outside of the
// paths that wipe: no magazines, no cached runs. Blocks of malloc's are wiped where they go back to malloc
// (general/pools/system_blocks.cc). A sensitive pool's pages lie in chunks that core files leave out
// (Density::kUndumped), and its header tells readers of the process's memory to read none of them.
// Threads: any.
#pragma once
#include <cstddef>

#include "base/bitmap.h"
#include "base/wipe.h"
#include "central/classes/size_class.h"
#include "general/pools/pool_header.h"
#include "os/checker.h"
#include "page/spans/chunk.h"
#include "page/spans/span.h"
#include "tarn/detail/thread_cache.h"

namespace tarn::internal {

/// Overwrites a block that a memory checker may know as free by now. \param poisons whether it shall do so
/// afterwards.
inline void wipe_block(void* block, std::size_t bytes, bool poisons) {
  os::unpoison(block, bytes);
  wipe(block, bytes);
  if (poisons) os::poison(block, bytes);
}

/// \returns the density of a pool's pages. \param usual that of a pool which is not sensitive.
inline Density density_of(const PoolHeader& pool, Density usual = Density::kSparse) {
  return pool.is_sensitive ? Density::kUndumped : usual;
}

/// How many of the newest cached blocks are looked at.
inline constexpr unsigned kNewestLooked = 16;

/// \returns those blocks of a word of bits, of the mask, that are marked free.
inline std::uint64_t marked_free(const Span& slab, std::size_t word, std::uint64_t mask) {
  return mask &
         (bitmap::load(&slab.free_bits[word]) | slab.remote_bits[word].load(std::memory_order_relaxed));
}

/// \returns the slot of the newest block of a class that the calling thread has cached.
inline void* const* newest_cached(SizeClass size_class) {
  detail::ThreadCache* const cache = detail::own_cache();
  return detail::slot_at(cache, detail::record_at(cache, record_of_class(size_class)).top);
}

/// \param top the newest slot of a magazine of the calling thread; nullptr lies before the first one's block.
inline bool is_among_newest(void* const* top, const void* block) {
  for (unsigned i = 0; i < kNewestLooked; ++i, --top) {
    const void* const free = __atomic_load_n(top, __ATOMIC_RELAXED);
    if (free == block) return true;
    if (free == nullptr) return false;
  }
  return false;
}

}  // namespace tarn::internal
