// Size classes that belong to one typed pool each: to the thread tier they are classes like all others, with
// magazines, remote frees and orphans.
//
// Threads: acquire and release from any; the rest as each says.
#pragma once
#include <cstddef>

#include "base/block_visitor.h"
#include "central/size_class.h"
#include "page/returned_pages.h"
#include "thread/heap_record.h"

namespace tarn::internal {

/// A class of blocks of `bytes` (at most 256 KiB) at multiples of `alignment` (at most 4 KiB).
/// \returns kNone when all of them are taken.
SizeClass acquire_private_class(std::size_t bytes, std::size_t alignment);

/// The pool of the class begins to end: from now on nobody else touches its slabs.
void begin_to_end_private_class(SizeClass size_class);

/// The pool of the class has ended; its blocks may still be live. Another pool gets it when all of them are
/// free.
/// \pre nobody allocates from it any more.
void release_private_class(SizeClass size_class);

struct ClassCensus {
  std::size_t live_count, slab_bytes;
};

/// Slabs that end on the way go to `returned`.
/// \threads any, with no lock held that ranks behind giving back; blocks in other threads' magazines are
/// counted as they change.
ClassCensus count_private_class(SizeClass size_class, ReturnedPages& returned);

/// Empties every thread's magazine of the class and ends its free slabs. \returns bytes of ended slabs.
/// \pre no other thread uses the class meanwhile.
std::size_t settle_private_class(SizeClass size_class);

/// \pre no other thread uses the class meanwhile, and it is settled.
void visit_live_blocks(SizeClass size_class, const BlockVisitor& visit);

/// Marks a block free where it lies, with no slab ended for it. \pre as above.
void mark_block_free(void* block);

/// Makes slabs, backed by memory and kept until trimmed, until `count` blocks are free in the heap's.
/// \returns how many are.
std::size_t prewarm_class(ThreadHeap& heap, SizeClass size_class, std::size_t count);

}  // namespace tarn::internal
