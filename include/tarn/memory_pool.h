// The general pool: any size and any power-of-two alignment; any thread may free a block of any other
// thread. deallocate needs no size. Small sizes are served inline from an array of pointers of the thread.
//
// Errors: allocation returns nullptr and sets errno to ENOMEM when memory is refused, to EINVAL when an
// alignment is not a power of two. Freeing a pointer that is not a live block stops the process with one
// line (docs/safety.md lists which cases are detected). Alignment: 16 bytes; 8 for requests of at most 8.
#pragma once
#include <cstddef>

#include "tarn/detail/thread_cache.h"

namespace TARN_NAMESPACE {

namespace detail {

/// \returns the class of the smallest requests. A block of 8 bytes has no room for a guard.
TARN_INLINE SizeClass class_of_tiny() { return class_of_index(kIsHardened ? 1 : kTinyBin); }

/// \returns the offset of the record that serves a size. \pre the size is tiny, or above kSmallLimit and at
/// most kSteppedLimit.
TARN_INLINE std::size_t record_of_step(std::size_t size) {
  const SizeClass size_class = size <= kTinyLimit ? class_of_tiny() : class_of_step[(size + 63) / 64];
  return index_of_class(size_class) * sizeof(Record);
}
TARN_INLINE bool is_tiny_or_stepped(std::size_t size) {
  return size - (kTinyLimit + 1) >= kSmallLimit - kTinyLimit;
}
TARN_INLINE std::size_t record_of_small(std::size_t size) {
  return ((size + 15) & ~std::size_t{15}) * (sizeof(Record) / 16);
}

/// Pops a block from the given cache, or calls the slow door when the magazine is empty. \why a reference:
/// the pointer is then loaded only where it is needed.
template <auto kSlowDoor>
TARN_INLINE void* allocate_from(ThreadCache* const& cache, std::size_t size) {
  const std::size_t bytes = size + kGuardBytes;  // modulo 2^64 the largest sizes become tiny
  std::size_t record = record_of_small(bytes);
  if (is_tiny_or_stepped(bytes)) [[unlikely]] {
    if (size > kSteppedLimit - kGuardBytes) return kSlowDoor(size);
    record = record_of_step(bytes);
  }
  if (void* const block = pop(load_cache(cache), record)) [[likely]]
    return block;
  return kSlowDoor(size);
}

template <auto kSlowDoor, typename... More>
TARN_INLINE void deallocate_to(ThreadCache* cache, void* block, More... more) {
  if (!push(cache, record_of(cache, block), block)) [[unlikely]]
    kSlowDoor(block, more...);
}

}  // namespace detail

/// \returns a block of at least `size` bytes, also for 0; nullptr with errno ENOMEM when memory is refused.
/// \cost a hit (up to 16 KiB) is inlined: five loads, two stores, two compares; above 1 KiB
/// a load more.
[[nodiscard]] TARN_HIT void* allocate(std::size_t size) noexcept {
  return detail::allocate_from<detail::allocate_slow>(TARN_POINTER_OF_THREAD(detail, thread_cache), size);
}

/// Frees a block of any of the library's pools, from any thread; nullptr is ignored.
/// \cost a hit is inlined: eight loads, three stores.
TARN_HIT void deallocate(void* block) noexcept {
  detail::deallocate_to<detail::deallocate_slow>(detail::own_cache(), block);
}

/// The same. The size is not needed: the page map names the owner of the block, also a heap (tarn/heap.h).
TARN_HIT void deallocate(void* block, std::size_t) noexcept { deallocate(block); }

/// \param alignment bytes, a power of two. \returns nullptr with errno EINVAL when it is not.
[[nodiscard]] TARN_API void* allocate(std::size_t size, std::size_t alignment) noexcept;
TARN_HIT void deallocate(void* block, std::size_t, std::size_t) noexcept { deallocate(block); }

/// \returns zeroed memory for `count` objects of `size` bytes; nullptr with ENOMEM also when the product
/// overflows.
[[nodiscard]] TARN_API void* allocate_zeroed(std::size_t count, std::size_t size) noexcept;
[[nodiscard]] TARN_HIT void* allocate_zeroed(std::size_t size) noexcept { return allocate_zeroed(1, size); }

/// Changes a block's size, in place where possible. A null block is an allocation. The old block stays valid
/// on failure.
[[nodiscard]] TARN_API void* reallocate(void* block, std::size_t size) noexcept;

/// \returns how many bytes of a live block the caller may use; 0 for nullptr.
TARN_API std::size_t usable_size(const void* block) noexcept;

/// \returns how many bytes a request of this size would get; `size` itself when there is no such block. Some
/// get more, and usable_size tells: the first 8 of a size up to 1 KiB up to twice as much, before it is known
/// to be in use (none after prewarm()); above 256 KiB up to half as much again, from a block freed before.
/// With the option `guard` some get what was asked for, and no more.
TARN_API std::size_t good_size(std::size_t size) noexcept;

/// A block, and how many bytes of it the caller may use; nullptr and 0 when memory is refused.
struct SizedBlock {
  void* block;
  std::size_t bytes;
};

/// allocate(size) with all that its block has: what a buffer that grows may fill before it grows again.
/// \cost a hit and a call.
[[nodiscard]] TARN_LOCAL inline SizedBlock allocate_at_least(std::size_t size) noexcept {
  void* const block = allocate(size);
  return {block, usable_size(block)};
}
[[nodiscard]] TARN_LOCAL inline SizedBlock allocate_at_least(std::size_t size,
                                                             std::size_t alignment) noexcept {
  void* const block = allocate(size, alignment);
  return {block, usable_size(block)};
}

/// Gives free memory back to the system: the calling thread's cached blocks, all empty slabs, and all free
/// pages except `keep` bytes. \returns bytes given back.
TARN_API std::size_t trim(std::size_t keep = 0) noexcept;

/// Makes `bytes` of free pages, backed by memory, that stay until trim: the next allocations then neither
/// call the system nor fault. An eighth more is for live bytes (docs/safety.md). From then on each size has
/// slabs of its own from its first request on. \returns bytes made; fewer when memory is refused.
/// \cost some system calls per 2 MiB, and the work of a fault per OS page.
TARN_API std::size_t prewarm(std::size_t bytes) noexcept;

/// Fills `blocks` with up to `count` blocks of `size` bytes. \returns how many blocks there are; fewer only
/// when memory is refused.
[[nodiscard]] TARN_API std::size_t allocate_batch(std::size_t size, std::size_t count,
                                                  void** blocks) noexcept;

/// Frees `count` blocks of any sizes.
TARN_API void deallocate_batch(void* const* blocks, std::size_t count) noexcept;

/// The general pool as a type: stateless; all its objects stand for the same pool.
struct MemoryPool {
  [[nodiscard]] TARN_HIT static void* allocate(std::size_t size) noexcept { return tarn::allocate(size); }
  [[nodiscard]] TARN_LOCAL static void* allocate(std::size_t size, std::size_t alignment) noexcept {
    return tarn::allocate(size, alignment);
  }
  [[nodiscard]] TARN_LOCAL static SizedBlock allocate_at_least(std::size_t size) noexcept {
    return tarn::allocate_at_least(size);
  }
  [[nodiscard]] TARN_LOCAL static SizedBlock allocate_at_least(std::size_t size,
                                                               std::size_t alignment) noexcept {
    return tarn::allocate_at_least(size, alignment);
  }
  [[nodiscard]] TARN_LOCAL static void* allocate_zeroed(std::size_t size) noexcept {
    return tarn::allocate_zeroed(1, size);
  }
  [[nodiscard]] TARN_LOCAL static void* allocate_zeroed(std::size_t count, std::size_t size) noexcept {
    return tarn::allocate_zeroed(count, size);
  }
  [[nodiscard]] TARN_LOCAL static void* reallocate(void* block, std::size_t size) noexcept {
    return tarn::reallocate(block, size);
  }
  TARN_HIT static void deallocate(void* block) noexcept { tarn::deallocate(block); }
  TARN_HIT static void deallocate(void* block, std::size_t size) noexcept { tarn::deallocate(block, size); }
  TARN_HIT static void deallocate(void* block, std::size_t size, std::size_t alignment) noexcept {
    tarn::deallocate(block, size, alignment);
  }
  TARN_LOCAL static std::size_t usable_size(const void* block) noexcept { return tarn::usable_size(block); }
  TARN_LOCAL static std::size_t good_size(std::size_t size) noexcept { return tarn::good_size(size); }
  TARN_LOCAL static std::size_t trim(std::size_t keep = 0) noexcept { return tarn::trim(keep); }
  [[nodiscard]] TARN_LOCAL static std::size_t allocate_batch(std::size_t size, std::size_t count,
                                                             void** blocks) noexcept {
    return tarn::allocate_batch(size, count, blocks);
  }
  TARN_LOCAL static void deallocate_batch(void* const* blocks, std::size_t count) noexcept {
    tarn::deallocate_batch(blocks, count);
  }
};

}  // namespace TARN_NAMESPACE
