// The pool under test: whether blocks of all sizes keep what is written, and how many bytes it holds from the
// system for blocks, used and free but backed.
#pragma once
#include "support/content.h"
#include "support/pools.h"
#include "support/sizes.h"

#if !defined(TARN_TEST_MALLOC)
#include <memory>

#include "observe/figures/stats.h"
#endif

namespace tarn::test {

#if defined(TARN_TEST_MALLOC)
inline std::size_t held_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.arena + info.hblkhd;
}
inline void trim_pool() { malloc_trim(0); }
#else
inline std::size_t held_bytes() {
  const auto stats = std::make_unique<internal::Stats>();
  internal::collect_stats(*stats);
  return stats->mapped_bytes + stats->free_dirty_bytes;
}
inline void trim_pool() { tarn::trim(); }
#endif

inline bool use_all_sizes(std::size_t largest = 5 * kMiB) {
  for (const std::size_t size : landmark_sizes(largest)) {
    void* const block = PoolUnderTest::allocate(size);
    if (block == nullptr) return false;
    fill(block, size, size);
    if (!holds(block, size, size)) return false;
    PoolUnderTest::deallocate(block);
  }
  return true;
}

}  // namespace tarn::test
