// The interface that the adapters need of a pool: allocate bytes at an alignment, and deallocate them.
#pragma once
#include <cstddef>
#include <limits>
#include <new>
#include <type_traits>

#include "tarn/detail/error.h"

namespace TARN_NAMESPACE {
class FixedPool;
class SharedFixedPool;
}  // namespace TARN_NAMESPACE

namespace TARN_NAMESPACE::detail {

/// \throws std::bad_array_new_length when `count` objects exceed the address space.
template <typename T>
constexpr std::size_t array_bytes(std::size_t count) {
  if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) [[unlikely]]
    throw_bad_array_length();
  return count * sizeof(T);
}

template <typename Pool>
inline constexpr bool kHasFixedBlocks =
    std::is_same_v<Pool, FixedPool> || std::is_same_v<Pool, SharedFixedPool>;

/// \returns how many blocks of a fixed pool hold that many bytes.
template <typename Pool>
std::size_t blocks_for(const Pool& pool, std::size_t bytes) {
  return bytes <= pool.block_bytes() ? 1 : (bytes + pool.block_bytes() - 1) / pool.block_bytes();
}

template <typename Source>
void* allocate_from(Source& source, std::size_t bytes, std::size_t alignment) {
  if constexpr (kHasFixedBlocks<Source>) {
    if (source.alignment() % alignment != 0) return nullptr;
    const std::size_t count = blocks_for(source, bytes);
    return count == 1 ? source.allocate() : source.allocate(count);
  } else {
    return source.allocate(bytes, alignment);
  }
}

template <typename Source>
void deallocate_to(Source& source, void* block, std::size_t bytes, std::size_t alignment) {
  if constexpr (kHasFixedBlocks<Source>) {
    source.deallocate(block, blocks_for(source, bytes));
  } else {
    source.deallocate(block, bytes, alignment);
  }
}

}  // namespace TARN_NAMESPACE::detail
