// The owners of pools. A pool has an owner of slabs (central/slabs/slab_owner.h) with size classes that
// nobody else has: threads have magazines of these as of all classes, and refill and flush them at the
// pool's owner.
//
// Threads: any make and end pools; the other functions as each says.
#pragma once
#include <cstddef>

#include "base/block_visitor.h"
#include "central/slabs/slab_owner.h"
#include "page/give_back/returned_pages.h"

namespace tarn::internal {

/// \returns the geometry of a pool's class of blocks of `bytes` (at most 256 KiB) at multiples of `alignment`
/// (at most 4 KiB).
ClassGeometry pool_geometry(std::size_t bytes, std::size_t alignment);

/// The geometry of a class of blocks at a distance of `stride` bytes, all of them the program's, of which a
/// slab has `blocks`; fewer where so many would have 4 GiB.
ClassGeometry chunk_geometry(std::size_t stride, std::size_t alignment, std::size_t blocks);

/// What a pool wants of its owner.
struct PoolOwnerRequest {
  const ClassGeometry* geometries;  // of its classes
  const char* name = "";            // up to 31 characters
  unsigned class_count = 1;
  bool has_records = true;   // of its classes in threads; without, there may be any number of such pools
  bool hides_slabs = false;  // the index of pages names no record: each free is slow
  bool keeps_slabs = false;  // those without a live block stay until a trim by hand
  bool asks_pool = false;    // a call that has only a block's address asks the pool to free it
  bool has_one_part = false;
  bool has_counts = false;  // slabs have a zeroed count for each block
  bool has_slots = false;   // its blocks are slots of handles, zeroed when a slab begins
  bool poisons = false;     // free blocks are poisoned for a checker
  Density density = Density::kSparse;
  std::size_t most_blocks = SlabOwner::kNoCap;  // in all slabs
  Account* account = nullptr;                   // is charged what the slabs give out
};

/// \returns nullptr when memory is refused, or too many pools with records live (32,595 classes).
SlabOwner* acquire_pool_owner(const PoolOwnerRequest& request);

/// Call when the pool begins to end, or to be walked: from now on no look ends a slab.
void begin_to_end(SlabOwner& owner);
/// Call when it is walked no more.
void end_no_more(SlabOwner& owner);

/// Call when the pool has ended; blocks may still be live. Another pool gets the owner when all are free.
/// \pre no thread allocates from its classes any more.
void release_pool_owner(SlabOwner& owner);

/// Takes a block of a class from the owner's slabs. \returns nullptr when it is refused.
void* take_block(SlabOwner& owner, SizeClass size_class, ReturnedPages& returned);

struct PoolCensus {
  std::size_t live_count, live_bytes, slab_bytes, block_count;
};

/// Counts live blocks and pages. Slabs that end on the way are added to `returned`. \threads any, with no
/// lock held that ranks behind giving back; blocks in other threads' magazines are counted while they change.
PoolCensus take_census(SlabOwner& owner, ReturnedPages& returned);

/// \returns the most bytes of blocks that were taken from the slabs; too high where parts had theirs at other
/// times.
std::size_t largest_taken_bytes(SlabOwner& owner);

/// Drops every thread's magazines of the pool: all free blocks are in slabs then. \pre no other thread uses
/// the pool meanwhile.
void return_all_cached(SlabOwner& owner, ReturnedPages& returned);

/// Whether spare slabs that were made ahead of need end too.
enum class SpareSlabs : bool { kGo, kStay };
/// The same, and ends free slabs.
void settle(SlabOwner& owner, ReturnedPages& returned, SpareSlabs spare = SpareSlabs::kGo);

/// Drops the magazines of the calling thread, and of threads that have ended.
void return_magazines_of_caller(SlabOwner& owner, ReturnedPages& returned);
/// The same, and returns to slabs what is parked or announced.
void return_free_blocks_of_caller(SlabOwner& owner, ReturnedPages& returned);

/// The first of these, and ends free slabs.
void release_unused_slabs(SlabOwner& owner, ReturnedPages& returned);

/// Visits in the order of addresses; `visit` may free the block. \pre no other thread uses the pool
/// meanwhile, and it is settled.
void visit_live_blocks(SlabOwner& owner, SizeClass size_class, const BlockVisitor& visit);

/// Marks a block free in its slab; retires no slab. \pre as above.
void mark_block_free(void* block);

/// Frees all blocks. \pre no other thread uses the pool meanwhile, and no thread has blocks of it cached.
void free_all_blocks(SlabOwner& owner, ReturnedPages& returned);

/// Makes slabs with `count` blocks or more of a class. \param populates whether all slabs shall be backed by
/// memory. \returns how many blocks the new slabs have.
std::size_t add_slabs(SlabOwner& owner, SizeClass size_class, std::size_t count, bool populates);

/// \returns how many slabs there are.
std::size_t slab_count(SlabOwner& owner);

/// Makes slabs, backed by memory and kept until trimmed, until the owner has `count` free blocks of the
/// class. \returns how many are free.
std::size_t prewarm_class(SlabOwner& owner, SizeClass size_class, std::size_t count);

}  // namespace tarn::internal
