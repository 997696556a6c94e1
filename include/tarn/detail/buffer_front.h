// What the inlined calls of BufferPool read and write: the front of the fixed pool of each size.
//
// A hit takes the block of its size that was freed last, and a free puts one back, both without a lock while
// the process has one thread. Such blocks lie in the front's list of freed blocks (tarn/fixed_pool.h). All
// else is for the calls in the library: a size whose list is empty or full, threads, larger blocks, blocks
// of malloc, checked pools (whose lists have no room) and errors.
//
// Threads: the inlined calls do something only while the process has one thread.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tarn/detail/mutex.h"
#include "tarn/fixed_pool.h"
#include "tarn/shared_buffer.h"

namespace TARN_NAMESPACE::detail {

/// How many blocks of a size are live, in the front's list of freed blocks or in a thread's magazine, and the
/// most that were. The list's blocks were live before, and no block comes from elsewhere while it has any: so
/// without magazines the most of both is the most that were live.
/// Threads: `count` changes under the pool's lock; `peak` by any.
struct TakenBlocks {
  std::atomic<std::size_t> count{0};
  std::atomic<std::size_t> peak{0};

  void add(std::size_t more) {
    const std::size_t now = count.load(std::memory_order_relaxed) + more;
    count.store(now, std::memory_order_relaxed);
    raise_peak(now);
  }
  void subtract(std::size_t less) {
    count.store(count.load(std::memory_order_relaxed) - less, std::memory_order_relaxed);
  }
  void raise_peak(std::size_t now) {
    std::size_t most = peak.load(std::memory_order_relaxed);
    while (most < now && !peak.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
    }
  }
};

struct alignas(64) BufferSizeFront {
  FixedPoolFront front;
  TakenBlocks taken;
  std::atomic<std::size_t> refusals;
};

/// The first members of a buffer pool's record. Invariant: sizes ascend, and lie side by side.
struct BufferPoolFront {
  static constexpr unsigned kDoublings = 64;  // of any request, so that compilers see no bound exceeded

  std::size_t largest;  // bytes
  SpanTable spans;
  BufferSizeFront* sizes_start;
  std::size_t sizes_bytes;
  // The block that a hit handed out last, live or not, and its size.
  void* newest_block;
  BufferSizeFront* newest_size;
  BufferSizeFront* first_larger[kDoublings];  // than this power of two

