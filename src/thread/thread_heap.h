// A thread's side of the pool: its slabs, and the magazines its fast path pops from and pushes to.
//
// Synchronisation. The records of its cache belong to the thread alone. Everything else here is guarded by
// `mutex`, which the thread takes on its slow path only, where it is free but for rare visits: statistics,
// trimming, the helper thread, whoever collects for an owner that idles or has ended. Remote frees need no
// lock: they set bits in the slab and announce it on the owner's stack (`pending`).
// Lock order: mutex.h; a second heap's mutex is only ever tried.
//
// Heaps are never freed, so a stale pointer to one is harmless; a heap whose thread has ended is an orphan,
// and is handed whole to the next thread that starts.
#pragma once
#include <atomic>
#include <cstdint>

#include "base/list.h"
#include "central/size_class.h"
#include "os/lock_rank.h"
#include "page/span.h"
#include "tarn/detail/thread_cache.h"

namespace tarn::internal {

/// The array behind a record. blocks[0] is nullptr; `capacity` blocks follow.
struct Magazine {
  void** blocks;
  std::uint16_t capacity;
  std::uint16_t next_flushed;  // where the next flush begins
  bool was_missed;             // refilled or flushed since the last look for idle ones
};

struct SlabTotals {
  std::uint32_t slabs, pages, blocks;
};

struct HeapCounters {
  std::uint64_t refills, flushes, remote_batches, slabs_made, slabs_ended;
};

/// A record without a magazine: empty for allocate, full for deallocate.
inline constexpr detail::Record kEmptyRecord{const_cast<void**>(detail::empty_magazine),
                                             const_cast<void**>(detail::empty_magazine)};

/// Exact counts, kept while every call takes the slow path.
struct CallCounts {
  std::uint64_t allocations, deallocations, reallocations, requested_bytes;
};

/// Live bytes at every moment, kept with them.
struct CountedLive {
  std::atomic<std::size_t> bytes, peak_bytes;
  void add(std::size_t more) {
    const std::size_t now = bytes.fetch_add(more, std::memory_order_relaxed) + more;
    std::size_t peak = peak_bytes.load(std::memory_order_relaxed);
    while (now > peak && !peak_bytes.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
    }
  }
  void subtract(std::size_t less) { bytes.fetch_sub(less, std::memory_order_relaxed); }
};
extern CountedLive counted_live;

/// Slabs that are kept when they end, by the number of their pages: a thread that frees and allocates in turn
/// makes and ends many, and the page cache is everybody's.
inline constexpr unsigned kSpareKinds = 3;
constexpr unsigned spare_kind_of(PageCount pages) {
  return pages == 1 ? 0 : pages == 4 ? 1 : pages == 8 ? 2 : kSpareKinds;
}

struct alignas(kCacheLineBytes) ThreadHeap {
  detail::Record& record(unsigned bin) const { return cache->records[bin]; }

  os::MemberMutex<os::LockRank::kThreadHeap> mutex;
  std::atomic<bool> has_thread;  // false: an orphan
  // Its records; constant. nullptr in the shared heap, which has no magazines.
  detail::ThreadCache* cache;
  ThreadHeap* next_in_registry;
  ThreadHeap* next_orphan;
  std::size_t magazine_bytes;        // sum of capacity x block size; at most the limit of a thread
  std::size_t taken_bytes;           // of this heap's slabs: live blocks and those in magazines
  std::size_t peak_taken_bytes;      // of late: it falls by a quarter each half decay time
  std::size_t spare_bytes;           // of the spare slabs
  std::uint32_t next_bin_looked_at;  // for blocks kept idly
  std::uint32_t slab_count;          // owned, of all classes
  std::uint64_t slow_calls_at_last_trim;
  bool is_trimmed;             // at that time, and nothing came or went since
  std::size_t returned_bytes;  // to slabs, since the helper thread was last asked for
  HeapCounters counters;
  CallCounts* calls;  // per bin, the last for large ones; nullptr unless counted
  // Slabs that ended here; the next slab, of whatever class, is made of one.
  List<Span> spare[kSpareKinds];
  List<Span> available[kClassCount];    // slabs with free blocks
  SlabTotals slab_totals[kClassCount];  // of the slabs it owns
  Magazine magazines[kClassCount];

  alignas(kCacheLineBytes) std::atomic<std::uint32_t> pending_count;
  std::atomic<Span*> pending[kClassCount];
};

/// Slabs that ended while a lock was held, to be given to the page cache when it is not. Destroyed with no
/// heap's mutex held: it may give memory back and look at all heaps.
class EndedSlabs {
 public:
  EndedSlabs() = default;
  EndedSlabs(const EndedSlabs&) = delete;
  EndedSlabs& operator=(const EndedSlabs&) = delete;
  ~EndedSlabs();
  /// Free memory stays with a heap; should the heap idle and it be much, somebody must come for it.
  void note_kept_memory(const ThreadHeap& heap);
  /// Of all slabs that were added.
  std::size_t bytes() const { return bytes_; }
  void add(Span* slab) {
    bytes_ += slab->bytes();
    slab->next = first_;
    first_ = slab;
  }
  /// Gives the pages to the page cache now; what then exceeds its limit is seen to at destruction.
  void give_back();

