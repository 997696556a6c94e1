#pragma once
#include "../../include/tarn/memory_pool.h"

namespace TARN_NAMESPACE {

inline void* allocate(std::size_t size, std::size_t alignment) noexcept {
  return detail::allocate_aligned(size, alignment);
}
inline std::size_t usable_size(const void* block) noexcept {
  return block != nullptr ? detail::BlockHead::of(block).bytes : 0;
}
inline std::size_t good_size(std::size_t size) noexcept { return std::max(size, std::size_t{1}); }
inline void* allocate_zeroed(std::size_t count, std::size_t size) noexcept {
  if (size != 0 && count > SIZE_MAX / size) return detail::refuse(ENOMEM);
  void* const block = allocate(count * size);
  return block != nullptr ? std::memset(block, 0, count * size) : nullptr;
}

namespace detail {

/// \param pool that the new block is of; nullptr: the general pool
inline void* reallocate_in(PoolBlocks* pool, void* block, std::size_t size) noexcept {
  void* const moved = pool != nullptr ? pool->take(size, 16) : make_block(nullptr, size, 16);
  if (moved == nullptr || block == nullptr) return moved;
  std::memcpy(moved, block, std::min(size, usable_size(block)));
  deallocate_slow(block);
  return moved;
}

}  // namespace detail

inline void* reallocate(void* block, std::size_t size) noexcept {
  if (block == nullptr) return allocate(size);
  detail::PoolBlocks* const pool = detail::BlockHead::of(block).pool;
  // A pool of one size has none of another.
  return detail::reallocate_in(pool != nullptr && pool->block_bytes == 0 ? pool : nullptr, block, size);
}
inline std::size_t trim(std::size_t) noexcept { return 0; }
inline std::size_t prewarm(std::size_t) noexcept { return 0; }
inline std::size_t allocate_batch(std::size_t size, std::size_t count, void** blocks) noexcept {
  std::size_t taken = 0;
  while (taken < count && (blocks[taken] = allocate(size)) != nullptr) ++taken;
  return taken;
}
inline void deallocate_batch(void* const* blocks, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) deallocate(blocks[i]);
}

}  // namespace TARN_NAMESPACE
