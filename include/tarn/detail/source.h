// The interface that the adapters need of a pool: allocate bytes at an alignment, and deallocate them.
#pragma once
#include <concepts>
#include <cstddef>
#include <limits>
#include <new>
#include <type_traits>

#include "tarn/detail/error.h"
#include "tarn/memory_pool.h"

namespace TARN_NAMESPACE::detail {

/// \throws std::bad_array_new_length when `count` objects exceed the address space.
template <typename T>
constexpr std::size_t array_bytes(std::size_t count) {
  if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) [[unlikely]]
    throw_bad_array_length();
  return count * sizeof(T);
}

/// Whether a pool hands out blocks of one size, and runs of them: FixedPool, SharedFixedPool.
template <typename Pool>
inline constexpr bool kHasFixedBlocks = requires(Pool& pool, void* block, std::size_t count) {
  pool.allocate_run(count);
  pool.deallocate_run(block, count);
  pool.block_bytes();
};

/// What the adapters take: a pool with blocks of one size, or one that is told bytes and an alignment.
template <typename Pool>
concept MemorySource = kHasFixedBlocks<Pool> || requires(Pool& pool, void* block, std::size_t bytes) {
  { pool.allocate(bytes, bytes) } -> std::same_as<void*>;
  pool.deallocate(block, bytes, bytes);
};

/// \returns how many blocks of a fixed pool hold that many bytes.
template <typename Pool>
TARN_LOCAL std::size_t blocks_for(const Pool& pool, std::size_t bytes) {
  return bytes <= pool.block_bytes() ? 1 : (bytes + pool.block_bytes() - 1) / pool.block_bytes();
}

template <typename Source>
TARN_LOCAL void* allocate_from(Source& source, std::size_t bytes, std::size_t alignment) {
  if constexpr (kHasFixedBlocks<Source>) {
    if (source.alignment() % alignment != 0) return nullptr;
    const std::size_t count = blocks_for(source, bytes);
    return count == 1 ? source.allocate() : source.allocate_run(count);
  } else if constexpr (std::is_same_v<Source, MemoryPool>) {
    // A hit, where the blocks are aligned so anyway.
    if (alignment > 16) return source.allocate(bytes, alignment);
    return source.allocate(bytes < alignment ? alignment : bytes);
  } else {
    return source.allocate(bytes, alignment);
  }
}

template <typename Source>
TARN_LOCAL void deallocate_to(Source& source, void* block, std::size_t bytes, std::size_t alignment) {
  if constexpr (kHasFixedBlocks<Source>) {
    const std::size_t count = blocks_for(source, bytes);
    count == 1 ? source.deallocate(block) : source.deallocate_run(block, count);
  } else {
    source.deallocate(block, bytes, alignment);
  }
}

}  // namespace TARN_NAMESPACE::detail
