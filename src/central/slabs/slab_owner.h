// An owner of slabs: of each of its size classes a list of slabs with free blocks, a stack of slabs that
// other threads have announced, and free blocks that are in no slab, in a depot.
//
// Threads' owners have the classes of bins. While threads are few, each that calls often has its own owner;
// more threads share some owners, each of which serves the threads of a processor (thread/slow_call.h), and
// threads that call rarely or have ended one more. An owner that no thread uses is an orphan; the next thread
// that starts gets it whole.
//
// A pool is an owner too: it has classes that nobody else has, and serves all threads. Where these often wait
// for each other it becomes several, its parts, each of which serves some of the threads
// (docs/decisions/044-pools-are-owners.md). Owners are never freed, so a stale pointer to one is harmless;
// the next pool gets the owners of one that has ended, with their classes.
//
// Invariant, with the mutex held: a slab of this owner is in `available` of its class exactly when
// is_listed(); a slab with free blocks is listed, unless scavenge() has it; of a pool, all others are in
// `full`; totals are the sums over all slabs owned; taken_bytes == bytes of blocks that are in no slab: live,
// in magazines or a depot, on their way to an owner, or announced and not yet collected; spare_bytes == bytes
// of the spare slabs; the depot's two sums == bytes of the blocks in it, which may be of other owners' slabs.
//
// Threads: `mutex` guards all but `pending`, the depot (depot.h), and what is atomic or Relaxed: of these,
// others write is_trimmed and the counts of calls and flushes, which may lose one. It is taken where a slow
// call comes to the slabs, rarely contended: by each other, statistics, trimming, looks, or a
// freer that collects for an idle owner or an orphan. Remote frees need no lock (remote_free.h). A second
// owner's mutex is only ever tried.
#pragma once
#include <atomic>
#include <bit>
#include <cstdint>

#include "base/bitmap.h"
#include "base/list.h"
#include "base/relaxed.h"
#include "central/classes/size_class.h"
#include "os/locks/lock_rank.h"
#include "page/spans/chunk.h"
#include "page/spans/span.h"
#include "tarn/detail/stat_fields.h"

namespace tarn::internal {

struct SlabTotals {
  Relaxed<std::uint32_t> slabs;
  PageCount pages;
  std::uint32_t blocks;
};

struct OwnerCounters {
  TARN_STATISTICS_OF_OWNERS(TARN_STATISTIC_MEMBER)
};

/// Kinds of spare slabs, by their number of pages. A thread that frees and allocates in turn ends and makes
/// many slabs, and the page cache has one lock for all threads.
inline constexpr unsigned kSpareKinds = 5;  // of 1 to 4 and of 8 pages
constexpr unsigned spare_kind_of(PageCount pages) {
  const std::uint32_t count = number_of(pages);
  return count <= 4 ? count - 1 : count == 8 ? 4 : kSpareKinds;
}

/// An array of free blocks of one class, in the depot.
struct alignas(kCacheLineBytes) ParkedArray {
  static constexpr std::uint16_t kBlocks = 63;
  ParkedArray* next;
  void* blocks[kBlocks];
};

using DepotMutex = os::MemberMutex<os::LockRank::kDepot>;

/// A stack of free blocks: linked arrays, of which all but the first are full.
struct alignas(kCacheLineBytes) Parked {
  DepotMutex mutex;  // of all below; held while some pointers are copied
  ParkedArray* first;
  ParkedArray* spare;  // empty ones
  std::uint32_t count;
  // Since the last look: how many there was no room for that no thread asked for again; the most that count
  // and `refused` were together; the most by which both together then fell.
  std::uint32_t refused, peak, asked;
  std::uint32_t needed;  // that were asked for between the two looks before
  std::uint16_t in_first;
  std::uint8_t spare_count;
  bool was_used;                  // blocks came or went since give_way() came to the class
  Relaxed<std::uint8_t> flushes;  // recent ones, as far as may_park() counts them
};
static_assert(sizeof(Parked) == kCacheLineBytes);

/// Free blocks that a pool caches itself, in an array of its owner: the magazine of a pool for one thread, or
/// freed runs of one length. In their slabs they count as taken. The array and the list change under the
/// owner's mutex; the pool's one thread writes `*top` and slots beside it.
/// Invariant: slots[0] is empty; the others up to `*top` have a block each.
struct CachedBlocks {
  CachedBlocks* next;
  void** const* top;  // where the place of the last one is
  void** slots;       // nullptr: there is none
  void*** limit;      // of a thread's inlined frees; nullptr written there makes the next one slow
  std::uint32_t capacity;
  std::uint32_t run_length;  // blocks side by side for each slot

