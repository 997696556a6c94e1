// Size classes that belong to one typed pool each. The thread tier treats them like all other classes: with
// magazines, remote frees and orphans.
//
// Threads: acquire and release from any; the other functions as each says.
#pragma once
#include <cstddef>

#include "base/block_visitor.h"
#include "central/size_class.h"
#include "page/returned_pages.h"
#include "thread/heap_record.h"

namespace tarn::internal {

/// A class of blocks of `bytes` (at most 256 KiB) at multiples of `alignment` (at most 4 KiB).
/// \returns kNone when memory is refused, or too many pools live (32,595 classes).
SizeClass acquire_private_class(std::size_t bytes, std::size_t alignment);

/// Call when the class's pool begins to end: from now on only the pool touches its slabs.
void begin_to_end_private_class(SizeClass size_class);

/// Call when the class's pool has ended; blocks may still be live. Another pool gets the class when all
/// blocks are free.
/// \pre no thread allocates from the class any more.
void release_private_class(SizeClass size_class);

struct ClassCensus {
  std::size_t live_count, slab_bytes, block_count;
};

/// Counts live blocks and pages of the class. Slabs that end on the way are added to `returned`.
/// \threads any, with no lock held that ranks behind giving back; blocks in other threads' magazines are
/// counted while they change.
ClassCensus count_private_class(SizeClass size_class, ReturnedPages& returned);

/// \returns the most blocks that the class's slabs had at one time, live or not.
std::size_t peak_of_private_class(SizeClass size_class);

/// Drops every thread's magazine of the class and retires its free slabs. \returns bytes of retired slabs.
/// \pre no other thread uses the class meanwhile.
std::size_t settle_private_class(SizeClass size_class);

/// \pre no other thread uses the class meanwhile, and it is settled.
void visit_live_blocks(SizeClass size_class, const BlockVisitor& visit);

/// Marks a block free in its slab; retires no slab. \pre as above.
void mark_block_free(void* block);

/// Makes slabs, backed by memory and kept until trimmed, until the heap has `count` free blocks of the class.
/// \returns how many are free.
std::size_t prewarm_class(ThreadHeap& heap, SizeClass size_class, std::size_t count);

}  // namespace tarn::internal
