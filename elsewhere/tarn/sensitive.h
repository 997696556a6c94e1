#pragma once
#include "../../include/tarn/sensitive.h"

namespace TARN_NAMESPACE {

namespace detail {

inline PoolBlocks& sensitive_blocks() {
  // Never ended: blocks may be freed after main.
  static PoolBlocks& blocks = *new PoolBlocks("heap", "sensitive", "");
  blocks.is_sensitive = true;
  return blocks;
}

}  // namespace detail

inline void* allocate_sensitive(std::size_t size, std::size_t alignment) noexcept {
  return detail::sensitive_blocks().take(size, alignment);
}
inline void* allocate_sensitive(std::size_t size) noexcept { return allocate_sensitive(size, 16); }
inline void deallocate_sensitive(void* block) noexcept {
  if (block != nullptr) detail::sensitive_blocks().give(block);
}

}  // namespace TARN_NAMESPACE
