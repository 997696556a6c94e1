// A heap with pages of its own: named, limited, counted to the byte, usable from any thread, and destroyed
// as a whole. Heaps may lie in a heap: its limits then hold for all of them together.
//
// Its pages hold no blocks of others, so each block names the heap that it is charged to: a free credits that
// heap, in every thread and every scope. tarn::deallocate frees its blocks too, and so does free where tarn
// takes malloc's place.
//
// Threads: any. A heap that is called fast for long, or was prewarmed by 64 KiB or more, caches free blocks
// for each thread, as the general pool does. Before a limit refuses a block, or a soft limit is crossed, all
// of these are collected; a heap that gets its first limit later collects those of a thread once that thread
// has called it again. Callbacks run in the allocating thread, unlocked, and may use the heap.
// Errors: nullptr with errno ENOMEM at the hard limit and when memory is refused; a bad pointer, and an
// exception that leaves a callback, stop the process.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "tarn/detail/error.h"
#include "tarn/detail/outside_scopes.h"
#include "tarn/detail/pool_name.h"
#include "tarn/detail/thread_cache.h"
#include "tarn/hooks.h"

namespace TARN_NAMESPACE {

class Heap;

struct HeapOptions {
  PoolName name = {};  // any string, copied; usually "heap"
  // Live bytes; the callback runs each time an allocation crosses this limit upwards. A second crossing
  // counts once live bytes were below the limit by more than what threads have cached. The callback must not
  // throw.
  std::size_t soft_limit = SIZE_MAX;
  std::size_t hard_limit = SIZE_MAX;  // live bytes; an allocation that would exceed it is refused
  void (*on_soft_limit)(Heap& heap, void* context) = nullptr;
  void* context = nullptr;
  /// The caller's memory for the heap (a buffer, a mapped memfd, huge pages), at least 64 KiB; nullptr: the
  /// heap uses the page cache. The memory must outlive the heap; the heap writes nothing but blocks into it.
  /// If it is itself a block of the general pool of at most 256 KiB, free the heap's blocks through the heap
  /// only: tarn::deallocate would take them for parts of that block.
  void* buffer = nullptr;
  std::size_t buffer_bytes = 0;
  /// Bytes of its pages and those of heaps within; an allocation that needs more pages (of 64 KiB) is
  /// refused.
  std::size_t mapped_limit = SIZE_MAX;
  /// The heap that this one lies in: bytes of this heap count there too, and that heap's limits hold for both
  /// together. A parent that ends first stops the process. Neither has cached blocks for its threads, nor
  /// does a heap with a mapped_limit.
  Heap* parent = nullptr;
  /// Blocks are wiped when they are freed, at clear() and at the heap's end, left out of core files unless
  /// they lie in a caller's buffer, and read by no tool (docs/pools/sensitive.md). Nothing is cached for
  /// threads.
  bool sensitive = false;
};

struct HeapUse {
  std::size_t live_bytes;  // of blocks handed out, as usable_size counts them, and inner_bytes
  std::size_t live_count;  // of its own
  // May be higher than the true one by the bytes that threads had cached, never above the hard limit.
  std::size_t peak_live_bytes;
  std::size_t mapped_bytes;  // its pages
  // Of live_bytes: those of the heaps within.
  std::size_t inner_bytes;
};

namespace detail {

struct HeapState;
struct HeapAccess;

TARN_API HeapState* make_heap(Heap& heap, const HeapOptions& options, bool poisons) noexcept;
TARN_API void end_heap(HeapState* state) noexcept;
TARN_API void* heap_allocate(HeapState* state, std::size_t size) noexcept;
TARN_API void* heap_allocate(HeapState* state, std::size_t size, std::size_t alignment) noexcept;
TARN_API void* heap_reallocate(HeapState* state, void* block, std::size_t size) noexcept;
TARN_API void heap_deallocate(HeapState* state, void* block) noexcept;
/// As block_pool_check_free.
TARN_API void heap_check_free(HeapState* state, const void* block) noexcept;
TARN_API void heap_clear(HeapState* state) noexcept;
TARN_API bool heap_owns(const HeapState* state, const void* pointer) noexcept;
TARN_API std::size_t heap_usable_size(HeapState* state, const void* block) noexcept;
TARN_API std::size_t heap_release_unused(HeapState* state) noexcept;
TARN_API std::size_t heap_prewarm(HeapState* state, std::size_t bytes) noexcept;
TARN_API HeapUse heap_use(HeapState* state) noexcept;
TARN_API void heap_set_limits(HeapState* state, std::size_t soft_limit, std::size_t hard_limit) noexcept;
/// Begins a scope. \returns the one before, for exchange_scope.
TARN_API void* enter_scope(Heap& heap) noexcept;
TARN_API Heap* current_heap() noexcept;
/// \returns whether an address lies in pages of the library.
TARN_API bool is_in_pages(const void* pointer) noexcept;
TARN_API void say_that_malloc_is_foreign() noexcept;

/// Tries malloc, and says so on standard error when it is not tarn's, unless a checker wants it so.
TARN_NOINLINE TARN_LOCAL inline bool probe_malloc() noexcept {
  void* volatile probe = std::malloc(1);
  const bool is_ours = probe == nullptr || is_in_pages(probe);
  std::free(probe);
  if (!is_ours && !kPoisonsFreeBlocks) say_that_malloc_is_foreign();
  return is_ours;
}

}  // namespace detail

class Heap {
 public:
  /// A heap that could not be made (memory refused, buffer too small) refuses every allocation; is_valid() is
  /// then false.
  TARN_LOCAL explicit Heap(const HeapOptions& options = {}) noexcept
      : state_(detail::make_heap(*this, options, detail::kPoisonsFreeBlocks)) {}
  /// \param name any string, copied.
  template <std::convertible_to<PoolName> Name>
  TARN_LOCAL explicit Heap(const Name& name) noexcept : Heap(HeapOptions{.name = name}) {}
  /// The heap's end frees all its blocks, also live ones.
  TARN_LOCAL ~Heap() { destroy(); }
  Heap(const Heap&) = delete;  // pools stay in place: std::deque, std::list, unique_ptr
  Heap& operator=(const Heap&) = delete;
  template <std::same_as<Heap> Moved>
  Heap(Moved&&) noexcept {
    detail::stop_at_move<Moved>();
  }

