// Whether a block that is to be freed is seen to be free already. \why not exact: a bit that each call
// exchanges costs more than the call; what this look misses is seen when the block returns to its slab.
//
// Threads: any; no lock, over malloc one of system_blocks. A live block is in no magazine and has no bit set,
// whatever other threads do; a visit may take what lies below the newest block meanwhile.
#pragma once
#include "base/bitmap.h"
#include "central/classes/size_class.h"
#include "page/spans/span.h"
#include "tarn/detail/thread_cache.h"

namespace tarn::internal {

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
