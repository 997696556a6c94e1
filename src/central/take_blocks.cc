#include "central/take_blocks.h"

#include "central/class_slabs.h"
#include "central/owners.h"
#include "central/remote_free.h"
#include "central/slab.h"

namespace tarn::internal {

bool has_blocks_locked(SlabOwner& owner, SizeClass size_class, ReturnedPages& returned) {
  const List<Span>& available = owner.of(size_class).available;
  const Span* const first = available.first();
  // Blocks that were used come before untouched ones.
  if (first != nullptr && first->free_count != first->block_count) return true;
  if (owner.pending_count.load(std::memory_order_relaxed) != 0)
    collect_pending_locked(owner, size_class, returned);
  return !available.is_empty() || owners.adopt_slab(owner, size_class) != nullptr;
}

unsigned take_blocks_locked(SlabOwner& owner, SizeClass size_class, void** blocks, unsigned wanted,
                            ReturnedPages& returned) {
  if (!has_blocks_locked(owner, size_class, returned) && make_slab_locked(owner, size_class) == nullptr)
    return 0;
  unsigned taken = 0;
  std::size_t bytes = 0;
  while (taken < wanted) {
    Span* const slab = owner.of(size_class).available.first();
    if (slab == nullptr) break;
    const unsigned part = take_from_slab(*slab, blocks + taken, wanted - taken);
    bytes += std::size_t{part} * slab->stride;
    taken += part;
    settle_taken(owner, slab);
  }
  note_taken(owner, bytes);
  return taken;
}

}  // namespace tarn::internal
