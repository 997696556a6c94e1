// What owns slabs: the lists of slabs with free blocks by size class, and what other threads have announced.
//
// A thread that calls often has an owner of its own; threads that call rarely, and those that have ended,
// share one. An owner whose thread has ended is an orphan; it is handed whole to the next thread that starts.
// Owners are never freed, so a stale pointer to one is harmless.
//
// Invariant, with the mutex held: a slab of this owner is in `available` of its class exactly when is_listed;
// a slab with free blocks is listed, unless scavenge() has it; totals are the sums over all slabs owned;
// taken_bytes == bytes of blocks that are in no slab: live, in magazines, or announced and not yet collected;
// spare_bytes == bytes of the spare slabs.
//
// Synchronisation. Everything but `pending` is guarded by `mutex`: the owner's thread takes it on its slow
// path only, where it is free but for rare visits: statistics, trimming, the helper thread, a freer that
// collects for an owner that idles or has ended. Remote frees need no lock (remote_free.h). A second owner's
// mutex is only ever tried.
#pragma once
#include <atomic>
#include <cstdint>

#include "base/list.h"
#include "central/per_class.h"
#include "os/lock_rank.h"
#include "page/span.h"
#include "tarn/detail/stat_fields.h"

namespace tarn::internal {

struct SlabTotals {
  std::uint32_t slabs, pages, blocks;
};

struct OwnerCounters {
  TARN_STATISTICS_OF_OWNERS(TARN_STATISTIC_MEMBER)
};

/// Slabs that are kept when they end, by the number of their pages: a thread that frees and allocates in turn
/// makes and ends many, and the page cache is everybody's.
inline constexpr unsigned kSpareKinds = 3;
constexpr unsigned spare_kind_of(PageCount pages) {
  return pages == 1 ? 0 : pages == 4 ? 1 : pages == 8 ? 2 : kSpareKinds;
}

struct alignas(kCacheLineBytes) SlabOwner {
  os::MemberMutex<os::LockRank::kThreadHeap> mutex;
  std::atomic<bool> has_thread;  // false: an orphan
  SlabOwner* next_owner;         // in the list of all
  SlabOwner* previous;           // in the list of orphans
  SlabOwner* next;
  bool is_orphan;  // it is in that list
  std::size_t taken_bytes;
  std::size_t peak_taken_bytes;  // of late: it falls by a quarter each half decay time
  std::size_t spare_bytes;
  std::size_t returned_bytes;     // to slabs, since the helper thread was last asked for
  std::size_t spare_limit_bytes;  // the most of them
  std::uint64_t slow_calls;       // of its thread
  std::uint64_t slow_calls_at_last_trim;
  bool is_trimmed;  // at that time, and nothing came or went since
  OwnerCounters counters;
  List<Span> spare[kSpareKinds];  // slabs that ended here; the next slab, of whatever class, is made of one
  PerClass<List<Span>> available;
  PerClass<SlabTotals> totals;

  alignas(kCacheLineBytes) std::atomic<std::uint32_t> pending_count;
  PerClass<std::atomic<Span*>> pending;
};

/// Owners that have a thread.
inline constinit std::atomic<std::uint32_t> owners_in_use{0};

/// Classes whose pool is ending: what trims and scavenges leaves their slabs alone, since the pool walks
/// them. Set under kGiveBack, so that no free block is out of its slab then.
extern PerClass<std::atomic<bool>> class_is_ending;

/// Walks the invariant above; stops the process where it does not hold. \pre the mutex is held.
void validate_locked(const SlabOwner& owner);

}  // namespace tarn::internal
