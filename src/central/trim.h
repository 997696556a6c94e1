// Trimming retires an owner's slabs without live blocks, and ends its spare slabs.
//
// Threads: under the owner's mutex.
#pragma once
#include "central/slabs/slab_owner.h"
#include "page/give_back/returned_pages.h"

namespace tarn::internal {

/// How far trimming goes: kIdle keeps slabs made ahead of need, kAll retires them too.
enum class TrimDepth : std::uint8_t { kIdle, kAll };

/// Returns what is parked of a class, merges its remote frees and retires its slabs without live blocks.
void trim_class_locked(SlabOwner& owner, SizeClass size_class, TrimDepth depth, ReturnedPages& returned);

/// The same for all classes, except those of a pool that is ending, and for the spare slabs.
void trim_locked(SlabOwner& owner, TrimDepth depth, ReturnedPages& returned);

}  // namespace tarn::internal
