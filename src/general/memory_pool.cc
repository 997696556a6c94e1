// The general pool's slow door: everything that is not a hit of the inlined fast path comes here.
//
// One allocation, walked: 1. the record of the request's bin is popped (tarn/memory_pool.h); 2. empty:
// allocate_slow;
// 3. the thread's heap refills the magazine from a slab with free blocks, from what other threads gave back,
//    from an
// orphan's slab, or from a new one (thread_heap.cc); 4. a new slab takes pages from the page cache
// (page_cache.cc), 5. which takes chunks from a region of the system's. One free: 1. the page's entry names
// the record; 2. full: deallocate_slow;
// 3. the older half of the magazine goes back to its slabs (return_blocks).
#include "tarn/memory_pool.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <new>

#include "general/configuration.h"
#include "general/large.h"
#include "general/pool_registry.h"
#include "general/setup.h"
#include "general/system_blocks.h"
#include "os/fatal.h"
#include "os/memory.h"
#include "page/helper.h"
#include "page/page_cache.h"
#include "page/page_map.h"
#include "thread/registry.h"
#include "thread/this_thread.h"

namespace TARN_NAMESPACE {
namespace {

using namespace internal;

void* out_of_memory() {
  errno = ENOMEM;
  return nullptr;
}

constexpr unsigned kLargestBatch = 4096;

// A thread whose destructors have run, or that no memory is left for, uses the heap all such threads share.
void* allocate_from_shared(SizeClass size_class) {
  ThreadHeap& heap = registry.shared_heap();
  EndedSlabs ended;
  os::LockGuard guard(heap.mutex);
  void* block = nullptr;
  return take_blocks_locked(heap, size_class, &block, 1, ended) == 1 ? block : nullptr;
}

void* allocate_in_bin(unsigned bin, std::size_t size) {
  helper.on_slow_call();
  ThreadHeap* const heap = heap_of_this_thread();
  const SizeClass size_class = detail::class_of_bin[bin];
  void* block = nullptr;
  if (heap == nullptr) {
    block = allocate_from_shared(size_class);
  } else {
    EndedSlabs ended;
    os::LockGuard guard(heap->mutex);
    if (!thread_limits.check_every_free) {
      block = allocate_locked(*heap, bin, ended);
    } else if (take_blocks_locked(*heap, size_class, &block, 1, ended) == 0) {
      block = nullptr;
    }
    if (heap->calls != nullptr && block != nullptr) {
      ++heap->calls[size_class].allocations;
      heap->calls[size_class].requested_bytes += size;
      counted_live.add(class_geometry.of[size_class].block_bytes);
    }
  }
  return block != nullptr ? block : out_of_memory();
}

void* allocate_large_block(std::size_t size, std::size_t alignment, bool* is_zeroed, std::size_t room = 0) {
  ThreadHeap* const heap = heap_of_this_thread();  // also reads the options
  void* const block = allocate_large(size, alignment, is_zeroed, room);
  if (block == nullptr) return out_of_memory();
  if (heap != nullptr && heap->calls != nullptr) {
    os::LockGuard guard(heap->mutex);
    ++heap->calls[kClassCount].allocations;
    heap->calls[kClassCount].requested_bytes += size;
    counted_live.add(page_map.find(block)->bytes());
  }
  return block;
}

// The sure way: the block's bit is looked at, at every free, under its owner's lock.
void deallocate_checked(void* block) {
  std::uint32_t index = 0;
  Span* const slab = slab_of_block(block, &index);
  EndedSlabs ended;
  for (;;) {
    ThreadHeap* const owner = slab->owner.load(std::memory_order_acquire);
    if (owner == nullptr) os::fatal("double free", block);
    os::LockGuard guard(owner->mutex);
    if (slab->owner.load(std::memory_order_acquire) != owner) continue;
    if (is_marked_free_locked(*slab, index)) os::fatal("double free", block);
    return return_blocks(owner, &block, 1, ended);
  }
}

void deallocate_in_bin(void* block, unsigned bin) {
  helper.on_slow_call();
  if (thread_limits.check_every_free) return deallocate_checked(block);
  ThreadHeap* const heap = heap_of_this_thread();
  EndedSlabs ended;
  if (heap == nullptr) return return_blocks(nullptr, &block, 1, ended);
  os::LockGuard guard(heap->mutex);
  if (heap->calls != nullptr) {
    const SizeClass size_class = detail::class_of_bin[bin];
    ++heap->calls[size_class].deallocations;
    counted_live.subtract(class_geometry.of[size_class].block_bytes);
  }
  deallocate_locked(*heap, block, bin, ended);
}

bool is_slab(const Span* span) { return span != nullptr && span->kind == SpanKind::kSlab; }

// The lowest bit is the pool's own mark.
PoolHeader* pool_of(const Span& span) {
  return reinterpret_cast<PoolHeader*>(address_of(span.marked_pool()) & ~std::uintptr_t{1});
}

bool is_of_pool(const Span* span) { return span != nullptr && span->kind == SpanKind::kPool; }

/// The span of an address, also of one in a heap's buffer, which may itself be a block of more than a slab's.
Span* find_any_span(const void* pointer) {
  Span* const span = page_map.find(pointer);
  if (is_slab(span)) return span;
  Span* const in_buffer = pool_registry.find_span(pointer);
  return in_buffer != nullptr ? in_buffer : span;
}

Span* span_of_block(const void* block) {
  Span* const span = find_any_span(block);
  if (span == nullptr) os::fatal("use of a pointer that is no block", block);
  if (is_of_pool(span)) return span;
  const std::size_t offset = address_of(block) - address_of(span->start);
  const bool is_start = is_slab(span)
                            ? index_of(class_geometry.of[span->size_class.load(std::memory_order_relaxed)],
                                       static_cast<std::uint32_t>(offset)) *
                                      std::size_t{span->stride} ==
                                  offset
                            : offset == 0;
  if (!is_start) os::fatal("use of a pointer into a block", block);
  return span;
}

std::size_t usable_bytes(const Span& span, const void* block) {
  if (is_of_pool(&span)) return pool_of(span)->operations->usable_size(*pool_of(span), block);
  return span.kind == SpanKind::kSlab
             ? class_geometry.of[span.size_class.load(std::memory_order_relaxed)].block_bytes
             : span.bytes();
}

void* move_by_copy(void* block, std::size_t old_bytes, std::size_t size) {
  bool is_zeroed = false;
  void* const moved = size > detail::kMediumLimit && size > old_bytes && scope_pool() == nullptr
                          ? allocate_large_block(size, kPageBytes, &is_zeroed, room_to_grow(size))
                          : allocate(size);
  // No program expects that shrinking fails.
  if (moved == nullptr) return size <= old_bytes ? block : nullptr;
  std::memcpy(moved, block, old_bytes < size ? old_bytes : size);
  deallocate(block);
  return moved;
}

// A pool that keeps no sizes hands the block over to the general pool.
void* reallocate_of_pool(PoolHeader& pool, void* block, std::size_t size) {
  if (pool.operations->reallocate != nullptr) return pool.operations->reallocate(pool, block, size);
  const std::size_t usable = pool.operations->usable_size(pool, block);
  return size <= usable ? block : move_by_copy(block, usable, size);
}

// The pool of a block that is malloc's because the pools' are; where malloc is ours, it lies in a slab of
// ours.
PoolHeader* pool_over_system(const void* block) {
  return configuration.is_on(Option::kPoolsUseMalloc) ? system_blocks.pool_of(block) : nullptr;
}

void* allocate_in_scope(std::size_t size, std::size_t alignment) {
  PoolHeader& pool = *scope_pool();
  return pool.operations->allocate(pool, size, alignment);
}

}  // namespace

namespace detail {

void* allocate_slow(std::size_t size) noexcept {
  if (scope_pool() != nullptr) [[unlikely]]
    return allocate_in_scope(size, size <= kTinyLimit ? kTinyLimit : 16);
  if (size <= kMediumLimit) {
    const unsigned bin = size <= kSmallLimit ? bin_of(size) : class_of_bin[medium_bin_of(size)];
    if (void* const block = pop(thread_cache->records[bin])) [[likely]]
      return block;
    return allocate_in_bin(bin, size);
  }
  bool is_zeroed = false;
  return allocate_large_block(size, internal::kPageBytes, &is_zeroed);
}

void* allocate_bin_slow(unsigned bin) noexcept {
  return allocate_in_bin(bin, class_geometry.of[bin].block_bytes);
}

void deallocate_slow(void* block) noexcept {
  if (block == nullptr) return;
  internal::Span* const span = find_any_span(block);
  if (PoolHeader* const pool = pool_over_system(block)) return pool->operations->deallocate(*pool, block);
  if (span == nullptr) internal::os::fatal("free of a pointer that is no block", block);
  if (is_of_pool(span)) return pool_of(*span)->operations->deallocate(*pool_of(*span), block);
  if (is_slab(span)) return deallocate_in_bin(block, span->size_class.load(std::memory_order_relaxed));
  if (ThreadHeap* const heap = this_heap(); heap != nullptr && heap->calls != nullptr) {
    os::LockGuard guard(heap->mutex);
    ++heap->calls[kClassCount].deallocations;
    counted_live.subtract(span->bytes());
  }
  deallocate_large(span, block);
}

void deallocate_bin_slow(void* block, unsigned bin) noexcept { deallocate_in_bin(block, bin); }

}  // namespace detail

void* allocate(std::size_t size, std::size_t alignment) noexcept {
  if (!is_power_of_two(alignment)) {
    errno = EINVAL;
    return nullptr;
  }
  if (alignment <= 16) return allocate(size < alignment ? alignment : size);
  if (scope_pool() != nullptr) return allocate_in_scope(size, alignment);
  if (size > detail::kMediumLimit && alignment <= kPageBytes) return allocate(size);
  set_up_once();  // the classes must be known
  bool is_zeroed = false;
  const SizeClass size_class = aligned_class_of(detail::class_of_bin.of, size, alignment);
  if (size_class == 0) return allocate_large_block(size, alignment, &is_zeroed);
  if (void* const block = detail::pop(detail::thread_cache->records[size_class])) return block;
  return allocate_in_bin(size_class, size);
}

void* allocate_zeroed(std::size_t count, std::size_t size) noexcept {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) return out_of_memory();
  if (bytes <= detail::kMediumLimit || scope_pool() != nullptr) {
    void* const block = allocate(bytes);
    return block == nullptr ? nullptr : std::memset(block, 0, bytes);
  }
  bool is_zeroed = false;
  void* const block = allocate_large_block(bytes, kPageBytes, &is_zeroed);
  return block == nullptr || is_zeroed ? block : std::memset(block, 0, bytes);
}

