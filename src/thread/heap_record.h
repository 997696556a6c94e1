// What a thread has: the magazines its fast path pops from and pushes to, and the owner of its slabs.
//
// Invariant, with the owner's mutex held: a class without a magazine has the empty record; otherwise
// blocks[0] is nullptr, blocks + count is the record's `top`, blocks + capacity its `limit`; magazine_bytes
// == sum of capacity x block size, at most thread_limits.magazine_bytes.
//
// Synchronisation: `top` of a record belongs to the thread alone; others read it for statistics. Everything
// else is changed under owner->mutex. Heaps are never freed; that of a thread that has ended is handed, with
// its owner, to the next thread that starts.
#pragma once
#include <cstddef>
#include <cstdint>

#include "central/per_class.h"
#include "central/slab_owner.h"
#include "tarn/detail/stat_fields.h"
#include "tarn/detail/thread_cache.h"
#include "thread/call_counts.h"

namespace tarn::internal {

/// The array behind a record. blocks[0] is nullptr; `capacity` blocks follow.
struct Magazine {
  void** blocks;
  std::uint16_t capacity;
  std::uint16_t next_flushed;  // where the next flush begins
  bool was_missed;             // refilled or flushed since the last look for idle ones
};

struct ThreadCounters {
  TARN_STATISTICS_OF_THREADS(TARN_STATISTIC_MEMBER)
};

struct ThreadHeap {
  SlabOwner* owner;            // constant
  detail::ThreadCache* cache;  // its records; constant
  ThreadHeap* next;            // in the registry
  ThreadHeap* next_unused;     // in the list of those whose thread has ended
  std::size_t magazine_bytes;
  unsigned next_class_looked_at;  // for blocks kept idly
  ThreadCounters counters;
  ThreadCallCounts* calls;  // nullptr unless counted
  PerClass<Magazine> magazines;

  os::Mutex& mutex() const { return owner->mutex; }
  detail::Record& record(SizeClass size_class) const { return cache->records[index_of_class(size_class)]; }
};

static_assert(sizeof(detail::Record) == kRecordBytes);

/// A record without a magazine: empty for allocate, full for deallocate.
inline constexpr detail::Record kEmptyRecord{const_cast<void**>(detail::empty_magazine),
                                             const_cast<void**>(detail::empty_magazine)};

struct ThreadLimits {
  std::size_t magazine_bytes;  // of one thread
  bool every_call_is_slow;     // magazines stay out of the fast path's reach
  bool check_every_free;
  bool count_calls;
};
inline constinit ThreadLimits thread_limits{std::size_t{8} << 20, false, false, false};

/// Walks the invariant above; stops the process where it does not hold. \pre the owner's mutex is held, and
/// the heap's thread is the caller or does not run.
void validate_locked(const ThreadHeap& heap);

}  // namespace tarn::internal
