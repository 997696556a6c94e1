// A thread's heap: the magazines that its fast path pops from and pushes to, and the owner of its slabs.
//
// A slow call of the thread is served by the heap's home; or, where more threads than owners call, by the
// owner that belongs to the processor which the thread runs on (SlowCall).
//
// Invariant, with the mutex held and no slow call of the thread running: `owner` is the home; a class without
// a magazine has the empty record; otherwise blocks[0] is nullptr, the record's `top` leads to blocks +
// count, its `limit` to blocks + capacity; magazine_bytes == sum of capacity x block size; a magazine grows
// only while that stays within thread_limits.magazine_bytes, and all are dropped at the first miss after that
// was lowered below it; larger_magazine_bytes is the part of it for blocks above kSmallBlockBytes.
//
// Synchronisation: `top` of a record belongs to the thread alone; other threads read it for statistics. All
// else but `calls_made` changes under the heap's mutex, which its thread holds during a slow call
// (SlowCall), and other threads while they look at the heap or return its blocks. A process of one thread, as
// libc counts, takes none. A call that returns or takes blocks
// holds the owner's mutex too, for that time only. Heaps are never freed: the heap of a thread that has ended
// goes to the next thread that starts.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "central/classes/per_class.h"
#include "central/private_classes.h"
#include "central/slabs/slab_owner.h"
#include "tarn/detail/owner_lock.h"
#include "tarn/detail/stat_fields.h"
#include "tarn/detail/thread_cache.h"
#include "thread/watch/call_counts.h"
#include "thread/watch/call_ring.h"

namespace TARN_NAMESPACE::detail {

/// The cache of a thread without records of its own, with as many records as there may be.
struct EmptyCache {
  ThreadCache cache;
  Record of_pools[kMostClasses - kFirstPoolClass];
};
extern EmptyCache empty_cache;

struct ScopedCalls;

}  // namespace TARN_NAMESPACE::detail

namespace tarn::internal {

/// The array behind a record. blocks[0] is nullptr; room for `room` blocks follows, of which `capacity` are
/// used. In the hardened library `reserve` slots lie before it, each with a block or nullptr.
struct Magazine {
  void** blocks;
  std::uint16_t room;
  std::uint16_t capacity;
  std::uint16_t next_flushed;  // the slot where the next flush begins
  std::uint8_t misses;         // refills and flushes, at most 255; falls at each look for idle classes
  bool has_flushed;            // at least once
  bool was_missed;             // since the last look with time; and so for the next
  bool was_refilled;
  std::uint8_t reserve;  // slots; constant while there is an array
  bool serves;           // was refilled since the last look for idle classes
  const void* top_seen;  // the block on top at the last look with time
};

struct ThreadCounters {
  TARN_STATISTICS_OF_THREADS(TARN_STATISTIC_MEMBER)
};

/// Magazines of blocks up to this size have a budget of their own.
inline constexpr std::size_t kSmallBlockBytes = 2048;

/// What a heap is to threads.
enum class HeapUse : std::uint8_t {
  kNone,     // no thread has it, and its magazines are gone
  kThread,   // a thread has it
  kLeft,     // its thread has ended and has left magazines and slabs
  kLongLeft  // a look has seen it so before
};

/// What the threads of a heap did with large blocks. Of live blocks only the sums over all heaps mean
/// something: one thread may free what another has allocated.
struct LargeCounts {
  Relaxed<std::size_t> live_count, live_bytes, allocations;
};

/// The pointers by which a thread finds its records, for others that hide them until it notices a switch;
/// nullptr: nobody may. All under the heap's mutex.
struct ShownRecords {
  detail::ThreadCache** cache = nullptr;
  detail::ThreadCache** derived = nullptr;  // of the derived forms of operator new and delete
  std::uint32_t switch_noticed = 0;         // the last one of watch_switches
  bool is_watched = false;                  // its hits use the records though its pointer hides them
};

/// What another thread does with the magazines of one that runs (Registry::collect_magazines).
enum class Visit : std::uint8_t {
  kNone,
  kAsked,  // its records are hidden
  kTaken   // and blocks were taken out of the magazines: slots below the top are empty
};

struct ThreadHeap {
  SlabOwner* home;                // constant; counts the heap's thread
  SlabOwner* owner;               // that serves the slow call which runs now, in bins; else the home
  detail::ThreadCache* cache;     // the thread's records; constant
  ShownRecords shown;             // of the thread that has the heap
  std::atomic<ThreadHeap*> next;  // in the registry; heaps of one owner are neighbours
  ThreadHeap* next_unused;        // in the list of heaps whose thread has ended
  bool is_unused;                 // that list has it; changed under owners.mutex()
  std::atomic<HeapUse> use;       // read without the mutex, to choose
  std::size_t magazine_bytes;
  std::size_t larger_magazine_bytes;  // the part for blocks above kSmallBlockBytes
  std::size_t peak_taken_bytes;       // at its home, since the last fall from a peak
  std::size_t fallen_taken_bytes;     // at that fall
  unsigned rises;                     // between falls, since the last look with time
  unsigned last_class_looked_at;      // by the look for idle classes
  unsigned classes_to_look_at;        // with time, from the last one down
  std::uint32_t looks_seen;           // at the owners, when these were last all of them
  unsigned misses_since_look;         // of all classes
  std::uint32_t lowered_seen;         // times the limit of its magazines was lowered before its last miss
  bool lacks_room;                    // a magazine was refused to grow since the last look
  std::atomic<Visit> visit;           // changed under the mutex
  detail::OwnerMark batch;            // its thread takes or puts several blocks at once, without the mutex
  os::MemberMutex<os::LockRank::kMagazines> mutex;
  ThreadCounters counters;
  LargeCounts large;
  ThreadCallCounts* calls;            // nullptr unless calls are counted
  CallRing calls_made;                // of the thread alone, without the mutex
  detail::ScopedCalls* scoped_calls;  // the same: the innermost scope of a test; nullptr: none counts
  // The same, while the thread is watched (observation/guard_turns.h).
  std::int32_t calls_to_guard;      // of those that are counted, to the next block that is guarded
  std::int32_t slow_calls_of_turn;  // of the others, that it may still make before it ends the turn
  PerClass<Magazine> magazines;

