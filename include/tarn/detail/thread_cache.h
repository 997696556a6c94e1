// The fast path, inlined into every program that links the library: a hit is one load from an array of
// pointers that is already in the cache, and a decrement (allocate) or a store and an increment (deallocate).
// Neither touches the block.
//
// bin        a step of request sizes; a record per bin, and one per private class (object_pool.h). Bins up to
//            1 KiB are 16 bytes wide, so that the byte offset of a request's record is the rounded request
//            itself.
// magazine   a small array of free blocks of one size class; slot 0 holds nullptr, which ends it.
// record     {top, limit}: `top` points at the block handed out next, `limit` at the last slot.
//
// cache      all records of a thread. A thread-local pointer leads to it: to the thread's own, or to the
//            empty cache, which all threads share, as long as a thread has none or its calls must all take
//            the slow door. So the library needs eight bytes of static thread-local storage on this path, and
//            can be loaded at run time.
//
// Invariant: magazine[0] == nullptr and magazine <= top <= limit; a record nobody armed has top == limit and
// *top == nullptr: it is empty for allocate and full for deallocate, so every exception takes the one slow
// door.
//
// Threads: a cache belongs to its thread; others read `top` for statistics only. The empty cache is never
// written. The index of pages is written by whoever makes or ends a slab and is read by all; a block's entry
// cannot change while the block is live.
#pragma once
#include <cstddef>
#include <cstdint>

#include "tarn/detail/abi.h"

#define TARN_API [[gnu::visibility("default")]]
#define TARN_INLINE [[gnu::always_inline]] inline

namespace TARN_NAMESPACE::detail {

inline constexpr std::size_t kSmallLimit = 1024;         // bytes; above it the bin is computed
inline constexpr std::size_t kMediumLimit = 256 * 1024;  // bytes; above it a block has its own span
inline constexpr std::size_t kTinyLimit = 8;             // bytes; the only blocks aligned to 8 bytes
inline constexpr unsigned kFirstMediumBin = 65;          // 1024 < size <= 16 KiB: 16 bins per doubling
inline constexpr unsigned kFirstCoarseBin = 129;         // 16 KiB < size <= 256 KiB: 8 bins per doubling
inline constexpr unsigned kTinyBin = 161;                // size <= 8
// Powers of two whose stride is the size: 128 B .. 32 KiB.
inline constexpr unsigned kFirstAlignedBin = 162;
inline constexpr unsigned kAlignedBinCount = 9;
inline constexpr unsigned kBinCount = kFirstAlignedBin + kAlignedBinCount;
inline constexpr unsigned kPrivateClassCount = 84;  // size classes that belong to one typed pool each
inline constexpr unsigned kClassCount = kBinCount + kPrivateClassCount;

/// Bin of a request with 1024 < size <= 256 KiB.
constexpr unsigned medium_bin_of(std::size_t size) {
  const unsigned exponent = 63u - static_cast<unsigned>(__builtin_clzll(size - 1));  // 2^exponent <= size - 1
  return size <= 16384 ? kFirstMediumBin + (exponent - 10) * 16 +
                             (static_cast<unsigned>((size - 1) >> (exponent - 4)) & 15u)
                       : kFirstCoarseBin + (exponent - 14) * 8 +
                             (static_cast<unsigned>((size - 1) >> (exponent - 3)) & 7u);
}

/// Bin of any request up to 256 KiB.
constexpr unsigned bin_of(std::size_t size) {
  if (size <= kTinyLimit) return kTinyBin;
  if (size <= kSmallLimit) return static_cast<unsigned>((size + 15) >> 4);
  return medium_bin_of(size);
}

struct Record {
  void** top;
  void** limit;
};
static_assert(sizeof(Record) == 16, "the offset of a small record is the rounded request size");

/// The magazine of a record nobody armed.
TARN_API extern void* const empty_magazine[1];

/// Which record takes a block back: one 16-bit entry per 64 KiB of address space, the byte offset of the
/// record, 0 for whatever is not a block of a slab. Where the address space is limited, the mask is 0 and the
/// one entry is 0: then each free looks its block up in the page map instead. Each cache holds a copy; that
/// of the empty cache is empty.
struct PageIndex {
  const std::uint16_t* record_offsets;
  std::uintptr_t mask;
};

struct ThreadCache {
  Record records[kClassCount];
  PageIndex page_index;
};

/// What a thread without records of its own has.
TARN_API extern const ThreadCache empty_cache;

/// Never null. \why initial-exec: any other model costs a call; eight bytes fit into what libc keeps for late
/// libraries.
[[gnu::tls_model("initial-exec")]] TARN_API extern constinit thread_local ThreadCache* thread_cache;

/// Size class (a bin) that serves each bin: itself, or a larger one where the table of size classes is
/// coarser.
struct ClassOfBin {
  std::uint8_t of[kClassCount];
  constexpr std::uint8_t operator[](std::size_t bin) const { return of[bin]; }
};
TARN_API extern ClassOfBin class_of_bin;

/// The same by steps of 64 bytes up to 16 KiB, so that a hit of these sizes needs one load to find its
/// record.
inline constexpr std::size_t kSteppedLimit = 16384;
struct ClassOfStep {
  std::uint8_t of[kSteppedLimit / 64 + 1];
  constexpr std::uint8_t operator[](std::size_t step) const { return of[step]; }
};
TARN_API extern ClassOfStep class_of_step;

TARN_API void* allocate_slow(std::size_t size) noexcept;
TARN_API void deallocate_slow(void* block) noexcept;
TARN_API void* allocate_bin_slow(unsigned bin) noexcept;
TARN_API void deallocate_bin_slow(void* block, unsigned bin) noexcept;

TARN_INLINE Record& record_at(ThreadCache* cache, std::size_t byte_offset) {
  return *reinterpret_cast<Record*>(reinterpret_cast<char*>(cache) + byte_offset);
}

/// The offset of the record that takes a block back; 0 for whatever is no block of a slab.
TARN_INLINE std::size_t record_offset_of(const ThreadCache* cache, const void* block) {
  const std::uintptr_t page = reinterpret_cast<std::uintptr_t>(block) >> 16;
  return cache->page_index.record_offsets[page & cache->page_index.mask];
}

// `top` is read by other threads (statistics), hence the relaxed accesses; they cost what plain ones do.
TARN_INLINE void* pop(Record& record) {
  void** const top = record.top;
  void* const block = *top;
  if (block == nullptr) [[unlikely]]
    return nullptr;
  __atomic_store_n(&record.top, top - 1, __ATOMIC_RELAXED);
  return block;
}

TARN_INLINE bool push(Record& record, void* block) {
  void** const top = record.top;
  if (top == record.limit || *top == block) [[unlikely]]  // full, or the same block twice in a row
    return false;
  top[1] = block;
  __atomic_store_n(&record.top, top + 1, __ATOMIC_RELAXED);
  return true;
}

}  // namespace TARN_NAMESPACE::detail
