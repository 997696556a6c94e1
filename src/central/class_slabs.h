// The slabs an owner has of each class: which have free blocks, when a slab that is wholly free ends, and the
// spare ones the next slab is made of.
//
// Threads: all of these under the owner's mutex.
#pragma once
#include "central/slab_owner.h"
#include "page/returned_pages.h"

namespace tarn::internal {

/// A fresh slab of a class, all blocks free, counted and listed. \returns nullptr when memory is refused.
Span* make_slab_locked(SlabOwner& owner, SizeClass size_class);

/// Lists a slab that has free blocks as one to take from; takes it off the list.
void list_slab(SlabOwner& owner, Span* slab);
void unlist_slab(SlabOwner& owner, Span* slab);

/// Counts a slab in or out of the owner's totals.
void count_slab_in(SlabOwner& owner, const Span& slab);
void count_slab_out(SlabOwner& owner, const Span& slab);

/// Gives a listed slab with free blocks to another owner. \pre both mutexes are held.
void move_slab(SlabOwner& from, SlabOwner& to, Span* slab);

/// After blocks came back: lists a slab that has free blocks, or ends it when all are and the class has
/// another one. \returns whether it remains.
bool settle_slab(SlabOwner& owner, Span* slab, ReturnedPages& returned);

/// Whether an ended slab may stay with its owner as a spare one.
enum class Retired : std::uint8_t { kMayStay, kGoes };
/// Ends a listed slab. \pre all its blocks are free.
void retire_slab(SlabOwner& owner, Span* slab, Retired fate, ReturnedPages& returned);

/// Ends the slab a class takes from next, if all its blocks are free and nobody made it ahead of need.
void retire_empty_slab(SlabOwner& owner, SizeClass size_class, ReturnedPages& returned);

/// Ends spare slabs until at most `bytes` are left.
void end_spare_slabs(SlabOwner& owner, std::size_t bytes, ReturnedPages& returned);

/// Free memory stays with the owner; should the owner idle and it be much, somebody must come for it.
void note_kept_memory(const SlabOwner& owner, ReturnedPages& returned);

/// The most bytes of spare slabs the owner may have.
std::size_t most_spare_bytes(const SlabOwner& owner);

}  // namespace tarn::internal
