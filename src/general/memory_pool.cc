// The general pool's slow door: every call that is not a hit of the inlined fast path comes here.
//
// A block comes from its class (class_calls.h), from the pool of the thread's scope, or has its own span. A
// watched thread uses records that the inlined path does not see. The page of a freed block names its class,
// or the pool to ask.
#include "tarn/memory_pool.h"

#include <cerrno>
#include <cstring>

#include "general/class_calls.h"
#include "general/guarded/guarded_blocks.h"
#include "general/large.h"
#include "general/options/setup.h"
#include "general/pools/pool_registry.h"
#include "general/pools/system_blocks.h"
#include "general/scoped_calls.h"
#include "general/slow_door.h"
#include "os/fatal.h"
#include "os/process/process.h"
#include "thread/observation/observation.h"
#include "thread/observation/recorded_call.h"
#include "thread/thread_heap.h"

namespace TARN_NAMESPACE {
namespace {

using namespace internal;

// A block that the thread has cached, if its records are not hidden.
TARN_INLINE void* pop_own(SizeClass size_class) {
  return detail::pop(detail::own_cache(), record_of_class(size_class));
}

void* allocate_in_scope(std::size_t size, std::size_t alignment) {
  PoolHeader& pool = *scope_pool();
  return pool.operations->allocate(pool, size, alignment);
}

[[gnu::cold, gnu::noinline]] void set_up_behind_door() {
  const SlowDoor door;
  set_up_once();
}

// \why no door there: checkers walk the stack from malloc, and a tail call keeps it whole.
bool takes_this_block_from_malloc() {
  if (block_source.load(std::memory_order_relaxed) == BlockSource::kUndecided) [[unlikely]]
    set_up_behind_door();
  return takes_blocks_from_malloc() && scope_pool() == nullptr;
}

// \returns nullptr where none is due.
[[gnu::noinline]] void* allocate_guarded(std::size_t size) {
  if (!observation.watches_this_thread() || this_heap() == nullptr) return nullptr;
  if (!Observation::is_guard_due()) return nullptr;
  const std::uint64_t began_ns = os::clock_ns();
  void* const block = guarded_blocks.allocate(size, guard_turns.is_at_any_price());
  observation.note_guarded(os::clock_ns() - began_ns);
  return block;
}

[[gnu::noinline]] void* allocate_behind_door(std::size_t size) {
  const SlowDoor door;
  if (scope_pool() != nullptr) [[unlikely]]
    return allocate_in_scope(size, size <= detail::kTinyLimit ? detail::kTinyLimit : 16);
  const std::size_t bytes = with_guard(size);
  if (bytes > detail::kMediumLimit) return allocate_large_block(size, kLargeAlignment);
  ThreadHeap* const heap = heap_of_this_thread();  // also reads the options, which choose the classes
  if (is_disturbed()) [[unlikely]]
    if (void* const block = allocate_guarded(size)) return block;
  const SizeClass size_class =
      bytes <= detail::kSmallLimit ? class_that_serves(heap, detail::bin_of(bytes)) : class_of_size(bytes);
  // A request that another bin's class serves finds its blocks in the record of that class.
  if (void* const block = pop_own(size_class)) return block;
  return allocate_in_class(heap, size_class, size);
}

[[gnu::noinline]] void* allocate_missed(std::size_t size) {
  // A hit, of sizes that callers do not look up inline. A scope hides the records.
  if (const std::size_t bytes = with_guard(size);
      bytes > detail::kSteppedLimit && bytes <= detail::kMediumLimit)
    if (void* const block = pop_own(class_of_size(bytes))) return block;
  if (takes_this_block_from_malloc()) [[unlikely]]
    return allocate_from_malloc(size, 16);
  return allocate_behind_door(size);
}

[[gnu::noinline]] void deallocate_missed(void* block) {
  const SlowDoor door;
  if (guarded_blocks.owns(block)) [[unlikely]]
    return guarded_blocks.deallocate(block);
  Span* const span = find_any_span(block);
  if (PoolHeader* const pool = pool_over_system(block)) return pool->operations->deallocate(*pool, block);
  if (span == nullptr) {
    set_up_once();  // the options say what follows
    return os::misuse("free of a pointer that is no block", block);
  }
  if (PoolHeader* const pool = asked_pool(*span)) return pool->operations->deallocate(*pool, block);
  if (is_slab(span)) return deallocate_in_class(block, span->size_class.load(std::memory_order_relaxed));
  deallocate_large(span, block);
}

// A watched thread's hit, in the records that the inlined path does not see.
// \returns nullptr where a sample falls on the call, its block is due to be guarded, or the record has none.
TARN_INLINE void* pop_hidden(ThreadHeap& heap, std::size_t size) {
  if (--heap.calls_to_guard <= 0) [[unlikely]]
    return nullptr;
  const std::size_t bytes = with_guard(size);
  std::size_t record = detail::record_of_small(bytes);
  if (detail::is_tiny_or_stepped(bytes)) [[unlikely]] {
    if (bytes > detail::kSteppedLimit) return nullptr;
    record = detail::record_of_step(bytes);
  }
  const std::int64_t left = this_thread().bytes_to_sample - static_cast<std::int64_t>(size);
  if (left <= 0) [[unlikely]]
    return nullptr;
  void* const block = detail::pop(heap.cache, record);
  if (block != nullptr) [[likely]]
    this_thread().bytes_to_sample = left;
  return block;
}

// \returns whether the hidden record had room.
TARN_INLINE bool push_hidden(const ThreadHeap& heap, void* block) {
  return detail::push(heap.cache, detail::record_of(heap.cache, block), block);
}

void* allocate_hidden(std::size_t size) {
  ThreadHeap* const heap = this_heap();
  if (heap != nullptr && this_thread().scope == nullptr && this_thread().is_watched())
    if (void* const block = pop_hidden(*heap, size)) return block;
  return allocate_missed(size);
}

void deallocate_hidden(void* block) {
  const ThreadHeap* const heap = this_heap();
  if (heap == nullptr || !this_thread().is_watched() || !push_hidden(*heap, block)) deallocate_missed(block);
}

// What a scope serves is its pool's.
void* note_allocated(RecordedCall& call, trace::Operation operation, void* block, std::size_t size,
                     std::size_t alignment = 1) {
  if (block == nullptr || this_thread().scope != nullptr) return block;
  call.note_allocated(operation, block, size, static_cast<unsigned>(__builtin_ctzll(alignment)));
  count_in_scopes(call, 0, block);
  return block;
}

[[gnu::noinline]] void* allocate_recorded(std::size_t size) {
  RecordedCall call(recorded_heap());
  return note_allocated(call, trace::Operation::kAllocate, allocate_hidden(size), size);
}

[[gnu::noinline]] void deallocate_recorded(void* block) {
  RecordedCall call(recorded_heap());
  if (is_of_general_pool(block)) {
    call.note_freed(block, call.order());
    count_in_scopes(call, bytes_to_count(call, block), nullptr);
  }
  deallocate_hidden(block);
}

[[gnu::noinline]] void* allocate_disturbed(std::size_t size) {
  observation.notice();
  return sees_calls() ? allocate_recorded(size) : allocate_hidden(size);
}

[[gnu::noinline]] void deallocate_disturbed(void* block) {
  observation.notice();
  sees_calls() ? deallocate_recorded(block) : deallocate_hidden(block);
}

}  // namespace

namespace detail {

void* allocate_slow(std::size_t size) noexcept {
  const std::uint32_t now = watch_switches.generation.load(std::memory_order_acquire);
  if (this_thread().has_hidden_hits_at(now)) {
    if (void* const block = pop_hidden(*this_heap(), size)) [[likely]]
      return block;
  } else if (this_thread().is_disturbed_at(now)) [[unlikely]] {
    return allocate_disturbed(size);
  }
  return this_thread().is_counted ? allocate_recorded(size) : allocate_missed(size);
}

// The record of nullptr is always full.
void deallocate_slow(void* block) noexcept {
  const std::uint32_t now = watch_switches.generation.load(std::memory_order_acquire);
  if (this_thread().has_hidden_hits_at(now)) {
    if (push_hidden(*this_heap(), block)) [[likely]]
      return;
  } else if (this_thread().is_disturbed_at(now) && block != nullptr) [[unlikely]] {
    return deallocate_disturbed(block);
  }
  if (block == nullptr) return;
  this_thread().is_counted ? deallocate_recorded(block) : deallocate_missed(block);
}

}  // namespace detail

namespace {

[[gnu::noinline]] void* allocate_aligned_behind_door(std::size_t size, std::size_t alignment) {
  const SlowDoor door;
  if (scope_pool() != nullptr) return allocate_in_scope(size, alignment);
  const std::size_t bytes = with_guard(size);
  if (bytes > detail::kMediumLimit && alignment <= kLargeAlignment)
    return allocate_large_block(size, kLargeAlignment);
  set_up_once();  // the classes must be known
  const SizeClass size_class = aligned_class_of(kClassesInUse, bytes, alignment);
  if (size_class == SizeClass::kNone) return allocate_large_block(size, alignment);
  return allocate_in_class(heap_of_this_thread(), size_class, size);
}

void* allocate_aligned_missed(std::size_t size, std::size_t alignment) {
  return takes_this_block_from_malloc() ? allocate_from_malloc(size, alignment)
                                        : allocate_aligned_behind_door(size, alignment);
}

void* allocate_aligned_slow(std::size_t size, std::size_t alignment) {
  if (!sees_calls()) [[likely]]
    return allocate_aligned_missed(size, alignment);
  RecordedCall call(recorded_heap());
  return note_allocated(call, trace::Operation::kAllocate, allocate_aligned_missed(size, alignment), size,
                        alignment);
}

}  // namespace

void* allocate(std::size_t size, std::size_t alignment) noexcept {
  if (!is_power_of_two(alignment)) {
    errno = EINVAL;
    return nullptr;
  }
  if (alignment <= 16) return allocate(size < alignment ? alignment : size);
  // A hit. Where the records are hidden, or the options not read yet, all are empty.
  const std::size_t bytes = with_guard(size);
  const SizeClass size_class = alignment == 64 && bytes - 1 < detail::kSteppedLimit
                                   ? class_of_aligned_step[(bytes + 63) / 64]
                                   : aligned_class_of(kClassesInUse, bytes, alignment);
  if (void* const block = pop_own(size_class)) return block;
  return allocate_aligned_slow(size, alignment);
}

namespace {

[[gnu::noinline]] void* allocate_large_zeroed(std::size_t bytes, bool* is_zeroed) {
  const SlowDoor door;
  return allocate_large_block(bytes, kLargeAlignment, 0, is_zeroed);
}

void* allocate_zeroed_bytes(std::size_t bytes) {
  bool is_zeroed = false;
  // Calls that a test counts pass the door of all.
  void* const block = bytes <= detail::kMediumLimit || scope_pool() != nullptr || this_thread().is_counted ||
                              takes_blocks_from_malloc()
                          ? allocate(bytes)
                          : allocate_large_zeroed(bytes, &is_zeroed);
  // In the hardened library a block of a class is zeros but for its guard.
  const bool is_zero = is_zeroed || (detail::kIsHardened && with_guard(bytes) <= detail::kMediumLimit &&
                                     scope_pool() == nullptr && !takes_blocks_from_malloc());
  return block == nullptr || is_zero ? block : std::memset(block, 0, bytes);
}

[[gnu::noinline]] void* allocate_zeroed_recorded(std::size_t bytes) {
  RecordedCall call(recorded_heap());
  return note_allocated(call, trace::Operation::kAllocateZeroed, allocate_zeroed_bytes(bytes), bytes);
}

}  // namespace

void* allocate_zeroed(std::size_t count, std::size_t size) noexcept {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) return out_of_memory();
  return watch_switches.is_recording() ? allocate_zeroed_recorded(bytes) : allocate_zeroed_bytes(bytes);
}

}  // namespace TARN_NAMESPACE
