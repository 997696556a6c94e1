// Large blocks: more than 256 KiB, or aligned beyond what slabs give. Each has its own span.
// Threads: any; the page cache's lock inside.
#pragma once
#include <cstddef>

#include "page/span.h"

namespace tarn::internal {

/// \param alignment bytes, a power of two.
/// \param room bytes that should be free behind the block, because it is growing.
/// \returns nullptr when memory is refused; else the block is the span's start, and span->is_zeroed tells
/// that no page of it has been written since the system gave it.
Span* allocate_large(std::size_t size, std::size_t alignment, std::size_t room = 0);

/// Room for a block that has grown to `size` bytes once, and so will again.
std::size_t room_to_grow(std::size_t size);

/// Stops the process when `block` is not the start of the span.
void deallocate_large(Span* span, void* block);

/// Makes the block hold `size` bytes where it is, giving back what it no longer needs. \returns false when it
/// cannot.
bool resize_large(Span* span, std::size_t size);

/// Moves the block's pages into a new block of `size` bytes with room to grow. \returns nullptr when that is
/// not possible or not worth it.
Span* move_large(Span* span, std::size_t size);

struct LargeStats {
  std::size_t live_count, live_bytes, allocations;
};
LargeStats large_stats();

}  // namespace tarn::internal
