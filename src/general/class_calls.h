// The slow calls of a size class: of the general pool, and of pools with inlined hits (tarn/fixed_pool.h).
//
// Threads: any, with no lock held.
#pragma once
#include <cstddef>

#include "central/classes/size_class.h"

namespace tarn::internal {

struct ThreadHeap;

// Behind the door (general/slow_door.h):

/// \param heap the calling thread's; nullptr: it has none. \param size requested bytes, for profiles and
/// counts of calls. \returns nullptr when memory is refused.
void* allocate_in_class(ThreadHeap* heap, SizeClass size_class, std::size_t size);
void deallocate_in_class(void* block, SizeClass size_class);

// Before it:

/// \param requested bytes, for profiles and counts of calls. \returns nullptr when memory is refused.
void* allocate_class_slow(SizeClass size_class, std::size_t requested);
/// \pre the block is of that class.
void deallocate_class_slow(void* block, SizeClass size_class);
/// Frees a block of any class, past what threads have cached: looks at its bit under its owner's lock, and
/// stops the process when it is free.
void deallocate_checked(void* block);

}  // namespace tarn::internal