void* reallocate(void* block, std::size_t size) noexcept {
  if (block == nullptr) return allocate(size);
  if (ThreadHeap* const heap = this_heap(); heap != nullptr && heap->calls != nullptr) {
    os::LockGuard guard(heap->mutex);
    ++heap->calls[kClassCount].reallocations;
  }
  if (PoolHeader* const pool = pool_over_system(block)) return reallocate_of_pool(*pool, block, size);
  Span* const span = span_of_block(block);
  if (is_of_pool(span)) return reallocate_of_pool(*pool_of(*span), block, size);
  const std::size_t usable = usable_bytes(*span, block);
  if (is_slab(span)) {
    // Small blocks keep to the class of their size; larger ones stay where they are while they keep half of
    // their bytes.
    if (size <= usable && (size <= detail::kSmallLimit ? detail::class_of_bin[detail::bin_of(size)] ==
                                                             span->size_class.load(std::memory_order_relaxed)
                                                       : size >= usable / 2))
      return block;
    return move_by_copy(block, usable, size);
  }
  if (size > detail::kMediumLimit) {
    const bool is_counted = thread_limits.count_calls;
    void* const resized = resize_large(span, size) ? block : move_large(span, size);
    if (resized != nullptr && is_counted) {
      counted_live.add(usable_bytes(*span_of_block(resized), resized));
      counted_live.subtract(usable);
    }
    if (resized != nullptr) return resized;
  }
  return move_by_copy(block, usable, size);
}