  /// \returns the smallest size for so many bytes. \pre 1 <= bytes <= largest.
  TARN_INLINE BufferSizeFront& size_for(std::size_t bytes) const {
    constexpr unsigned kHighestBit = 63;
    BufferSizeFront* size =
        first_larger[kHighestBit - static_cast<unsigned>(__builtin_clzll((bytes - 1) | 1))];
    while (size->front.stride < bytes) ++size;
    return *size;
  }
  TARN_INLINE bool has_size_for(std::size_t bytes) const { return bytes - 1 < largest; }
  /// Whether an address lies among the fronts of the pool's sizes.
  TARN_INLINE bool has_size_at(const void* front) const {
    return reinterpret_cast<std::uintptr_t>(front) - reinterpret_cast<std::uintptr_t>(sizes_start) <
           sizes_bytes;
  }
};

/// \returns the count of a block of a buffer pool (tarn/shared_buffer.h). \pre the span is one of its chunks.
TARN_INLINE std::uint32_t* references_of(const SpanHead& span, std::uint64_t index) {
  constexpr std::ptrdiff_t kReferences = 2;  // words before the free bits lies the address of the counts
  const void* const counts = span.free_bits - kReferences;
  return *static_cast<std::uint32_t* const*>(counts) + index;
}

/// Takes a block that was not freed of late. \returns nullptr where that is not for the inlined calls.
TARN_INLINE void* take_one_of_word(BufferSizeFront& size) {
  FixedPoolFront& front = size.front;
  const std::uint64_t bits = *front.word;
  if (bits == 0 || front.checked_as != nullptr || __atomic_load_n(&front.has_magazines, __ATOMIC_RELAXED))
      [[unlikely]]
    return nullptr;
  __atomic_store_n(front.word, bits & (bits - 1), __ATOMIC_RELAXED);
  const std::size_t taken = size.taken.count.load(std::memory_order_relaxed) + 1;
  size.taken.count.store(taken, std::memory_order_relaxed);
  if (size.taken.peak.load(std::memory_order_relaxed) < taken)
    size.taken.peak.store(taken, std::memory_order_relaxed);
  return front.word_start + static_cast<unsigned>(__builtin_ctzll(bits)) * front.stride;
}

/// \returns a block of the smallest size; nullptr where that is not for the inlined calls.
TARN_INLINE void* buffer_pool_allocate_hit(BufferPoolFront& pool, std::size_t bytes) {
  if (ProgramGuard::is_needed() || !pool.has_size_for(bytes)) [[unlikely]]
    return nullptr;
  BufferSizeFront& size = pool.size_for(bytes);
  FreedBlock* const top = size.front.freed_top;
  if (top == size.front.freed) return take_one_of_word(size);
  void* const block = take_freed(size.front, top - 1);
  pool.newest_block = block;
  pool.newest_size = &size;
  return block;
}

/// Frees a plain block. \returns false where that is not for the inlined calls: nothing has happened then.
TARN_INLINE bool buffer_pool_put_hit(FixedPoolFront& front, const SpanHead& span, void* block) {
  std::uint64_t index = 0;
  if (!find_in_span(span, front.reciprocal, block, &index) ||
      __atomic_load_n(references_of(span, index), __ATOMIC_RELAXED) != 0) [[unlikely]]
    return false;
  return fixed_pool_put_freed(front, span, index, block);
}

TARN_INLINE bool buffer_pool_deallocate_hit(const BufferPoolFront& pool, void* block) {
  if (ProgramGuard::is_needed()) [[unlikely]]
    return false;
  const SpanHead* const span = pool.spans.find(block);
  if (span == nullptr) [[unlikely]]
    return false;
  // A block that is freed right after it was handed out needs not wait for its span to be read: the next
  // allocation waits for the store to its size's front.
  void* size = pool.newest_size;
  if (block != pool.newest_block) {
    size = span->pool_data;  // of another pool's span it points elsewhere
    if (!pool.has_size_at(size)) [[unlikely]]
      return false;
  }
  FixedPoolFront& front = *static_cast<FixedPoolFront*>(size);
  return span->marked_pool() == front.state && buffer_pool_put_hit(front, *span, block);
}

/// The same. \param bytes that the block's size is for, if it is for the inlined calls.
TARN_INLINE bool buffer_pool_deallocate_hit(const BufferPoolFront& pool, void* block, std::size_t bytes) {
  if (ProgramGuard::is_needed() || !pool.has_size_for(bytes)) [[unlikely]]
    return false;
  const SpanHead* const span = pool.spans.find(block);
  if (span == nullptr) [[unlikely]]
    return false;
  FixedPoolFront& front = pool.size_for(bytes).front;
  return span->marked_pool() == front.state && buffer_pool_put_hit(front, *span, block);
}

/// The same as buffer_pool_allocate_hit, with a handle, of a block freed of late. \returns no buffer where
/// that is not for the inlined calls.
TARN_INLINE BufferHandle buffer_pool_share_hit(const BufferPoolFront& pool, std::size_t bytes) {
  if (ProgramGuard::is_needed() || !pool.has_size_for(bytes)) [[unlikely]]
    return {};
  FixedPoolFront& front = pool.size_for(bytes).front;
  FreedBlock* const top = front.freed_top;
  if (top == front.freed) [[unlikely]]
    return {};
  void* const block = __atomic_load_n(&top[-1].block, __ATOMIC_RELAXED);
  const SpanHead* const span = pool.spans.find(block);
  std::uint64_t index = 0;
  if (span == nullptr || !find_in_span(*span, front.reciprocal, block, &index)) [[unlikely]]
    return {};
  std::uint32_t* const others = references_of(*span, index);
  if (__atomic_load_n(others, __ATOMIC_RELAXED) != 0) [[unlikely]]
    return {};
  take_freed(front, top - 1);
  return {static_cast<char*>(block), others, static_cast<std::uint32_t>(bytes), 0};
}

}  // namespace TARN_NAMESPACE::detail
