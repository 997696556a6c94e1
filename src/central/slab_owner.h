// An owner of slabs: lists of slabs with free blocks by size class, and stacks of slabs that other threads
// have announced.
//
// A thread that calls often has its own owner; threads that call rarely, and threads that have ended, share
// one. An owner whose thread has ended is an orphan; the next thread that starts gets the whole owner. Owners
// are never freed, so a stale pointer to one is harmless.
//
// Invariant, with the mutex held: a slab of this owner is in `available` of its class exactly when is_listed;
// a slab with free blocks is listed, unless scavenge() has it; totals are the sums over all slabs owned;
// taken_bytes == bytes of blocks that are in no slab: live, in magazines, or announced and not yet collected;
// spare_bytes == bytes of the spare slabs.
//
// Synchronisation: `mutex` guards all but `pending`. The owner's thread takes it only on its slow path,
// rarely contended: by statistics, trimming, the helper thread, or a freer that collects for an idle owner or
// an orphan. Remote frees need no lock (remote_free.h). A second owner's mutex is only ever tried.
#pragma once
#include <atomic>
#include <bit>
#include <cstdint>

#include "base/list.h"
#include "central/per_class.h"
#include "os/lock_rank.h"
#include "page/span.h"
#include "tarn/detail/stat_fields.h"

namespace tarn::internal {

struct SlabTotals {
  std::uint32_t slabs;
  PageCount pages;
  std::uint32_t blocks;
};

struct OwnerCounters {
  TARN_STATISTICS_OF_OWNERS(TARN_STATISTIC_MEMBER)
};

/// Kinds of spare slabs, by their number of pages. A thread that frees and allocates in turn ends and makes
/// many slabs, and the page cache has one lock for all threads.
inline constexpr unsigned kSpareKinds = 4;
constexpr unsigned spare_kind_of(PageCount pages) {
  const std::uint32_t count = number_of(pages);
  return std::has_single_bit(count) && count <= 8 ? std::countr_zero(count) : kSpareKinds;
}

struct alignas(kCacheLineBytes) SlabOwner {
  os::MemberMutex<os::LockRank::kThreadHeap> mutex;
  std::atomic<bool> has_thread;  // false: an orphan
  SlabOwner* next_owner;         // in the list of all owners
  SlabOwner* previous;           // in the list of orphans
  SlabOwner* next;
  bool is_orphan;  // the list of orphans has it
  std::size_t taken_bytes;
  std::size_t peak_taken_bytes;  // recent peak: falls by a quarter each half decay time
  std::size_t slab_bytes;        // of all slabs it owns
  std::size_t looked_at_bytes;   // its slabs may be so much before it looks for idle classes again
  std::size_t spare_bytes;
  std::size_t returned_bytes;     // to slabs, since the helper thread was last asked to trim
  std::size_t spare_limit_bytes;  // limit of spare_bytes
  std::uint64_t slow_calls;       // of the owner's thread
  std::uint64_t slow_calls_at_last_trim;
  bool is_trimmed;  // trimmed at that count, and no block came or went since
  OwnerCounters counters;
  List<Span> spare[kSpareKinds];  // slabs that ended here; the next slab of any class is made of one
  PerClass<List<Span>> available;
  PerClass<SlabTotals> totals;

  alignas(kCacheLineBytes) std::atomic<std::uint32_t> pending_count;
  PerClass<std::atomic<Span*>> pending;
};

/// Number of owners that have a thread.
inline constinit std::atomic<std::uint32_t> owners_in_use{0};

/// Classes whose pool is ending: trimming and scavenging skip their slabs, because the pool walks them. Set
/// under kGiveBack, so that no free block is out of its slab at that time.
extern PerClass<std::atomic<bool>> class_is_ending;

/// Walks the invariant above; stops the process where it does not hold. \pre the mutex is held.
void validate_locked(const SlabOwner& owner);

}  // namespace tarn::internal
