#pragma once
#include <deque>
#include <new>

#include "../../include/tarn/buffer_pool.h"
#include "tarn/object_pool.h"

namespace TARN_NAMESPACE::detail {

struct BufferPoolState {
  std::deque<BlockPoolState> sizes;  // and what is larger, of 0 bytes
  BufferPoolOptions options;
  BufferPoolFront front{};

  BlockPoolState& add(std::size_t bytes, std::size_t most_count) {
    BlockPoolState& size = sizes.emplace_back("buffer pool", options.name, "buffer pool");
    size.block_bytes = bytes;
    size.most_count = bytes == 0 ? most_count : std::min(most_count, options.largest_size_bytes / bytes);
    size.alignment = options.alignment;
    size.is_sensitive = options.sensitive;
    return size;
  }
  /// \returns the last, of 0 bytes, for what is larger.
  BlockPoolState& size_for(std::size_t bytes) {
    return *std::find_if(sizes.begin(), std::prev(sizes.end()),
                         [bytes](const BlockPoolState& size) { return size.block_bytes >= bytes; });
  }
};

inline BufferPoolState* make_buffer_pool(const BufferPoolOptions& options, bool) noexcept {
  std::map<std::size_t, std::size_t> sizes;  // bytes, and the most blocks
  bool are_all_different = true;
  const std::size_t alignment = std::max(options.alignment, alignof(std::uint64_t));
  if ((alignment & (alignment - 1)) != 0 || alignment > std::size_t{1} << 16) return nullptr;
  const auto add = [&](std::size_t bytes, std::size_t most_count) {
    const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    are_all_different &= sizes.emplace(rounded, std::min(most_count, options.largest_count)).second;
  };
  for (const BufferSize& size : options.sizes) add(size.bytes, size.largest_count);
  const bool has_list = !sizes.empty();
  for (std::size_t bytes = options.smallest_bytes; !has_list && bytes != 0 && bytes < options.largest_bytes;
       bytes *= 2)
    add(bytes, SIZE_MAX);
  if (!has_list) add(options.largest_bytes, SIZE_MAX);
  if (!are_all_different || sizes.begin()->first == 0 || sizes.rbegin()->first > kMediumLimit) return nullptr;
  auto* const pool = new BufferPoolState{.sizes = {}, .options = options};
  pool->options.alignment = alignment;
  for (const auto& [bytes, most_count] : sizes) pool->add(bytes, most_count);
  pool->add(0, options.above == AboveLargest::kHeap ? SIZE_MAX : 0).most_bytes = options.largest_above_bytes;
  return pool;
}
inline BufferPoolFront* buffer_pool_front(BufferPoolState* pool) noexcept { return &pool->front; }
inline void end_buffer_pool(BufferPoolState* pool) noexcept {
  for (BlockPoolState& size : pool->sizes) end_live_blocks(size, pool->options.at_end, nullptr);
  delete pool;
}

inline void* buffer_pool_allocate(BufferPoolState* pool, std::size_t bytes) noexcept {
  BlockPoolState& size = pool->size_for(bytes);
  void* const block = size.take(size.block_bytes != 0 ? size.block_bytes : bytes, size.alignment);
  if (block == nullptr) ++size.refusals;
  return block;
}
inline void buffer_pool_deallocate(BufferPoolState*, void* block) noexcept { deallocate_slow(block); }
inline void buffer_pool_check_free(BufferPoolState*, const void*) noexcept {}
inline std::size_t buffer_pool_allocate_batch(BufferPoolState* pool, std::size_t bytes, std::size_t count,
                                              void** blocks) noexcept {
  std::size_t taken = 0;
  while (taken < count && (blocks[taken] = buffer_pool_allocate(pool, bytes)) != nullptr) ++taken;
  return taken;
}
inline void buffer_pool_deallocate_batch(BufferPoolState*, void* const* blocks, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) deallocate_slow(blocks[i]);
}
inline void buffer_pool_allocate_shared(BufferPoolState* pool, std::size_t bytes,
                                        BufferHandle* handle) noexcept {
  *handle = {};
  void* const block = bytes <= UINT32_MAX ? buffer_pool_allocate(pool, bytes) : nullptr;
  if (block == nullptr) return;
  handle->others = new (std::nothrow) std::uint32_t(0);
  if (handle->others == nullptr) return deallocate_slow(block);
  handle->data = static_cast<char*>(block);
  handle->size = static_cast<std::uint32_t>(bytes);
}
inline void buffer_pool_refused(BufferPoolState* pool) noexcept {
  if (pool->options.on_refusal != nullptr) pool->options.on_refusal(pool->options.context);
}
inline bool buffer_pool_throws(const BufferPoolState* pool) noexcept {
  return pool->options.at_cap == AtCap::kThrow;
}
inline bool buffer_pool_owns(const BufferPoolState* pool, const void* pointer) noexcept {
  return std::any_of(pool->sizes.begin(), pool->sizes.end(),
                     [pointer](const BlockPoolState& size) { return size.owns(pointer); });
}
inline std::size_t buffer_pool_good_size(const BufferPoolState* pool, std::size_t bytes) noexcept {
  return std::max(const_cast<BufferPoolState*>(pool)->size_for(bytes).block_bytes, bytes);
}
inline std::size_t buffer_pool_reserve(BufferPoolState* pool, std::size_t bytes, std::size_t count,
                                       bool populates) noexcept {
  BlockPoolState& size = pool->size_for(bytes);
  return size.block_bytes != 0 ? block_pool_reserve(&size, count, populates) : 0;
}
inline std::size_t buffer_pool_release_unused(BufferPoolState*) noexcept { return 0; }
inline std::size_t buffer_pool_size_count(const BufferPoolState* pool) noexcept {
  return pool->sizes.size() - 1;
}
inline BufferUse buffer_pool_use(const BufferPoolState* pool, std::size_t index) noexcept {
  const BlockPoolState& size = pool->sizes[index];
  return {size.block_bytes,           size.live_count(), size.live_bytes, size.peak_live_bytes,
          block_pool_capacity(&size), size.live_bytes,   size.refusals};
}

}  // namespace TARN_NAMESPACE::detail