  bool is_valid() const noexcept { return state_ != nullptr; }

  /// Blocks are aligned to 16 bytes; blocks of at most 8 bytes to 8.
  [[nodiscard]] TARN_LOCAL void* allocate(std::size_t size) noexcept {
    void* const block = detail::heap_allocate(state_, size);
    if (block != nullptr) detail::profile_allocation(block, size);
    return block;
  }
  /// \param alignment bytes, a power of two.
  [[nodiscard]] TARN_LOCAL void* allocate(std::size_t size, std::size_t alignment) noexcept {
    void* const block = detail::heap_allocate(state_, size, alignment);
    if (block != nullptr) detail::profile_allocation(block, size);
    return block;
  }
  /// Zeroed memory for `count` objects of `size` bytes; nullptr also when the product overflows.
  [[nodiscard]] TARN_LOCAL void* allocate_zeroed(std::size_t count, std::size_t size) noexcept {
    std::size_t bytes = 0;
    if (detail::multiply_overflows(count, size, bytes)) return allocate(SIZE_MAX);  // refused, with its errno
    void* const block = allocate(bytes);
    return block != nullptr ? std::memset(block, 0, bytes) : nullptr;
  }
  /// \returns the block, which may have moved; nullptr when refused, and the old block then stays valid.
  [[nodiscard]] TARN_LOCAL void* reallocate(void* block, std::size_t size) noexcept;
  /// \pre a block of this heap, or nullptr.
  TARN_LOCAL void deallocate(void* block) noexcept {
    if (block == nullptr) return;
    if constexpr (detail::kChecksFrees) detail::heap_check_free(state_, block);
    detail::profile_deallocation(block);
    detail::heap_deallocate(state_, block);
  }
  TARN_LOCAL void deallocate(void* block, std::size_t) noexcept { deallocate(block); }
  TARN_LOCAL void deallocate(void* block, std::size_t, std::size_t) noexcept { deallocate(block); }

