// What the inlined calls of BufferPool read: the front of the pool of each size.
//
// A hit is one of the thread's record of the size's class. All else is for the calls in the library: larger
// blocks, blocks of malloc, checked pools and errors.
//
// Threads: any; constant once the pool is made.
#pragma once
#include <cstddef>
#include <cstdint>

#include "tarn/fixed_pool.h"
#include "tarn/shared_buffer.h"

namespace TARN_NAMESPACE::detail {

/// The first members of a buffer pool's record. Invariant: sizes ascend, and lie side by side.
struct BufferPoolFront {
  static constexpr unsigned kDoublings = 64;  // of any request, so that compilers see no bound exceeded
  static constexpr unsigned kNearClasses = 256;

  std::size_t largest;                        // bytes
  SharedPoolFront* first_larger[kDoublings];  // than this power of two
  // Which classes are the pool's, as far as they lie near the first one.
  std::size_t first_class;
  bool has_class[kNearClasses];

  /// \returns the smallest size for so many bytes. \pre 1 <= bytes <= largest.
  TARN_INLINE SharedPoolFront& size_for(std::size_t bytes) const {
    constexpr unsigned kHighestBit = 63;
    SharedPoolFront* size =
        first_larger[kHighestBit - static_cast<unsigned>(__builtin_clzll((bytes - 1) | 1))];
    while (size->stride < bytes) ++size;
    return *size;
  }
  TARN_INLINE bool has_size_for(std::size_t bytes) const { return bytes - 1 < largest; }
  /// Whether a record is of one of the pool's classes; false also of one far from the first.
  TARN_INLINE bool has_record_at(RecordPlace place) const {
    const std::size_t near = number_of(place) / (sizeof(Record) / 8) - first_class;
    return near < kNearClasses && has_class[near];
  }
};

/// \returns a block of the smallest size; nullptr where that is not for the inlined calls.
TARN_INLINE void* buffer_pool_allocate_hit(BufferPoolFront& pool, std::size_t bytes) {
  if (!pool.has_size_for(bytes)) [[unlikely]]
    return nullptr;
  return pop(own_cache(), pool.size_for(bytes).place);
}

/// Frees a plain block. \returns false where that is not for the inlined calls: nothing has happened then.
TARN_INLINE bool buffer_pool_deallocate_hit(const BufferPoolFront& pool, void* block) {
  ThreadCache* const cache = own_cache();
  const RecordPlace place = record_of(cache, block);
  return pool.has_record_at(place) && push(cache, place, block);
}

/// The same. \param bytes that the block's size is for, if it is for the inlined calls.
TARN_INLINE bool buffer_pool_deallocate_hit(const BufferPoolFront& pool, void* block, std::size_t bytes) {
  if (!pool.has_size_for(bytes)) [[unlikely]]
    return false;
  ThreadCache* const cache = own_cache();
  const RecordPlace place = pool.size_for(bytes).place;
  return record_of(cache, block) == place && push(cache, place, block);
}

}  // namespace TARN_NAMESPACE::detail
