// The fast path, inlined into every program that links the library: a hit is one load from an array of
// pointers that is already in the CPU cache, and a decrement (allocate) or a store and an increment
// (deallocate). The block itself is not touched.
//
// magazine   a small array of free blocks of one size class; slot 0 holds nullptr, which marks the end.
// record     {top, limit}: `top` points at the block handed out next, `limit` at the last slot. There is one
//            record per bin (bins.h) and one per class of a typed pool; the byte offset of a small request's
//            record is the rounded request itself.
// cache      all records of a thread. A thread-local pointer leads to the thread's own cache, or to the empty
//            cache, which all threads share, while a thread has no cache or its calls must all take the slow
//            door. So this path needs eight bytes of static thread-local storage, and the library can be
//            loaded at run time.
//
// Invariant: magazine[0] == nullptr and magazine <= top <= limit. A record without a magazine has top ==
// limit and *top == nullptr: it is empty for allocate and full for deallocate, so every exception takes the
// one slow door.
//
// Threads: a cache belongs to its thread; others read `top` for statistics, and what lies below it to know
// which blocks are free. The empty cache is never written.
#pragma once
#include <cstddef>
#include <cstdint>

#include "tarn/detail/bins.h"
#include "tarn/detail/page_index.h"

namespace TARN_NAMESPACE::detail {

struct Record {
  void** top;
  void** limit;
};
static_assert(sizeof(Record) == 16, "the offset of a small record is the rounded request size");

/// The magazine of a record that has none.
TARN_API extern void* const empty_magazine[1];

struct ThreadCache {
  Record records[kClassCount];
  PageIndex page_index;
  std::uint32_t thread_number;  // of no other thread that runs; 0: none
};

/// Threads have numbers from 1 to this one; later ones have none.
inline constexpr std::uint32_t kNumberedThreads = 255;

/// The cache of a thread without records of its own.
TARN_API extern const ThreadCache empty_cache;

/// Never null. \why initial-exec: any other model costs a call; eight bytes fit into the room that libc keeps
/// for libraries loaded late.
[[gnu::tls_model("initial-exec")]] TARN_API extern constinit thread_local ThreadCache* thread_cache;

/// Reads a thread's pointer to its cache, which another thread may let lead to the empty cache at any time
/// (thread/observation.h). \why a plain read: a compiler joins it with the instruction that uses it, which it
/// does with no atomic one; a pointer is read as a whole.
/// \why an atomic read by clang: it would keep the pointer for many hits of a loop, and others that have
/// hidden the records count on one hit at most that began before (thread/registry.cc).
#if defined(__SANITIZE_THREAD__) || defined(__clang__)
#define TARN_READS_CACHE_ATOMICALLY
#endif
TARN_INLINE ThreadCache* load_cache(ThreadCache* const& pointer) {
#ifdef TARN_READS_CACHE_ATOMICALLY
  return __atomic_load_n(&pointer, __ATOMIC_RELAXED);
#else
  return pointer;
#endif
}
/// \why not by load_cache: the undefined-behaviour sanitizer of g++ 12 takes the address of a thread's
/// variable for null in some loops.
TARN_INLINE ThreadCache* own_cache() {
#ifdef TARN_READS_CACHE_ATOMICALLY
  return __atomic_load_n(&thread_cache, __ATOMIC_RELAXED);
#else
  return thread_cache;
#endif
}

TARN_API void* allocate_slow(std::size_t size) noexcept;
TARN_API void deallocate_slow(void* block) noexcept;
TARN_API void* allocate_class_slow(SizeClass size_class) noexcept;
TARN_API void deallocate_class_slow(void* block, SizeClass size_class) noexcept;

TARN_INLINE Record& record_at(ThreadCache* cache, std::size_t byte_offset) {
  return *static_cast<Record*>(static_cast<void*>(reinterpret_cast<char*>(cache) + byte_offset));
}

/// \returns the offset of the record that takes a block; 0 when the pointer is no block of a slab.
TARN_INLINE std::size_t record_offset_of(const ThreadCache* cache, const void* block) {
  return cache->page_index.record_offset_of(block);
}

// Other threads read, hence the atomic accesses; on x86-64 they cost the same as plain ones.
TARN_INLINE void* pop(Record& record) {
  void** const top = record.top;
  void* const block = *top;
  if (block == nullptr) [[unlikely]]
    return nullptr;
  __atomic_store_n(&record.top, top - 1, __ATOMIC_RELAXED);
  return block;
}

/// \returns the record at an offset that the compiler takes for another each time. \why the three uses of it
/// in a hit then add the offset in their addresses, and no instruction does so before.
TARN_INLINE Record& record_again_at(ThreadCache* cache, std::size_t byte_offset) {
  asm("" : "+r"(byte_offset));
  return record_at(cache, byte_offset);
}

TARN_INLINE bool push(ThreadCache* cache, std::size_t record_offset, void* block) {
  void** const top = record_again_at(cache, record_offset).top;
  // Full, or the same block twice in a row.
  if (top == record_again_at(cache, record_offset).limit || *top == block) [[unlikely]]
    return false;
  __atomic_store_n(top + 1, block, __ATOMIC_RELAXED);
  __atomic_store_n(&record_again_at(cache, record_offset).top, top + 1, __ATOMIC_RELEASE);
  return true;
}

}  // namespace TARN_NAMESPACE::detail
