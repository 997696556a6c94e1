// The fast path, inlined into every program that links the library: a hit is one load from an array of
// pointers that is already in the CPU cache, and a decrement (allocate) or a store and an increment
// (deallocate), and the byte that tells whether the block is live (live_bytes.h). The block itself is not
// touched but by the hardened library.
//
// magazine   a small array of free blocks of one size class; slot 0 holds nullptr, which marks the end.
// record     {top, limit}: the distances in bytes from the cache to the slot whose block is handed out next,
//            and to the last slot. There is one record per bin (bins.h) and one per class of a pool; the byte
//            offset of a small request's record is the rounded request itself.
// cache      all records of a thread. A thread-local pointer leads to the thread's own cache, or to the empty
//            cache, which all threads share, while a thread has no cache or its calls must all take the slow
//            door. So this path needs eight bytes of static thread-local storage, and the library can be
//            loaded at run time.
//
// Invariant: magazine[0] == nullptr and magazine <= top <= limit. A record without a magazine is all zeros:
// so is the first word of the cache, which `top` then leads to, and `limit` is equal to it. The record is
// empty for allocate and full for deallocate, so every exception takes the one slow door; and memory that
// nobody has written is records of pools that the thread has not used.
//
// Threads: a cache belongs to its thread; others read `top` for statistics, and what lies below it to know
// which blocks are free. The empty cache is never written.
#pragma once
#include <cstddef>
#include <cstdint>

#include "tarn/detail/bins.h"
#include "tarn/detail/hardening.h"
#include "tarn/detail/live_bytes.h"
#include "tarn/detail/page_index.h"

