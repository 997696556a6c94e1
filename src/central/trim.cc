#include "central/trim.h"

#include <climits>

#include "central/cached/cached_spans.h"
#include "central/cached/depot.h"
#include "central/slabs/class_slabs.h"
#include "central/slabs/remote_free.h"

namespace tarn::internal {

void trim_class_locked(SlabOwner& owner, SizeClass size_class, TrimDepth depth, ReturnedPages& returned) {
  return_parked(owner, size_class, UINT_MAX, returned);
  collect_pending_locked(owner, size_class, returned);
  for (Span* slab = owner.of(size_class).available.first(); slab != nullptr;) {
    Span* const next = slab->next;
    if (depth == TrimDepth::kAll) keep_no_longer(owner, slab);
    const bool stays = slab->is_kept || (owner.keeps_slabs && depth != TrimDepth::kAll);
    if (slab->free_count == slab->block_count && !stays) retire_slab(owner, slab, Retired::kGoes, returned);
    slab = next;
  }
}

void trim_locked(SlabOwner& owner, TrimDepth depth, ReturnedPages& returned) {
  collect_all_pending_locked(owner, returned);
  for (const SizeClass size_class : classes_of(owner))
    if (!owner.is_ending.load(std::memory_order_relaxed))
      trim_class_locked(owner, size_class, depth, returned);
  end_spare_slabs(owner, 0, returned);
  end_cached_spans(owner, returned);
  owner.looked_at_bytes = owner.slab_bytes;
}

}  // namespace tarn::internal