  bool is_left() const {
    const HeapUse now = use.load(std::memory_order_relaxed);
    return now == HeapUse::kLeft || now == HeapUse::kLongLeft;
  }
  detail::Record& record(SizeClass size_class) const {
    return detail::record_at(cache, record_of_class(size_class));
  }
};

/// \returns the owner that serves the heap's slow call in a class: in that of a pool, a part of the pool.
inline SlabOwner& owner_serving(const ThreadHeap& heap, SizeClass size_class) {
  return is_private_class(size_class) ? part_for(*private_class(size_class).owner, heap.owner->number)
                                      : *heap.owner;
}

/// Number of heaps that a thread has.
inline constinit std::atomic<std::uint32_t> heaps_in_use{0};

/// Whether more threads call than there are owners. One more is mostly the main thread, which waits for the
/// others.
inline bool threads_share_owners() {
  return heaps_in_use.load(std::memory_order_relaxed) > owners_in_use.load(std::memory_order_relaxed) + 1;
}

static_assert(sizeof(detail::Record) == kRecordBytes);

/// A record without a magazine: empty for allocate, full for deallocate.
inline constexpr detail::Record kEmptyRecord{};

struct ThreadLimits {
  Relaxed<std::size_t> magazine_bytes{std::size_t{8} << 20};  // of one thread
  Relaxed<std::uint32_t> times_lowered;                       // magazine_bytes
  Relaxed<bool> every_call_is_slow;                           // the fast path never sees the magazines
  bool check_every_free = false;
  bool count_calls = false;
};
inline constinit ThreadLimits thread_limits{};

/// Whether each free of a block of a pool looks at the bits of its slab: nothing of a pool is cached then.
inline bool checks_pools() { return detail::kIsHardened || thread_limits.check_every_free; }

/// The mutexes of a heap and of its home: so blocks of the magazines can return.
class HeapGuard {
 public:
  explicit HeapGuard(ThreadHeap& heap) : magazines_(heap.mutex), home_(heap.home->mutex) {}

 private:
  os::LockGuard magazines_, home_;
};

/// Walks the invariant above; stops the process where it is broken. \pre the heap's mutex is held, and the
/// heap's thread is the caller or does not run.
void validate_locked(const ThreadHeap& heap);

}  // namespace tarn::internal
