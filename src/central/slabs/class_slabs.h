// An owner's slabs of each class: lists the slabs with free blocks, retires wholly free slabs, and keeps
// spare slabs, which the next slabs are made of.
//
// Threads: all of these under the owner's mutex, unless they say otherwise.
#pragma once
#include <atomic>
#include <cstddef>

#include "central/slabs/slab_owner.h"
#include "page/give_back/returned_pages.h"

namespace tarn::internal {

/// Of a slab of slots of handles: what overflows the span before comes to the pad first.
inline constexpr std::size_t kPadBeforeSlots = 4096;
inline constexpr std::uint32_t kSlotsInSlab = 7 * 1024;
static_assert(kPadBeforeSlots + kSlotsInSlab * sizeof(std::uint64_t) <= kPageBytes);

/// \returns how many blocks are free in the slabs of a class. \cost a step per slab with free blocks.
std::size_t free_blocks(const OwnedClass& of_class);

/// Makes a slab of a class, all blocks free, counted and listed. \param is_used_now else it is a reserve,
/// which the system backs with memory when it is used. \returns nullptr when memory is refused.
Span* make_slab_locked(SlabOwner& owner, SizeClass size_class, bool is_used_now = true);

/// list_slab: lists a slab with free blocks as one to take from; unlist_slab removes it from the list. Slabs
/// that are used by half or more come first, since those used by less may then become free as a whole. A list
/// with more steps would gain little: docs/decisions/011-shared-owners.md.
void list_slab(SlabOwner& owner, Span* slab);
void unlist_slab(SlabOwner& owner, Span* slab);

/// Call after blocks came back to a slab: lists it where it now belongs.
void place_slab(SlabOwner& owner, Span* slab);
/// Call after blocks were taken from the first slab of a list: lists it anew where it belongs, or no longer.
void settle_taken(SlabOwner& owner, Span* slab);

/// Puts the slabs of a class into their order again: those used by half or more first.
void sort_slabs(SlabOwner& owner, SizeClass size_class);

/// Keeps a slab, made ahead of need, until keep_no_longer(): it stays though all its blocks are free.
void keep_slab(SlabOwner& owner, Span* slab);
void keep_no_longer(SlabOwner& owner, Span* slab);

/// Call when blocks of so many bytes were taken from the owner's slabs.
void note_taken(SlabOwner& owner, std::size_t bytes);

/// Credits the owner's account with what has come back to the slabs. Call after blocks have, before the mutex
/// is let go.
void settle_account(SlabOwner& owner);

/// Counts a slab in the owner's totals, or no longer.
void count_slab_in(SlabOwner& owner, const Span& slab);
void count_slab_out(SlabOwner& owner, const Span& slab);

/// Moves a listed slab with free blocks to another owner. \pre both mutexes are held.
void move_slab(SlabOwner& from, SlabOwner& to, Span* slab);

/// Settles a slab that blocks were returned to: lists it; retires it when all its blocks are free and the
/// class has another slab. \returns whether the slab remains.
bool settle_slab(SlabOwner& owner, Span* slab, ReturnedPages& returned);

/// Whether a retired slab may stay with its owner as a spare one.
enum class Retired : std::uint8_t { kMayStay, kGoes };
/// Retires a listed slab. \pre all its blocks are free.
void retire_slab(SlabOwner& owner, Span* slab, Retired fate, ReturnedPages& returned);

/// Retires the last slab that a class would take from, if all its blocks are free and it was not made ahead.
void retire_empty_slab(SlabOwner& owner, SizeClass size_class, ReturnedPages& returned);

/// Gives the owner a span of kind kSlab as a spare slab.
void add_spare_locked(SlabOwner& owner, Span* slab);

/// Ends spare slabs until at most `bytes` of them are left, and those that were made ahead of need.
void end_spare_slabs(SlabOwner& owner, std::size_t bytes, ReturnedPages& returned);

/// Call when free memory stays with the owner: if it is much, a look trims the owner once it idles.
void note_kept_memory(const SlabOwner& owner, ReturnedPages& returned);

/// Bytes of what is parked with slabs of its own (central/cached/depot.h), and of these slabs. \threads any
struct ParkedSlabs {
  std::size_t blocks = 0, pages = 0;
};
ParkedSlabs parked_in_own_slabs(const SlabOwner& owner);

/// Whether the slabs hold much more than twice what is in use, and with free pages more than the page cache
/// may keep, which it learns from a program that fills its heap again and again. \param free bytes of what
/// they gave out that nobody uses. \threads any; at some moment.
bool is_past_its_peak(const SlabOwner& owner, std::size_t free = 0);

/// \returns by how many bytes the owner's blocks are fewer than at its recent peak. 0 also while scavenge()
/// has taken blocks out of a slab: no peak counts these.
std::size_t bytes_freed_recently(const SlabOwner& owner);

/// The most bytes of spare slabs the owner may have.
std::size_t most_spare_bytes(const SlabOwner& owner);

}  // namespace tarn::internal
