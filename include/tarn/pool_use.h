// The memory that a program's pools hold: every FixedPool, BufferPool, ObjectPool, HandlePool, Heap and arena
// heap by name, counted at the time of the call. A buffer pool has an entry for each of its sizes, and one
// for larger blocks. tarn/metrics.h writes the same as text for Prometheus.
//
// Peaks cost no call anything, so some of them are bounds: the true peak is never above peak_live_bytes, and
// below it by no more than
//   - fixed, buffer and object pool: what threads, or the pool of one thread, have cached, and what depots
//     keep for them; where many threads use the pool, parts of it may have had the most at different times;
//   - handle pool: slots that lay in threads' magazines, or in another page, when a new one was taken;
//   - heap, larger blocks of a buffer pool: nothing; once threads have cached bytes, these (tarn/heap.h).
// Threads: any. The figures of a pool that other threads use are those of some moment during the walk.
#pragma once
#include <cstddef>
#include <cstdint>

#include "tarn/detail/api.h"

namespace TARN_NAMESPACE {

/// A program may be older than the library it meets: members are only added, and at the end.
struct PoolUse {
  static constexpr std::size_t kNoLimit = SIZE_MAX;

  const char* kind;         // "fixed pool", "buffer pool", "object pool", "handle pool", "heap", "arenas"
  const char* name;         // as given when the pool was made; valid until the visit returns
  std::size_t block_bytes;  // distance of two blocks; 0 when blocks differ
  std::size_t live_count;   // blocks handed out
  std::size_t live_bytes;
  std::size_t peak_live_bytes;   // as above; of a heap with heaps in it, with theirs
  std::size_t mapped_bytes;      // of the pool's pages, live or not
  std::size_t in_classes_bytes;  // of live_bytes: of size classes, which the statistics count too
  /// What mapped_bytes has and live_bytes has not: free blocks (those cached by threads too), the ends of
  /// pages, pages kept for later. A live block counts whole, also what its caller did not ask for.
  std::size_t waste_bytes;
  std::size_t capacity;            // blocks that exist, live or not; 0 when blocks differ
  std::size_t largest_count;       // the cap: the most blocks the pool may have; kNoLimit: there is none
  std::size_t limit_bytes;         // the most live bytes: those of largest_count, or a heap's hard limit
  std::size_t mapped_limit_bytes;  // the most bytes of pages; of heaps alone
  std::size_t inner_bytes;         // live bytes of the heaps within; the limits hold for both together
  std::size_t refusals;            // calls that a cap, a limit or the lack of memory left without a block
  const char* parent;  // the name of the heap it lies in; nullptr: it lies in none; valid as `name`
};

/// Calls `visit` for each pool that exists when the call begins. No lock is held during `visit`: it may trim,
/// fork, make and end pools and arenas, or call for_each_pool again. Pools that end before their turn, and
/// pools made during the walk, are not visited. `visit` must not throw. \cost a lock per pool, and a word per
/// 64 blocks.
TARN_API void for_each_pool(void (*visit)(const PoolUse& use, void* context), void* context);

}  // namespace TARN_NAMESPACE
