// Large blocks: more than 256 KiB, or aligned beyond a slab's alignment. Each has its own span.
// Threads: any; the page cache's lock inside.
#pragma once
#include <cstddef>

#include "page/spans/chunk.h"
#include "page/spans/span.h"

namespace tarn::internal {

/// How a large block is aligned that need not be: to a page; in the hardened library, where a guard stands
/// before it, to the smallest OS page.
inline constexpr std::size_t kLargeAlignment = detail::kIsHardened ? 4096 : kPageBytes;

/// \param alignment bytes, a power of two.
/// \param room bytes that should be free behind a block that is growing.
/// \returns nullptr when memory is refused; else the span: its start is the block; span->is_zeroed: no page
/// of the block was written since the system gave it.
Span* allocate_large(std::size_t size, std::size_t alignment, std::size_t room = 0,
                     Density density = Density::kSparse);

/// The same for callers of the general pool: counts the call. \returns nullptr with errno ENOMEM when memory
/// is refused. \param is_zeroed not nullptr: of a block that must be zeroed; \post the span's.
void* allocate_large_block(std::size_t size, std::size_t alignment, std::size_t room = 0,
                           bool* is_zeroed = nullptr);

/// \returns what the usable bytes of a large block are a multiple of.
std::size_t step_of_large();

/// \returns the room for a block that has grown to `size` bytes once and will probably grow again.
std::size_t room_to_grow(std::size_t size);

/// Counts the call, where calls are counted. Stops the process when `block` is not the start of the span.
void deallocate_large(Span* span, void* block);

/// Resizes the block in place to hold `size` bytes; frees pages that it no longer needs. \returns false when
/// that is impossible.
bool resize_large(Span* span, std::size_t size);

/// Moves the block's pages into a new block of `size` bytes with room to grow. \returns nullptr when that is
/// impossible or costs more than copying.
Span* move_large(Span* span, std::size_t size);

/// \returns nullptr; sets errno to ENOMEM.
void* out_of_memory();

struct LargeStats {
  std::size_t live_count, live_bytes, allocations;
};
LargeStats large_stats();

}  // namespace tarn::internal