std::size_t usable_size(const void* block) noexcept {
  if (PoolHeader* const pool = pool_over_system(block)) return pool->operations->usable_size(*pool, block);
  return block == nullptr ? 0 : usable_bytes(*span_of_block(block), block);
}

std::size_t good_size(std::size_t size) noexcept {
  set_up_once();
  if (size <= detail::kMediumLimit)
    return class_geometry.of[detail::class_of_bin[detail::bin_of(size)]].block_bytes;
  return size > SIZE_MAX - kPageBytes ? size : round_up(size, kPageBytes);
}

std::size_t trim(std::size_t keep) noexcept {
  if (ThreadHeap* const heap = this_heap(); heap != nullptr) {
    EndedSlabs ended;
    os::LockGuard guard(heap->mutex);
    empty_magazines_locked(*heap, ended);
  }
  pool_registry.release_unused();
  page_cache.keep_nothing();
  const std::size_t scavenged = registry.trim_all_heaps();
  const std::size_t dirty = page_cache.dirty_bytes();
  return scavenged + (dirty > keep ? page_cache.purge(dirty - keep) : 0);
}

std::size_t prewarm(std::size_t bytes) noexcept {
  set_up_once();
  // All runs are taken before the first goes back, else each would be the same. A run's first bytes link
  // them.
  struct Link {
    Link* next;
  };
  Link* runs = nullptr;
  std::size_t made = 0;
  for (; made < bytes; made += kChunkBytes) {
    char* const start = page_cache.allocate_pages(kPagesPerChunk).start;
    if (start == nullptr) break;
    os::populate(start, kChunkBytes);
    runs = new (start) Link{runs};
  }
  while (runs != nullptr) {
    Link* const next = runs->next;
    page_cache.free_pages(reinterpret_cast<char*>(runs), kPagesPerChunk, PageState::kDirty);
    runs = next;
  }
  page_cache.keep(made);
  return made;
}

std::size_t allocate_batch(std::size_t size, std::size_t count, void** blocks) noexcept {
  std::size_t taken = 0;
  ThreadHeap* const heap = heap_of_this_thread();
  if (size <= detail::kMediumLimit && heap != nullptr && scope_pool() == nullptr &&
      !thread_limits.every_call_is_slow) {
    EndedSlabs ended;
    os::LockGuard guard(heap->mutex);
    const SizeClass size_class = detail::class_of_bin[detail::bin_of(size)];
    while (taken < count) {
      const std::size_t left = count - taken;
      const unsigned part =
          take_blocks_locked(*heap, size_class, blocks + taken,
                             left < kLargestBatch ? static_cast<unsigned>(left) : kLargestBatch, ended);
      if (part == 0) break;
      taken += part;
    }
  } else {
    while (taken < count && (blocks[taken] = allocate(size)) != nullptr) ++taken;
  }
  if (taken < count) errno = ENOMEM;
  return taken;
}

void deallocate_batch(void* const* blocks, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) deallocate(blocks[i]);
}

}  // namespace TARN_NAMESPACE
