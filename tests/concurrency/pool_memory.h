// How many bytes the pool under test holds from the system for its blocks: used and free but backed.
#pragma once
#include "support/pools.h"

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

}  // namespace tarn::test
