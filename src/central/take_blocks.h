// Blocks are taken from slabs, many at a time: of the owner's own slabs, of what other threads gave back, of
// an orphan's slab, of a new slab.
#pragma once
#include "central/slab_owner.h"
#include "page/returned_pages.h"

namespace tarn::internal {

// \pre owner.mutex is held, for both.

/// Whether the owner has free blocks of a class without a new slab: it takes back what other threads freed,
/// and adopts an orphan's slab.
bool has_blocks_locked(SlabOwner& owner, SizeClass size_class, ReturnedPages& returned);

/// Takes up to `wanted` blocks of a class; the one to use first comes last. \returns 0 when memory
/// is refused.
unsigned take_blocks_locked(SlabOwner& owner, SizeClass size_class, void** blocks, unsigned wanted,
                            ReturnedPages& returned);

}  // namespace tarn::internal