  std::uint32_t count() const {
    return slots == nullptr ? 0 : static_cast<std::uint32_t>(__atomic_load_n(top, __ATOMIC_ACQUIRE) - slots);
  }
};

/// Classes of an owner, each with a bit. Any thread may set and clear bits.
struct ClassSet {
  std::atomic<std::uint64_t> words[bitmap::words_for(kBinCount)];
};

/// What an owner has parked. Zeroed memory at first, of which classes without a flush write nothing.
struct alignas(kCacheLineBytes) Depot {
  std::atomic<std::size_t> bytes;           // of blocks that share slabs, with their places in the depot
  std::atomic<std::size_t> own_slab_bytes;  // of blocks with a slab of their own
  std::atomic<std::size_t> own_slab_pages;  // bytes of these slabs
  ClassSet parked;                          // classes with parked blocks
  ClassSet flushed;                         // classes that were flushed once
  // One Parked for each class of the owner follows.

  static std::size_t bytes_of_each(const ClassGeometry& geometry) {
    return has_own_slab(geometry) ? geometry.block_bytes : geometry.block_bytes + sizeof(void*);
  }
  /// Counts blocks of a class in the sums that have them.
  void add(const ClassGeometry& geometry, std::size_t count) {
    const std::size_t more = bytes_of_each(geometry) * count;
    if (!has_own_slab(geometry)) return static_cast<void>(bytes.fetch_add(more, std::memory_order_relaxed));
    own_slab_bytes.fetch_add(more, std::memory_order_relaxed);
    own_slab_pages.fetch_add(bytes_of(geometry.slab_pages) * count, std::memory_order_relaxed);
  }
  void subtract(const ClassGeometry& geometry, std::size_t count) { add(geometry, 0 - count); }
  static std::size_t bytes_for(unsigned classes) { return sizeof(Depot) + classes * sizeof(Parked); }
  Parked* of() { return reinterpret_cast<Parked*>(this + 1); }
};

/// The contents of a slot (cached_spans.h): a span's address, its number of pages above it, and in the
/// highest bit whether a look has seen it; 0: none.
struct CachedSpan {
  static constexpr unsigned kPagesShift = 48, kSeenShift = 63;
  std::uint64_t value = 0;

