// Scavenging gives back free memory inside partly free slabs: the OS pages without a block in use; the slab
// stays. So one live block, or one in a magazine, pins an OS page and not a slab. Done for idle owners, and
// by trim; of a busy owner, for slabs that are mostly free and of which no block was taken for a while:
// such slabs a peak leaves.
#pragma once
#include <cstddef>

#include "central/slabs/slab_owner.h"

namespace tarn::internal {

enum class Scavenged : std::uint8_t { kAll, kQuiet };

/// Scavenges all slabs of an owner; or those that were quiet at the last two looks. \pre no lock is held.
/// \param most how many slabs at most; lowered by each that was scavenged, so that 0 says there may be more.
/// \param classes_done how many classes earlier calls have finished; raised by those that this one has.
/// \returns bytes given back. \cost a system call per run of free blocks.
std::size_t scavenge(SlabOwner& owner, Scavenged which, unsigned& most, unsigned& classes_done);

/// Looks for quiet slabs of an owner, which Scavenged::kQuiet takes then. \pre no lock is held.
void look_for_quiet(SlabOwner& owner);

}  // namespace tarn::internal
