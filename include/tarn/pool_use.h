// The memory that a program's pools hold: every FixedPool, BufferPool, ObjectPool, HandlePool, Heap and arena
// heap by name, counted at the time of the call. A buffer pool has an entry for each of its sizes, and one
// for larger blocks.
// Threads: any. The figures of a pool that other threads use are those of some moment during the walk.
#pragma once
#include <cstddef>

#include "tarn/detail/api.h"

namespace TARN_NAMESPACE {

struct PoolUse {
  const char* kind;         // "fixed pool", "buffer pool", "object pool", "handle pool", "heap"
  const char* name;         // as given when the pool was made; valid until the visit returns
  std::size_t block_bytes;  // distance of two blocks; 0 when blocks differ
  std::size_t live_count;   // blocks handed out
  std::size_t live_bytes;
  std::size_t peak_live_bytes;  // 0 when the pool does not record it
  std::size_t mapped_bytes;     // of the pool's pages, live or not
  bool is_in_classes;           // the general pool's size classes count its blocks too
};

/// Calls `visit` for each pool that exists when the call begins. No lock is held during `visit`: it may trim,
/// fork, make and end pools and arenas, or call for_each_pool again. Pools that end before their turn, and
/// pools made during the walk, are not visited. `visit` must not throw. \cost a lock per pool, and a word per
/// 64 blocks.
TARN_API void for_each_pool(void (*visit)(const PoolUse& use, void* context), void* context);

}  // namespace TARN_NAMESPACE
