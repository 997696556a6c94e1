// Takes blocks from slabs, many at a time: from the owner's own slabs, from those with remote frees, from an
// orphan's slab, from a new slab.
#pragma once
#include "central/slabs/slab_owner.h"
#include "page/give_back/returned_pages.h"

namespace tarn::internal {

// \pre owner.mutex is held, for both.

/// \returns whether the owner has free blocks of a class without a new slab: collects remote frees, and
/// adopts an orphan's slab, or one of another part of the pool.
bool has_blocks_locked(SlabOwner& owner, SizeClass size_class, ReturnedPages& returned);

/// Takes up to `wanted` blocks of a class; the block to use first comes last. \returns 0 when memory is
/// refused.
unsigned take_blocks_locked(SlabOwner& owner, SizeClass size_class, void** blocks, unsigned wanted,
                            ReturnedPages& returned);

}  // namespace tarn::internal
