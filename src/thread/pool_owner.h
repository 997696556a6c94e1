// The owners of pools. A pool has an owner of slabs (central/slab_owner.h) with size classes that nobody else
// has: threads have magazines of these as of all classes, and refill and flush them at the pool's owner.
//
// Threads: any make and end pools; the other functions as each says.
#pragma once
#include <cstddef>

#include "base/block_visitor.h"
#include "central/slab_owner.h"
#include "page/returned_pages.h"

namespace tarn::internal {

/// \returns the geometry of a pool's class of blocks of `bytes` (at most 256 KiB) at multiples of `alignment`
/// (at most 4 KiB).
ClassGeometry pool_geometry(std::size_t bytes, std::size_t alignment);

/// \returns an owner with a class for each geometry; nullptr when memory is refused, or too many pools live
/// (32,595 classes).
SlabOwner* acquire_pool_owner(const ClassGeometry* geometries, unsigned class_count);

/// Call when the pool begins to end: from now on only the pool touches the slabs.
void begin_to_end(SlabOwner& owner);

/// Call when the pool has ended; blocks may still be live. Another pool gets the owner when all are free.
/// \pre no thread allocates from its classes any more.
void release_pool_owner(SlabOwner& owner);

/// What a pool has of a class.
struct ClassCensus {
  std::size_t live_count, slab_bytes, block_count;
};

/// Counts live blocks and pages. Slabs that end on the way are added to `returned`. \threads any, with no
/// lock held that ranks behind giving back; blocks in other threads' magazines are counted while they change.
ClassCensus take_census(SlabOwner& owner, SizeClass size_class, ReturnedPages& returned);

/// \returns the most bytes of blocks that were taken from the slabs; too high where parts had theirs at other
/// times.
std::size_t largest_taken_bytes(SlabOwner& owner);

/// Drops every thread's magazines of the pool and ends its free slabs. \pre no other thread uses the pool
/// meanwhile.
void settle(SlabOwner& owner);

/// The same with the magazines of the calling thread, and of threads that have ended. \returns bytes of pages
/// that slabs gave back.
std::size_t release_unused_slabs(SlabOwner& owner);

/// Visits in the order of addresses; `visit` may free the block. \pre no other thread uses the pool
/// meanwhile, and it is settled.
void visit_live_blocks(SlabOwner& owner, SizeClass size_class, const BlockVisitor& visit);

/// Marks a block free in its slab; retires no slab. \pre as above.
void mark_block_free(void* block);

/// Makes slabs, backed by memory and kept until trimmed, until the owner has `count` free blocks of the
/// class. \returns how many are free.
std::size_t prewarm_class(SlabOwner& owner, SizeClass size_class, std::size_t count);

}  // namespace tarn::internal
