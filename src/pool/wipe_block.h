// Wiping what sensitive pools take back.
//
// A sensitive pool wipes a block when it is freed, before another may get it, and live blocks when it is
// cleared or ends; so its free memory is zero, and so is what it gives back. It caches no block outside of
// the paths that wipe: no magazines, no blocks or runs that inlined calls take back. Blocks of malloc's
// are wiped where they go back to malloc (general/pools/system_blocks.cc). A sensitive pool's pages lie in
// chunks that core files leave out (Density::kUndumped), and its header tells readers of the process's
// memory to read none of them.
#pragma once
#include <cstddef>

#include "base/wipe.h"
#include "general/pools/pool_header.h"
#include "os/checker.h"
#include "page/spans/chunk.h"

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

}  // namespace tarn::internal