 private:
  Span* first_ = nullptr;
  std::size_t bytes_ = 0;
  bool has_kept_much_ = false;
  bool has_given_back_ = false;
};

struct ThreadLimits {
  std::size_t magazine_bytes;  // of one thread
  bool every_call_is_slow;     // magazines stay out of the fast path's reach
  bool check_every_free;
  bool count_calls;
};
extern ThreadLimits thread_limits;

/// Classes whose pool is ending: what trims and scavenges leaves their slabs alone, since the pool walks
/// them. Set with the page cache's give_back_mutex held, so that no free block is out of its slab then.
extern std::atomic<bool> class_is_ending[kClassCount];

// All of these: \pre heap.mutex is held.

/// Takes up to `wanted` blocks of a class; the one to use first comes last. \returns 0 when memory is
/// refused.
unsigned take_blocks_locked(ThreadHeap& heap, SizeClass size_class, void** blocks, unsigned wanted,
                            EndedSlabs& ended);

/// Takes one block through the magazine of a bin, refilling it. \returns nullptr when memory is refused.
void* allocate_locked(ThreadHeap& heap, unsigned bin, EndedSlabs& ended);

/// Puts a block into the magazine of a bin, flushing it when it is full.
void deallocate_locked(ThreadHeap& heap, void* block, unsigned bin, EndedSlabs& ended);

/// Merges the remote frees of one class. \returns whether any slab has free blocks now.
bool collect_pending_locked(ThreadHeap& heap, SizeClass size_class, EndedSlabs& ended);

/// Merges the remote frees of all classes.
void collect_all_pending_locked(ThreadHeap& heap, EndedSlabs& ended);

/// How far trimming goes: slabs made ahead of need are kept, or given up like all others.
enum class TrimDepth : std::uint8_t { kIdle, kAll };

/// Merges the remote frees of a class and ends its slabs without live blocks.
void trim_class_locked(ThreadHeap& heap, SizeClass size_class, TrimDepth depth, EndedSlabs& ended);

/// The same for all classes but those that are ending.
void trim_locked(ThreadHeap& heap, TrimDepth depth, EndedSlabs& ended);

/// Empties a magazine into its slabs and gives its array up. \pre the heap's thread does not use it
/// meanwhile.
void drop_magazine_locked(ThreadHeap& heap, unsigned bin, EndedSlabs& ended);

/// Blocks in a magazine; while its thread uses it, those of some moment.
std::size_t cached_count(const ThreadHeap& heap, unsigned bin);

/// Lists a slab that has free blocks as one to take from.
void list_slab(ThreadHeap& heap, Span* slab);

/// Gives spare slabs up until at most `bytes` are left.
void give_up_spare_locked(ThreadHeap& heap, std::size_t bytes, EndedSlabs& ended);

/// The most bytes of spare slabs the heap may have.
std::size_t most_spare_bytes(const ThreadHeap& heap);

/// Empties all magazines into their slabs. \pre called by the heap's thread, or there is none.
void empty_magazines_locked(ThreadHeap& heap, EndedSlabs& ended);

/// Lists a slab that has free blocks, or ends it when all are and the class has another one. \returns whether
/// it remains.
bool settle_slab(ThreadHeap& heap, Span* slab, EndedSlabs& ended);

/// Counts a slab in or out of the heap's totals.
void count_slab_in(ThreadHeap& heap, const Span& slab);
void count_slab_out(ThreadHeap& heap, const Span& slab);

/// Takes a listed slab off the list of its class.
void unlist_slab(ThreadHeap& heap, Span* slab);

/// Returns blocks to their slabs: those of `heap` directly, all others by their remote bits. `heap` may be
/// nullptr, and then no lock is needed. Stops the process on what is no live block.
void return_blocks(ThreadHeap* heap, void* const* blocks, unsigned count, EndedSlabs& ended);

/// The same, but stops after writing `most_words` words of bitmaps. \returns how many blocks went.
unsigned return_some_blocks(ThreadHeap* heap, void* const* blocks, unsigned count, unsigned most_words,
                            EndedSlabs& ended);

/// The slab that holds a block and the block's index; stops the process when it is no block.
Span* slab_of_block(void* block, std::uint32_t* index);

/// Whether a block's bit says free. \pre the owner's mutex is held.
bool is_marked_free_locked(const Span& slab, std::uint32_t index);

}  // namespace tarn::internal
