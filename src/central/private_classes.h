// What is known of each class that belongs to a pool. The classes' numbers are given out by
// thread/private_class.h.
#pragma once
#include <atomic>
#include <cstddef>

#include "central/per_class.h"

namespace tarn::internal {

struct PoolHeader;

struct PrivateClass {
  ClassGeometry geometry;
  PoolHeader* pool;  // nullptr while none has it; under the mutex of general/pool_registry.h
  /// Its pool is ending: trimming and scavenging skip the slabs, because the pool walks them. Set under
  /// kGiveBack, so that no free block is out of its slab at that time.
  std::atomic<bool> is_ending;
  SizeClass next_ended;  // in the queue of classes whose pool has ended (thread/private_class.cc)
  std::atomic<std::size_t> block_count,
      peak_block_count;  // in the slabs of all owners, and the most there were

  void add_blocks(std::size_t blocks) {
    const std::size_t now = block_count.fetch_add(blocks, std::memory_order_relaxed) + blocks;
    for (std::size_t most = peak_block_count.load(std::memory_order_relaxed); most < now;)
      if (peak_block_count.compare_exchange_weak(most, now, std::memory_order_relaxed)) break;
  }
  void subtract_blocks(std::size_t blocks) { block_count.fetch_sub(blocks, std::memory_order_relaxed); }
};

extern PerClass<PrivateClass> private_classes;

/// \pre a class that a pool has, or had.
inline PrivateClass& private_class(SizeClass size_class) { return private_classes.made(size_class); }

/// Whether the class's pool is ending.
inline bool is_ending(SizeClass size_class) {
  return is_private_class(size_class) && private_class(size_class).is_ending.load(std::memory_order_relaxed);
}

}  // namespace tarn::internal