  TARN_LOCAL std::size_t usable_size(const void* block) const noexcept {
    return block == nullptr ? 0 : detail::heap_usable_size(state_, block);
  }

  /// \returns whether an address lies in the heap's pages.
  TARN_LOCAL bool owns(const void* pointer) const noexcept { return detail::heap_owns(state_, pointer); }

  /// Frees all live blocks at once; the heap stays usable and is empty. \pre no other thread uses the heap
  /// meanwhile.
  TARN_LOCAL void clear() noexcept { detail::heap_clear(state_); }
  /// Ends the heap and frees all live blocks at once; every later allocation is refused. \pre no other thread
  /// uses the heap.
  TARN_LOCAL void destroy() noexcept {
    detail::end_heap(state_);
    state_ = nullptr;
  }

  /// Gives pages and slabs without live blocks back to the page cache, but for slabs of which another running
  /// thread has cached blocks. \returns bytes.
  TARN_LOCAL std::size_t release_unused() noexcept { return detail::heap_release_unused(state_); }

  /// Takes and backs `bytes` of pages ahead of need. Blocks of up to 8 KiB then neither make the heap grow
  /// nor fault; larger blocks take pages of the page cache (tarn::prewarm). \returns bytes taken; 0 over a
  /// buffer.
  TARN_LOCAL std::size_t prewarm(std::size_t bytes) noexcept { return detail::heap_prewarm(state_, bytes); }

  /// The figures are exact while no other thread uses the heap, but for those that HeapUse says. \cost once
  /// the heap has size classes, some microseconds, and one more for each thread that uses it.
  TARN_LOCAL HeapUse use() const noexcept { return detail::heap_use(state_); }
  TARN_LOCAL void set_limits(std::size_t soft_limit, std::size_t hard_limit) noexcept {
    detail::heap_set_limits(state_, soft_limit, hard_limit);
  }

 private:
  friend struct detail::HeapAccess;

  detail::HeapState* state_;
};

namespace detail {

/// Gives the library access to a heap's state.
struct HeapAccess {
  static HeapState* state(const Heap& heap) { return heap.state_; }
};

}  // namespace detail

/// What a HeapScope is for: all calls of its thread, or tarn's own only.
enum class ScopeServes : bool { kAllCalls, kTarnCalls };

/// While a scope exists, the heap serves the calling thread's tarn::allocate, and its malloc and new where
/// tarn takes their place. Where it does not, containers and libraries bypass the heap: the first scope for
/// all calls then says so in a line on standard error. Scopes nest; the innermost one counts. Blocks may be
/// freed after the scope, in any thread. \cost entering and leaving the outermost scope switch a pointer
/// each; every allocation inside takes the slow path.
class HeapScope {
 public:
  [[nodiscard]] explicit HeapScope(Heap& heap, ScopeServes serves = ScopeServes::kAllCalls) noexcept
      : outer_(enter(heap, serves)) {}
  TARN_LOCAL ~HeapScope() { detail::exchange_scope(outer_); }
  HeapScope(const HeapScope&) = delete;
  HeapScope& operator=(const HeapScope&) = delete;

  /// \returns whether this program's malloc and new are tarn's, so that scopes serve them.
  TARN_LOCAL static bool serves_malloc() noexcept {
    static const bool is_served = detail::probe_malloc();
    return is_served;
  }

 private:
  TARN_LOCAL static void* enter(Heap& heap, ScopeServes serves) noexcept {
    if (serves == ScopeServes::kAllCalls) static_cast<void>(serves_malloc());  // not yet in the heap
    return detail::enter_scope(heap);
  }

  void* outer_;
};

/// \returns the heap of this thread's innermost scope; nullptr outside of any scope.
TARN_LOCAL inline Heap* current_heap() noexcept { return detail::current_heap(); }

inline void* Heap::reallocate(void* block, std::size_t size) noexcept {
  if constexpr (detail::kChecksFrees)
    if (block != nullptr) detail::heap_check_free(state_, block);
  void* const moved = detail::heap_reallocate(state_, block, size);
  if (moved != nullptr && moved != block) {
    if (block != nullptr) detail::profile_deallocation(block);
    detail::profile_allocation(moved, size);
  }
  return moved;
}

}  // namespace TARN_NAMESPACE
