// The depot of an owner: free blocks that threads with full magazines have parked, for threads with empty
// ones. Blocks come and go as they are, and nothing is looked up: a copy of pointers takes the place of a bit
// for each block. What is parked belongs to the owner: the holder of its mutex may return it to the slabs.
// Source: 002's CentralCache; magazines and their depot: Bonwick and Adams, USENIX 2001.
//
// Each class has a mutex, held for as long as some pointers are copied: where threads are many, one of them
// may be descheduled while it holds it. So threads that park and unpark only try it, and go to the slabs
// instead. They hold the mutex of their heap meanwhile, if there are other threads, and all others hold that
// of the owner: so a fork, which takes all of these, finds no class locked.
//
// Threads: may_park, park and both unparks by a thread in a SlowCall, for any owner; parked_bytes by any; all
// others under the owner's mutex.
#pragma once
#include "base/block_visitor.h"
#include "central/slabs/slab_owner.h"
#include "page/give_back/returned_pages.h"

namespace tarn::internal {

/// The same as is_past_its_peak(), where much that is parked of shared slabs counts as free.
/// \threads any
bool is_past_its_peak_with_parked(const SlabOwner& owner);

/// \returns the bytes of all that is parked of blocks that share slabs, with their places in the depot.
/// \threads any
std::size_t parked_in_shared_slabs(const SlabOwner& owner);
/// \returns the bytes of all that is parked.
std::size_t parked_bytes(const SlabOwner& owner);
/// \returns how many blocks of a class are parked.
std::uint32_t parked_count(const SlabOwner& owner, SizeClass size_class);

/// Visits all parked blocks.
void visit_parked(const SlabOwner& owner, const BlockVisitor& visit);

/// Call at each flush. \returns whether its blocks may be parked: when the class had many recent flushes, and
/// then all but each sixteenth. What is not parked returns to the slabs. The bits of the slabs reveal a block
/// that was freed twice, and a pointer that is no block: so a depot delays that, but does not prevent it.
bool may_park(SlabOwner& owner, SizeClass size_class);

/// Parks blocks of a class, at most 256. \returns false when there is no room, because threads have not asked
/// for as many recently; or when another thread parks or unparks, or memory is refused.
bool park(SlabOwner& owner, SizeClass size_class, void* const* blocks, unsigned count,
          ReturnedPages& returned);

/// Takes up to `wanted` parked blocks; the block to use first comes last. With too few, there is more room
/// from then on. \returns how many; 0 also when another thread parks or unparks.
unsigned unpark(SlabOwner& owner, SizeClass size_class, void** blocks, unsigned wanted);

/// The same, before the owner makes a slab: tries for as long as another thread takes that runs now.
unsigned unpark_again(SlabOwner& owner, SizeClass size_class, void** blocks, unsigned wanted);

/// Returns up to `most` of the blocks that are parked now to their slabs. \returns how many went.
unsigned return_parked(SlabOwner& owner, SizeClass size_class, unsigned most, ReturnedPages& returned);

/// Call when the owner grows by a slab of `bytes`: returns about as much of what is parked of a class that is
/// not in use, but few blocks, since the caller waits. A class is in use if blocks of it were parked or
/// unparked since the walk along the classes last came to it.
void give_way(SlabOwner& owner, SizeClass growing, std::size_t bytes, ReturnedPages& returned);

/// Returns parked blocks of all classes until at most `bytes` of them are left, at most `most` blocks.
/// \returns whether more than `bytes` are left.
bool limit_parked(SlabOwner& owner, std::size_t bytes, unsigned most, ReturnedPages& returned);

/// Of each class, what was not needed since the last look has no room any more.
void look_at_depot(SlabOwner& owner);

/// Returns what has no room, at most `most` blocks. \returns whether more is left.
bool return_surplus(SlabOwner& owner, unsigned most, ReturnedPages& returned);

}  // namespace tarn::internal