namespace TARN_NAMESPACE::detail {

struct Record {
  std::uintptr_t top;
  std::uintptr_t limit;
  TARN_NO_UNIQUE_ADDRESS IfHardened<HardenedRecord> hardened;
};
static_assert(sizeof(Record) == (kIsHardened ? 32 : 16),
              "the offset of a small record is the rounded request size, or twice it");

/// What a cache begins with. Behind it lie the records of pools' classes, for as many classes as there are.
struct alignas(sizeof(Record)) ThreadCache {
  Record of_bins[kBinCount];  // the first one is of no class and has no magazine
  PageIndex page_index;
  std::uint32_t thread_number;  // of no other thread that runs; 0: none
  std::uint32_t ends_handles;   // a mark that the thread ends an object (mark_of() in handle_slots.h)
  const LiveWord* live_words;   // of the classes
  TARN_NO_UNIQUE_ADDRESS IfHardened<HardenedCache> hardened;
};
static_assert(sizeof(ThreadCache) == kFirstPoolClass * sizeof(Record));

/// \returns what only the hardened library has. \pre this is the hardened library.
TARN_INLINE HardenedRecord& hardened_of(Record& record) { return part_in(record.hardened); }
TARN_INLINE HardenedCache& hardened_of(ThreadCache& cache) { return part_in(cache.hardened); }

/// The most bytes that a cache may have.
inline constexpr std::size_t kMostCacheBytes = kMostClasses * sizeof(Record);

/// Threads have numbers from 1 to this one; later ones have none.
inline constexpr std::uint32_t kNumberedThreads = 254;

/// Never null. Eight bytes fit into the room that libc keeps for libraries loaded late.
TARN_THREAD_VARIABLE(TARN_API, ThreadCache*, thread_cache);

/// Reads a thread's pointer to its cache, which another thread may let lead to the empty cache at any time
/// (thread/observation/observation.h). \why a plain read: a compiler joins it with the instruction that
/// uses it, which it does with no atomic one; a pointer is read as a whole.
/// \why an atomic read by other compilers: they would keep the pointer for many hits of a loop, and others
/// that have hidden the records count on one hit at most that began before (thread/registry.cc).
TARN_INLINE ThreadCache* load_cache(ThreadCache* const& pointer) {
#ifdef TARN_READS_CACHE_ATOMICALLY
  return atomic_load(&pointer, kRelaxed);
#else
  return pointer;
#endif
}
/// \why not by load_cache: the undefined-behaviour sanitizer of g++ 12 takes the address of a thread's
/// variable for null in some loops.
TARN_INLINE ThreadCache* own_cache() {
#ifdef TARN_READS_CACHE_ATOMICALLY
  return atomic_load(&TARN_OF_THREAD(thread_cache), kRelaxed);
#else
  return TARN_POINTER_OF_THREAD(detail, thread_cache);
#endif
}
/// Of no other thread that runs.
TARN_INLINE ThreadCache** address_of_own_cache() { return &TARN_OF_THREAD(thread_cache); }

TARN_API void* allocate_slow(std::size_t size) noexcept;
TARN_API void deallocate_slow(void* block) noexcept;

TARN_INLINE Record& record_at(ThreadCache* cache, std::size_t byte_offset) {
  return *static_cast<Record*>(static_cast<void*>(reinterpret_cast<char*>(cache) + byte_offset));
}
TARN_INLINE Record& record_at(ThreadCache* cache, RecordPlace place) {
  return record_at(cache, number_of(place) * 8);
}

/// \returns the slot at a distance from the cache.
TARN_INLINE void** slot_at(ThreadCache* cache, std::uintptr_t distance) {
  return reinterpret_cast<void**>(reinterpret_cast<std::uintptr_t>(cache) + distance);
}

/// \returns the live word of the class of a record.
TARN_INLINE std::uintptr_t live_word(const ThreadCache* cache, std::size_t byte_offset) {
  static_assert(kIsHardened || sizeof(LiveWord) == sizeof(Record));
  const void* const at = reinterpret_cast<const char*>(cache->live_words) + byte_offset;
  return atomic_load(&static_cast<const LiveWord*>(at)->word, kRelaxed);
}
TARN_INLINE std::uintptr_t live_word(const ThreadCache* cache, RecordPlace place) {
  return live_word(cache, number_of(place) * 8);
}

// Other threads read, hence the atomic accesses; on x86-64 they cost the same as plain ones.
template <typename Where>
TARN_INLINE void* pop(ThreadCache* cache, Where record) {
  const std::uintptr_t top = record_at(cache, again(record)).top;
  void* const block = *slot_at(cache, top);
  if (block == nullptr) [[unlikely]]
    return nullptr;
  atomic_store(&record_at(cache, again(record)).top, top - sizeof(void*), kRelaxed);
  if constexpr (kIsHardened) {
    prefetch_for_write(*slot_at(cache, top - sizeof(void*)));  // the next, which will be looked at
    if (!begin_guarded(block, hardened_of(record_at(cache, record)).block_bytes, hardened_of(*cache).keys))
        [[unlikely]]
      return nullptr;
  } else {
    begin_live(live_word(cache, record), block);
  }
  return block;
}

/// Whether the last bytes of a block of a record lie in a page of the record's slabs, as those of each block.
/// Without an index of pages the slow door has looked the block up.
TARN_INLINE bool ends_in_slab(const ThreadCache* cache, RecordPlace record, void* block, std::size_t bytes) {
  constexpr std::uintptr_t kPage = std::uintptr_t{1} << 16;
  return reinterpret_cast<std::uintptr_t>(block) % kPage + bytes <= kPage ||
         cache->page_index.page_count == 0 ||
         cache->page_index.record_of(place_of_guard(block, bytes)) == record;
}

/// The same as push() in the hardened library: the block waits in the reserve, and one that waited there goes
/// to the magazine. Others who look through both may find it in both, never in none.
TARN_INLINE bool push_hardened(ThreadCache* cache, RecordPlace place, void* block) {
  Record& record = record_at(cache, place);
  if (record.top == record.limit) [[unlikely]]
    return false;
  const HardenedRecord& hardened = hardened_of(record);
  HardenedCache& of_cache = hardened_of(*cache);
  if (!ends_in_slab(cache, place, block, hardened.block_bytes)) [[unlikely]]
    return note_bad_free(block), true;
  if (!end_guarded(block, hardened.block_bytes, of_cache.keys)) [[unlikely]]
    return true;  // and the block is left alone
  void** const slot = slot_at(cache, hardened.reserve) + (next_random(of_cache) & hardened.reserve_mask);
  // Read anew: much time has passed for a signal handler, of a large block.
  const std::uintptr_t next = record.top + sizeof(void*);
  if (void* const waiting = *slot; waiting != nullptr && next <= record.limit) {
    atomic_store(slot_at(cache, next), waiting, kRelaxed);
    atomic_store(&record.top, next, kRelease);
  }
  atomic_store(slot, block, kRelease);
  return true;
}

TARN_INLINE bool push(ThreadCache* cache, RecordPlace record, void* block) {
  if constexpr (kIsHardened) return push_hardened(cache, record, block);
  const std::uintptr_t top = record_at(cache, again(record)).top;
  // Full, or no live block begins there.
  if (top == record_at(cache, again(record)).limit || !end_live(live_word(cache, record), block)) [[unlikely]]
    return false;
  const std::uintptr_t next = again(top + sizeof(void*));
  atomic_store(slot_at(cache, next), block, kRelaxed);
  atomic_store(&record_at(cache, again(record)).top, next, kRelease);
  return true;
}

/// \returns the record that takes a block; kNone when the pointer is no block of a slab.
TARN_INLINE RecordPlace record_of(const ThreadCache* cache, const void* block) {
  return cache->page_index.record_of(block);
}

}  // namespace TARN_NAMESPACE::detail
