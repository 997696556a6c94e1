// What the pools of a program hold: every FixedPool, ObjectPool, Heap and arena heap by name, counted when
// asked.
// Threads: any. The figures of a pool that is in use meanwhile are those of some moment of the walk.
#pragma once
#include <cstddef>

#include "tarn/detail/api.h"

namespace TARN_NAMESPACE {

struct PoolUse {
  const char* kind;         // "fixed pool", "object pool", "heap"
  const char* name;         // as given when the pool was made; valid until the visit returns
  std::size_t block_bytes;  // distance of two blocks; 0 when blocks differ
  std::size_t live_count;   // blocks handed out
  std::size_t live_bytes;
  std::size_t peak_live_bytes;  // 0 when the pool does not keep it
  std::size_t mapped_bytes;     // of pages it holds, live or not
  bool is_in_classes;           // its blocks are also counted among the general pool's size classes
};

/// Calls `visit` for each pool there is when the call begins. No lock is held meanwhile: it may trim, fork,
/// make and end pools and arenas, or call for_each_pool again. A pool that ends before its turn is not
/// visited, nor is one that is made meanwhile. `visit` must not throw. \cost a lock for each pool, and a word
/// per 64 blocks.
TARN_API void for_each_pool(void (*visit)(const PoolUse& use, void* context), void* context);

}  // namespace TARN_NAMESPACE
