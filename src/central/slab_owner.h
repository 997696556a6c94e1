// An owner of slabs: lists of slabs with free blocks by size class, stacks of slabs that other threads have
// announced, and a depot of free blocks that are in no slab.
//
// While threads are few, each that calls often has its own owner; more threads share some owners
// (thread/registry.h). Threads that call rarely, and threads that have ended, share one more. An owner that
// no thread uses is an orphan; the next thread that starts gets the whole owner. Owners are never freed, so a
// stale pointer to one is harmless.
//
// Invariant, with the mutex held: a slab of this owner is in `available` of its class exactly when
// is_listed(); a slab with free blocks is listed, unless scavenge() has it; totals are the sums over all
// slabs owned; taken_bytes == bytes of blocks that are in no slab: live, in magazines or a depot, on their
// way to an owner, or announced and not yet collected; spare_bytes == bytes of the spare slabs; parked_bytes
// == bytes of the blocks in the depot, which may be of other owners' slabs.
//
// Synchronisation: `mutex` guards all but `pending`, and rare_calls, which may lose a count. The owner's
// threads take it only on their slow paths, rarely contended: by each other, statistics, trimming, the helper
// thread, or a freer that parks many blocks here or collects for an idle owner or an orphan. Remote frees
// need no lock (remote_free.h). A second owner's mutex is only ever tried.
#pragma once
#include <atomic>
#include <bit>
#include <cstdint>

#include "base/bitmap.h"
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

/// An array of free blocks of one class, in the depot.
struct alignas(kCacheLineBytes) ParkedArray {
  static constexpr std::uint16_t kBlocks = 63;
  ParkedArray* next;
  void* blocks[kBlocks];
};

/// A stack of free blocks: linked arrays, of which all but the first are full.
struct Parked {
  ParkedArray* first;
  std::uint32_t count;
  // Since the last look: how many there was no room for that no thread asked for again; the most that count
  // and `refused` were together; the most by which both together then fell.
  std::uint32_t refused, peak, asked;
  std::uint32_t needed;  // that were asked for between the two looks before
  std::uint16_t in_first;
  std::uint8_t flushes;  // of late, as far as may_park() counts them
  bool was_used;         // blocks came or went since give_way() came to the class
};

/// What an owner has of a size class, in one line: so a slow call touches one, and an OS page has 64 classes.
struct alignas(kCacheLineBytes) OwnedClass {
  List<Span> available;  // slabs to take from, the first one first
  Parked parked;
  SlabTotals totals;
};
static_assert(sizeof(OwnedClass) == kCacheLineBytes);

struct alignas(kCacheLineBytes) SlabOwner {
  os::MemberMutex<os::LockRank::kThreadHeap> mutex;
  std::atomic<std::uint32_t> threads;  // that use it; with 0 no thread collects its remote frees
  SlabOwner* next_owner;               // in the list of all owners
  SlabOwner* previous;                 // in the list of orphans
  SlabOwner* next;
  bool is_orphan;  // the list of orphans has it
  std::size_t taken_bytes;
  std::size_t peak_taken_bytes;  // recent peak: falls by a quarter each half decay time
  std::size_t slab_bytes;        // of all slabs it owns
  std::size_t looked_at_bytes;   // its slabs may be so much before it looks for idle classes again
  std::size_t made_ahead_bytes;  // of its slabs whose is_kept is set
  std::size_t spare_bytes;
  std::size_t returned_bytes;  // to slabs, since the helper thread was last asked to trim
  std::size_t parked_bytes;
  std::size_t kept_limit_bytes;  // limit of spare_bytes; of parked_bytes for each thread
  std::uint64_t slow_calls;      // of the owner's threads
  std::uint64_t slow_calls_at_last_trim;
  bool is_trimmed;  // trimmed at that count, and no block came or went since
  OwnerCounters counters;
  std::uint32_t spare_array_count;
  ParkedArray* spare_arrays;
  std::uint32_t next_giving_way;  // class where the next look for idle parked blocks begins
  std::uint64_t parked_classes[bitmap::words_for(kClassCount)];  // those of which blocks are parked
  List<Span> spare[kSpareKinds];  // slabs that ended here; the next slab of any class is made of one
  std::atomic<std::uint64_t> classes_with_slabs[bitmap::words_for(kClassCount)];
  PerClass<std::atomic<std::uint8_t>> rare_calls;  // of classes without slabs, that others served
  // Other threads write these; their number lies beside what each slow call reads.
  alignas(kCacheLineBytes) std::atomic<std::uint32_t> pending_count;
  PerClass<OwnedClass> classes;
  PerClass<std::atomic<Span*>> pending;

  /// Whether it has slabs of a class; without the mutex, at some moment.
  bool has_slabs(SizeClass size_class) const {
    const unsigned index = index_of_class(size_class);
    return (classes_with_slabs[index / 64].load(std::memory_order_relaxed) >> index % 64 & 1) != 0;
  }
};

/// Number of owners that are no orphans, but for the shared one.
inline constinit std::atomic<std::uint32_t> owners_in_use{0};

/// Classes whose pool is ending: trimming and scavenging skip their slabs, because the pool walks them. Set
/// under kGiveBack, so that no free block is out of its slab at that time.
extern PerClass<std::atomic<bool>> class_is_ending;

/// Walks the invariant above; stops the process where it does not hold. \pre the mutex is held.
void validate_locked(const SlabOwner& owner);

}  // namespace tarn::internal
