// Blocks are taken from slabs, many at a time: of the owner's own slabs, of what other threads gave back, of
// an orphan's slab, of a new slab.
#pragma once
#include "central/slab_owner.h"
#include "page/returned_pages.h"

namespace tarn::internal {

/// Whether the owner may get one more slab when it has no free block of the class.
enum class Growth : std::uint8_t { kNone, kAllowed };

/// Takes up to `wanted` blocks of a class; the one to use first comes last. \pre owner.mutex is held.
/// \returns 0 when memory is refused or growth is not allowed.
unsigned take_blocks_locked(SlabOwner& owner, SizeClass size_class, void** blocks, unsigned wanted,
                            Growth growth, ReturnedPages& returned);

}  // namespace tarn::internal
