// Puts an owner right after a thread has left a call half way, with locks held.
//
// Threads: under the owner's mutex, while no other thread of the program runs.
#pragma once
#include "central/slabs/slab_owner.h"

namespace tarn::internal {

/// Counts the free blocks of the slabs in the owner's lists anew. If the lock of a class is held, the parked
/// blocks of the class are lost.
void put_right_locked(SlabOwner& owner);

}  // namespace tarn::internal
