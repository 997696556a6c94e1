#pragma once
#include "../../include/tarn/fixed_pool.h"

namespace TARN_NAMESPACE::detail {

inline BlockPoolState* make_state(const FixedPoolOptions& options) {
  const std::size_t alignment = options.alignment, largest = std::size_t{1} << 16;
  if (options.block_bytes == 0 || options.block_bytes > kMediumLimit || alignment == 0 ||
      alignment > largest || (alignment & (alignment - 1)) != 0 ||
      options.initial_count > options.largest_count)
    return nullptr;
  auto* const pool = new BlockPoolState("fixed pool", options.name, "fixed pool");
  pool->block_bytes = (options.block_bytes + alignment - 1) / alignment * alignment;
  pool->alignment = alignment;
  pool->blocks_per_chunk = options.blocks_per_chunk != 0
                               ? options.blocks_per_chunk
                               : std::max(largest / pool->block_bytes, std::size_t{1});
  pool->most_count = options.largest_count;
  pool->usable = options.initial_count;
  pool->throws = options.at_cap == AtCap::kThrow;
  pool->on_refusal = options.on_refusal;
  pool->context = options.context;
  pool->is_sensitive = options.sensitive;
  return pool;
}
inline bool make_pool(SharedPoolFront& front, const FixedPoolOptions& options, bool) noexcept {
  front = {};
  front.state = make_state(options);
  if (front.state != nullptr) front.stride = front.state->block_bytes;
  return front.state != nullptr;
}
inline bool make_pool(OwnPoolFront& front, const FixedPoolOptions& options, bool) noexcept {
  front = {};
  front.user = &thread_cache;
  front.state = make_state(options);
  if (front.state != nullptr) front.stride = front.state->block_bytes;
  return front.state != nullptr;
}
inline void end_block_pool(BlockPoolState* pool) noexcept { delete pool; }

inline void* block_pool_allocate_run(BlockPoolState* pool, std::size_t count) noexcept {
  return count <= pool->blocks_per_chunk ? pool->take(pool->block_bytes, pool->alignment, count)
                                         : refuse(ENOMEM);
}
inline void* block_pool_allocate_slow(BlockPoolState* pool) noexcept {
  return block_pool_allocate_run(pool, 1);
}
inline void block_pool_deallocate_run(BlockPoolState* pool, void* blocks, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) pool->give(static_cast<char*>(blocks) + i * pool->block_bytes);
}
inline void block_pool_deallocate_slow(BlockPoolState* pool, void* block) noexcept {
  if (block != nullptr) pool->give(block);
}
inline void block_pool_check_free(BlockPoolState*, const void*, std::size_t) noexcept {}
inline void* pool_allocate_by_call(SharedPoolFront& front) noexcept {
  return block_pool_allocate_slow(front.state);
}
inline void* pool_allocate_by_call(OwnPoolFront& front) noexcept {
  return block_pool_allocate_slow(front.state);
}
inline void pool_deallocate_by_call(SharedPoolFront& front, void* block) noexcept {
  block_pool_deallocate_slow(front.state, block);
}
inline void pool_deallocate_by_call(OwnPoolFront& front, void* block) noexcept {
  block_pool_deallocate_slow(front.state, block);
}

inline bool block_pool_owns(const BlockPoolState* pool, const void* pointer) noexcept {
  return pool->owns(pointer);
}
inline std::size_t block_pool_live_count(const BlockPoolState* pool) noexcept { return pool->live_count(); }
inline std::size_t block_pool_capacity(const BlockPoolState* pool) noexcept {
  return std::max(pool->usable, pool->live_count());
}
inline std::size_t block_pool_usable_count(const BlockPoolState* pool) noexcept {
  return block_pool_capacity(pool) - pool->live_count();
}
inline std::size_t block_pool_reserve(BlockPoolState* pool, std::size_t count, bool) noexcept {
  pool->usable = std::max(pool->usable, std::min(pool->live_count() + count, pool->most_count));
  return block_pool_usable_count(pool);
}
inline std::size_t block_pool_release_unused(BlockPoolState* pool) noexcept { return pool->usable = 0; }
inline void block_pool_clear(BlockPoolState* pool) noexcept { pool->clear(); }
inline std::size_t block_pool_blocks_per_chunk(const BlockPoolState* pool) noexcept {
  return pool->blocks_per_chunk;
}
inline std::size_t block_pool_alignment(const BlockPoolState* pool) noexcept { return pool->alignment; }
inline std::size_t block_pool_chunk_count(const BlockPoolState* pool) noexcept {
  return (block_pool_capacity(pool) + pool->blocks_per_chunk - 1) / pool->blocks_per_chunk;
}
inline bool block_pool_throws(const BlockPoolState* pool) noexcept { return pool->throws; }
inline void block_pool_refused(BlockPoolState* pool) noexcept {
  ++pool->refusals;
  if (pool->on_refusal != nullptr) pool->on_refusal(pool->context);
}
inline void block_pool_check_user_slow(OwnPoolFront& front) noexcept {
  if (front.user == nullptr)
    front.user = &thread_cache;
  else if (front.user != &thread_cache)
    stop("use by a second thread", front.state->name.text(), nullptr);
}

}  // namespace TARN_NAMESPACE::detail