  static CachedSpan of(const Span& span) {
    return {address_of(&span) | std::uint64_t{number_of(span.pages)} << kPagesShift};
  }
  bool is_none() const { return value == 0; }
  Span* span() const { return reinterpret_cast<Span*>(value & ((std::uint64_t{1} << kPagesShift) - 1)); }
  PageCount pages() const { return PageCount{static_cast<std::uint32_t>(value << 1 >> (kPagesShift + 1))}; }
  bool was_seen() const { return value >> kSeenShift != 0; }
  CachedSpan seen() const { return {value | std::uint64_t{1} << kSeenShift}; }
};

/// Free spans of large blocks. Any thread may take one out of its slot.
struct alignas(kCacheLineBytes) CachedSpans {
  static constexpr unsigned kSlots = 7;
  std::atomic<std::uint64_t> slots[kSlots];
  Relaxed<std::uint32_t> turns;  // of the slots, to be replaced
};
static_assert(sizeof(CachedSpans) == kCacheLineBytes);

/// The slabs of an owner of a size class.
struct alignas(kCacheLineBytes) OwnedClass {
  List<Span> available;  // slabs to take from, the first one first
  List<Span> full;       // of a pool: those without a free block
  SlabTotals totals;
  std::atomic<Span*> pending;  // slabs that others have announced
};
static_assert(sizeof(OwnedClass) == kCacheLineBytes);

class Account;
struct PoolHeader;

struct alignas(kCacheLineBytes) SlabOwner {
  os::MemberMutex<os::LockRank::kOwner> mutex{};
  std::atomic<std::uint32_t> threads{};  // that call it home; with 0 no thread collects its remote frees
  SlabOwner* next_owner{};               // in the list of all owners
  SlabOwner* previous{};                 // in the list of orphans
  SlabOwner* next{};
  bool is_orphan{};    // the list of orphans has it
  bool hides_slabs{};  // the index of pages names no record for its slabs
  bool is_sampled{};   // each of its blocks has a sample: constant
  bool is_of_pool{};   // or was: constant
  // What its pool wants, while it has no slab constant; parts have it from the first one.
  Relaxed<bool> keeps_slabs{};  // those without a live block stay until a trim by hand, or while it is ending
  bool asks_pool{};  // spans have the pool (SpanHead::pool): a call that has only an address asks it
  Relaxed<bool> has_one_part{};
  bool poisons{};                     // free blocks are poisoned for a checker
  bool has_counts{};                  // slabs have a zeroed count for each block (SpanHead::pool_data)
  Relaxed<bool> has_slots{};          // its blocks are slots of handles (pool/handles/handle_pool_state.h)
  Density density{Density::kSparse};  // of slabs; large classes of sparse ones may be dense
  // Its pool is ending, or keeps all its slabs: trimming ends no slab, and scavenging takes no block, because
  // the pool walks them. Set under kGiveBack, so that no free block is out of its slab at that time.
  std::atomic<bool> is_ending{};
  std::uint16_t class_count{};
  SizeClass first_class{};
  OwnedClass* classes{};        // one after the other from the first class on
  ClassGeometry* geometries{};  // of a pool, the same; under the mutex, they change while it has no slab
  // Of classes of bins without slabs, how many calls others served; nullptr: of a pool.
  std::atomic<std::uint8_t>* rare_calls{};
  std::uint32_t number{};   // of threads: in the order in which these were made; constant
  SlabOwner* first_part{};  // of a pool; constant
  // Of a pool's first part:
  static constexpr unsigned kMostParts = 8;
  static constexpr std::size_t kNoCap = SIZE_MAX;
  std::atomic<std::size_t> room{};            // so many blocks more may the slabs of all parts have
  std::atomic<std::uint32_t> no_magazines{};  // while it is not 0, no thread gets a magazine, or a larger one
  CachedBlocks* cached_blocks{};              // of its pool
  char pool_name[32]{};                       // also while the pool ends
  PoolHeader* pool{};  // nullptr while none has it; under the lock of general/pools/pool_registry.h
  std::atomic<SlabOwner*> other_parts[kMostParts - 1]{};
  std::atomic<std::uint32_t> others_in_use{};  // of them
  Relaxed<std::uint32_t> waits{};              // of threads for a part, since the last one was added
  std::atomic<SlabOwner*> sampled{};           // has the slabs of its sampled blocks (owners.h)
  SlabOwner* next_ended{};  // in the queue of owners of ended pools (thread/pools/pool_owner.cc)
  bool outlived{};          // by blocks, when its pool ended

