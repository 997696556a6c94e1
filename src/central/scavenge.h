// Scavenging gives back free memory inside partly free slabs: the OS pages without a block in use; the slab
// stays. So one live block, or one in a magazine, pins an OS page and not a slab. Done for owners whose
// thread idles, and by trim.
#pragma once
#include <cstddef>

#include "central/slab_owner.h"

namespace tarn::internal {

/// \pre no lock is held. \returns bytes given back. \cost a system call per run of free blocks.
std::size_t scavenge(SlabOwner& owner);

}  // namespace tarn::internal
