#include "central/take_blocks.h"

#include "central/class_slabs.h"
#include "central/owners.h"
#include "central/remote_free.h"
#include "central/slab.h"

namespace tarn::internal {
namespace {

// The slab that blocks of a class are taken from next.
Span* next_slab_locked(SlabOwner& owner, SizeClass size_class, Growth growth, ReturnedPages& returned) {
  const List<Span>& available = owner.available[size_class];
  if (!available.is_empty() || collect_pending_locked(owner, size_class, returned)) return available.first();
  if (Span* const slab = owners.adopt_slab(owner, size_class)) return slab;
  return growth == Growth::kAllowed ? make_slab_locked(owner, size_class) : nullptr;
}

}  // namespace

unsigned take_blocks_locked(SlabOwner& owner, SizeClass size_class, void** blocks, unsigned wanted,
                            Growth growth, ReturnedPages& returned) {
  unsigned taken = 0;
  // Once there are some, one more slab is taken only if it is there already.
  while (taken < wanted && (taken == 0 || !owner.available[size_class].is_empty())) {
    Span* const slab = next_slab_locked(owner, size_class, growth, returned);
    if (slab == nullptr) break;
    const unsigned part = take_from_slab(*slab, blocks + taken, wanted - taken);
    owner.taken_bytes += std::size_t{part} * slab->stride;
    if (owner.taken_bytes > owner.peak_taken_bytes) owner.peak_taken_bytes = owner.taken_bytes;
    taken += part;
    if (slab->free_count == 0) unlist_slab(owner, slab);
  }
  return taken;
}

}  // namespace tarn::internal