  Relaxed<std::size_t> largest_taken_bytes{};  // the most there were
  Relaxed<std::size_t> taken_bytes{};
  Account* account{};             // is charged what its slabs gave out; nullptr: none
  std::size_t accounted_bytes{};  // that it was charged
  // The slab that scavenge() has taken the free blocks of, and how many bytes of taken_bytes these are.
  const Span* scavenged{};
  std::size_t scavenged_bytes{};
  std::size_t peak_taken_bytes{};           // recent peak: falls by a quarter each half decay time
  Relaxed<std::size_t> slab_bytes{};        // of all slabs it owns
  std::size_t looked_at_bytes{};            // its slabs may be so much before it looks for idle classes again
  Relaxed<std::size_t> made_ahead_bytes{};  // of its slabs with is_kept set
  std::size_t spare_bytes{};
  std::size_t kept_spare_bytes{};  // of these: made ahead of need, they stay until a trim by hand
  std::size_t returned_bytes{};    // to slabs, since a look was last asked for
  // Limit of spare_bytes; for each thread, of what is parked; twice it, of what is parked with own slabs.
  Relaxed<std::size_t> kept_limit_bytes{};
  Relaxed<std::uint64_t> slow_calls{};
  std::uint64_t slow_calls_at_last_trim{};
  Relaxed<bool> is_trimmed{};  // trimmed at that count, and no block came or went since
  OwnerCounters counters{};
  // No slab has so many free blocks side by side, unless blocks came since; UINT32_MAX: not known.
  Relaxed<std::uint32_t> missing_run{};
  std::atomic<Depot*> depot{};             // nullptr before there were some flushes
  Relaxed<std::uint32_t> early_flushes{};  // before there was a depot
  std::uint32_t next_giving_way{};         // class where the next look for idle parked blocks begins
  List<Span> spare[kSpareKinds]{};         // slabs that ended here; the next slab of any class is made of one
  Relaxed<std::uint32_t> classes_with_slabs{};
  // Other threads write this; it lies beside what each slow call reads.
  alignas(kCacheLineBytes) std::atomic<std::uint32_t> pending_count{};
  CachedSpans cached_spans{};

  /// The place of a class among its classes; class_count or more: it has not that class.
  unsigned place_of(SizeClass size_class) const {
    return index_of_class(size_class) - index_of_class(first_class);
  }
  bool has_class(SizeClass size_class) const {
    const unsigned place = place_of(size_class);
    return place < class_count && (is_of_pool || place != 0);  // kNone is a class of pools without records
  }
  /// \pre has_class(size_class).
  OwnedClass& of(SizeClass size_class) { return classes[place_of(size_class)]; }
  const OwnedClass& of(SizeClass size_class) const { return classes[place_of(size_class)]; }
  /// Whether it has slabs of a class; without the mutex, at some moment.
  bool has_slabs(SizeClass size_class) const { return of(size_class).totals.slabs != 0; }
};

/// for (SizeClass size_class : classes_of(owner)).
inline ClassRange classes_of(const SlabOwner& owner) {
  const unsigned first = index_of_class(owner.first_class);
  return {owner.is_of_pool ? first : 1, first + owner.class_count};
}

/// \returns the geometry of a class of an owner.
inline const ClassGeometry& geometry_of(const SlabOwner& owner, SizeClass size_class) {
  return owner.is_of_pool ? owner.geometries[owner.place_of(size_class)] : bin_geometry[size_class];
}

/// \returns the part of a pool that serves the threads of an owner.
inline SlabOwner& part_for(SlabOwner& first, std::uint32_t number_of_owner) {
  const std::uint32_t others = first.others_in_use.load(std::memory_order_acquire);
  const std::uint32_t part = others == 0 ? 0 : number_of_owner % (others + 1);
  return part == 0 ? first : *first.other_parts[part - 1].load(std::memory_order_relaxed);
}

/// Calls use(owner) for each part of a pool. \param first its first part.
template <typename Use>
void for_each_part(SlabOwner& first, const Use& use) {
  use(first);
  for (const std::atomic<SlabOwner*>& other : first.other_parts)
    if (SlabOwner* const part = other.load(std::memory_order_acquire)) use(*part);
}

/// The same, and for the owner of its sampled blocks.
template <typename Use>
void for_each_owner(SlabOwner& first, const Use& use) {
  for_each_part(first, use);
  if (SlabOwner* const sampled = first.sampled.load(std::memory_order_acquire)) use(*sampled);
}

/// Number of threads' owners that are no orphans, but for the shared one and that of sampled blocks.
inline constinit std::atomic<std::uint32_t> owners_in_use{0};

/// Number of looks at all owners (Owners::trim_idle) that have begun: then threads return what is idle.
inline constinit Relaxed<std::uint32_t> looks_at_owners{};

/// Walks the invariant above; stops the process where it does not hold. \pre the mutex is held.
void validate_locked(const SlabOwner& owner);

}  // namespace tarn::internal
