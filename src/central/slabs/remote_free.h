// Blocks freed by a thread that does not own their slab: the freer sets bits and tells the slab's owner.
//
//   a freer    1. sets the blocks' remote bits              (fetch_or, seq_cst)
//              2. if the slab is not announced, announces it (is_pending 0 -> 1, push on the owner's stack)
//   the owner  1. takes the stack whole
//              2. clears is_pending                          (exchange, seq_cst)
//              3. takes the remote bits                      (exchange, seq_cst)
//
// Steps 1-2 of the freer and 2-3 of the owner are a store and a load on each side in one total order, so a
// set bit is either taken now or announced again. Between its steps 1 and 2 the freer holds no block any
// more: the slab may have ended, and its Span may be another slab of another owner. Then the announcement is
// spurious: it reaches the stack of an owner that does not own the slab. That owner passes it on, or drops it
// when the Span is free. It must pass it on: a true freer may have relied on the flag that the spurious one
// set.
#pragma once
#include "central/slabs/slab_owner.h"
#include "page/give_back/returned_pages.h"

namespace tarn::internal {

/// Frees blocks of one word of a slab's bitmap. The slab may end at any time after that. Needs no lock; if
/// the owner does not collect by itself, the caller collects for it when its mutex is free.
void return_remote(Span* slab, std::uint32_t word, std::uint64_t mask, ReturnedPages& returned);

// \pre owner.mutex is held, for both.

/// Merges the remote frees of one class. \returns whether any slab has free blocks now. \cost a load when
/// nothing is announced.
bool collect_announced_locked(SlabOwner& owner, SizeClass size_class, ReturnedPages& returned);
inline bool collect_pending_locked(SlabOwner& owner, SizeClass size_class, ReturnedPages& returned) {
  return owner.of(size_class).pending.load(std::memory_order_seq_cst) != nullptr &&
         collect_announced_locked(owner, size_class, returned);
}

/// Merges the remote frees of all classes. \cost a load when nothing is announced.
void collect_all_announced_locked(SlabOwner& owner, ReturnedPages& returned);
inline void collect_all_pending_locked(SlabOwner& owner, ReturnedPages& returned) {
  if (owner.pending_count.load(std::memory_order_relaxed) != 0) collect_all_announced_locked(owner, returned);
}

}  // namespace tarn::internal
