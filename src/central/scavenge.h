// Scavenging gives back free memory inside partly free slabs: the OS pages without a block in use; the slab
// stays. So one live block, or one in a magazine, pins an OS page and not a slab. Done for idle owners, and
// by trim; of a busy owner, for slabs that are mostly free and that no block came to or left for a while:
// such slabs a peak leaves.
#pragma once
#include <cstddef>

#include "central/slabs/slab_owner.h"

namespace tarn::internal {

enum class Scavenged : std::uint8_t { kAll, kQuiet };

/// Scavenges all slabs of an owner; or looks for quiet ones, and scavenges those that were so at the last
/// look. \pre no lock is held. \returns bytes given back. \cost a system call per run of free blocks.
std::size_t scavenge(SlabOwner& owner, Scavenged which);

}  // namespace tarn::internal
