// Who pins what: memory that is free but stays resident because a few live blocks lie in the same span.
//
// The idea: a slab goes back to the system as a whole, or by those of its OS pages that no live block
// touches. So of a span that has both live and free blocks, what is resident beyond its live and cached
// blocks is pinned by the live ones: its survivors. Without a residency (a core file) a span counts as
// resident.
//
// Invariant: each partly used span counts once for its class or pool, and once for its owner.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "observer/process/residency.h"
#include "observer/snapshot/snapshot.h"

namespace tarn::observer {

enum class PinnedBy : std::uint8_t { kClass, kPool, kOwner };

struct Pinner {
  PinnedBy by = PinnedBy::kClass;
  std::uint32_t index = 0;  // of the class, pool or owner in the snapshot
  std::uint64_t spans = 0;  // partly used ones
  std::uint64_t bytes = 0;  // of these
  std::uint64_t blocks = 0, survivors = 0;
  std::uint64_t survivor_bytes = 0, pinned_bytes = 0;
};

/// What lies free but resident in a span, whoever keeps it. \cost log n
std::uint64_t idle_bytes_of(const Span& span, const Residency* residency);

/// Those that pin anything, the one that pins most first. \cost n log n
std::vector<Pinner> pinners_by(PinnedBy by, const Snapshot& snapshot, const Residency* residency);

std::string name_of(const Pinner& pinner, const Snapshot& snapshot);

/// "48 B", "pool packets", "owner 12 (shared)": as all views call them.
std::string name_of_class(const Snapshot& snapshot, std::uint32_t size_class);
std::string name_of_pool(const Snapshot& snapshot, std::uint32_t pool);
std::string name_of_owner(const Snapshot& snapshot, std::uint32_t owner);

}  // namespace tarn::observer
