#include "central/take_blocks.h"

#include "central/owners.h"
#include "central/slabs/account.h"
#include "central/slabs/class_slabs.h"
#include "central/slabs/remote_free.h"
#include "central/slabs/slab.h"

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

namespace {

unsigned take_locked(SlabOwner& owner, SizeClass size_class, void** blocks, unsigned wanted,
                     ReturnedPages& returned) {
  if (!has_blocks_locked(owner, size_class, returned) && make_slab_locked(owner, size_class) == nullptr)
    return 0;
  // A slab is made for a first block only: fewer blocks than wanted are better than a slab more.
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

// Blocks are charged before they are taken, so no limit is ever exceeded.
[[gnu::noinline]] unsigned take_charged_locked(SlabOwner& owner, SizeClass size_class, void** blocks,
                                               unsigned wanted, ReturnedPages& returned) {
  const std::size_t bytes = geometry_of(owner, size_class).stride;
  const bool counts_each = wanted == 1 && owner.first_part->no_magazines.load(std::memory_order_seq_cst) != 0;
  unsigned charged = owner.account->charge_some(wanted, bytes, counts_each);
  if (charged == 0) {  // what others have freed is charged until it is collected
    collect_all_pending_locked(owner, returned);
    charged = owner.account->charge_some(wanted, bytes, counts_each);
  }
  if (charged == 0) return 0;
  const unsigned taken = take_locked(owner, size_class, blocks, charged, returned);
  owner.accounted_bytes += charged * bytes;
  settle_account(owner);
  owner.account->settle();
  return taken;
}

}  // namespace

unsigned take_blocks_locked(SlabOwner& owner, SizeClass size_class, void** blocks, unsigned wanted,
                            ReturnedPages& returned) {
  if (owner.account != nullptr) [[unlikely]]
    return take_charged_locked(owner, size_class, blocks, wanted, returned);
  return take_locked(owner, size_class, blocks, wanted, returned);
}

}  // namespace tarn::internal
