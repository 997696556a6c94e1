// The general pool's slow door: every call that is not a hit of the inlined fast path comes here.
//
// A block comes from the thread's heap (thread_heap.h), from the shared owner or a pool's if the thread has
// no heap, from the pool of the thread's scope, or has its own span. A freed block goes to the owner that its
// page names.
#include "tarn/memory_pool.h"

#include <cerrno>
#include <cstring>

#include "central/owners.h"
#include "central/return_blocks.h"
#include "central/slab.h"
#include "central/take_blocks.h"
#include "general/block_finder.h"
#include "general/class_calls.h"
#include "general/from_malloc.h"
#include "general/large.h"
#include "general/memory_limits.h"
#include "general/pool_registry.h"
#include "general/setup.h"
#include "general/slow_door.h"
#include "os/fatal.h"
#include "os/owner_lock.h"
#include "page/helper.h"
#include "page/page_map.h"
#include "thread/observation.h"
#include "thread/recorded_call.h"
#include "thread/slow_call.h"
#include "thread/thread_heap.h"

namespace TARN_NAMESPACE {
namespace {

using namespace internal;

constexpr unsigned kLargestBatch = 4096;

// Serves threads without a heap: their destructors have run, they call too rarely, or memory was refused.
SlabOwner& owner_without_heap(SizeClass size_class) {
  return is_private_class(size_class) ? *private_class(size_class).owner : owners.shared();
}

SlabOwner& owner_for(const ThreadHeap* heap, SizeClass size_class) {
  if (heap == nullptr) return owner_without_heap(size_class);
  SlabOwner& near = owner_near(*heap);
  return is_private_class(size_class) ? part_for(*private_class(size_class).owner, near.number) : near;
}

void* allocate_without_heap(SizeClass size_class, ReturnedPages& returned) {
  SlabOwner& owner = owner_without_heap(size_class);
  os::LockGuard guard(owner.mutex);
  void* block = nullptr;
  return take_blocks_locked(owner, size_class, &block, 1, returned) == 1 ? block : nullptr;
}

void* allocate_from_heap(ThreadHeap& heap, SizeClass size_class, std::size_t size, ReturnedPages& returned) {
  SlowCall call(heap);
  void* block = nullptr;
  if (!thread_limits.check_every_free) {
    block = allocate(heap, size_class, returned);
  } else if (take_blocks(heap, size_class, &block, 1, returned) == 0) {
    block = nullptr;
  }
  if (counts_calls(&heap) && block != nullptr) count_allocation(*heap.calls, size_class, size);
  return block;
}

// A block that the thread has cached, if its records are not hidden.
TARN_INLINE void* pop_own(SizeClass size_class) {
  return detail::pop(detail::own_cache(), record_of_class(size_class));
}

// \returns 0 for the general pool's own classes.
std::uint64_t number_of_pool(SizeClass size_class) {
  std::uint64_t number = 0;
  if (is_private_class(size_class))
    pool_registry.with_pools_of_classes([&](const auto& pool_of) {
      if (const PoolHeader* const pool = pool_of(size_class)) number = pool->number;
    });
  return number;
}

// \returns nullptr when memory is refused.
[[gnu::noinline]] void* allocate_sampled(SizeClass size_class, std::size_t size) {
  SlabOwner* const owner = owners.sampled(size_class);
  if (owner == nullptr) return nullptr;
  ReturnedPages returned;
  void* block = nullptr;
  {
    os::LockGuard guard(owner->mutex);
    if (take_blocks_locked(*owner, size_class, &block, 1, returned) == 0) return nullptr;
  }
  observation.note_allocated(block, size, number_of_pool(size_class));
  return block;
}

// A block for a watched thread: of its own if a sample falls on it, else one that the thread has cached.
// \returns nullptr when there is none.
void* allocate_watched(ThreadHeap* heap, SizeClass size_class, std::size_t size) {
  if (!observation.watches_this_thread()) return nullptr;
  if (observation.is_sampled(size))
    if (void* const block = allocate_sampled(size_class, size)) return block;
  return heap != nullptr ? pop(heap->cache, record_of_class(size_class)) : nullptr;
}

void* allocate_in_class(ThreadHeap* heap, SizeClass size_class, std::size_t size) {
  if (is_disturbed()) [[unlikely]]
    if (void* const block = allocate_watched(heap, size_class, size)) return block;
  helper.on_slow_call();
  const auto take = [&] {
    ReturnedPages returned;
    return heap != nullptr ? allocate_from_heap(*heap, size_class, size, returned)
                           : allocate_without_heap(size_class, returned);
  };
  void* block = take_within_limits(take);
  if (block == nullptr && owners.end_all_cached_spans()) [[unlikely]]
    block = take();
  // Blocks in other owners' slabs are free memory too.
  if (block == nullptr && owners.adopt_from_any(owner_for(heap, size_class), size_class)) [[unlikely]]
    block = take();
  return block != nullptr ? block : out_of_memory();
}

void* allocate_in_scope(std::size_t size, std::size_t alignment) {
  PoolHeader& pool = *scope_pool();
  return pool.operations->allocate(pool, size, alignment);
}

// \returns whether that was all: a sampled block goes back to its slab, another one to the records that a
// watched thread does not see.
[[gnu::noinline]] bool deallocate_watched(void* block, SizeClass size_class) {
  const bool is_watched = observation.watches_this_thread();
  if (page_map.index().record_of(block) != detail::RecordPlace::kNone) {
    ThreadHeap* const heap = this_heap();
    return is_watched && heap != nullptr && push(heap->cache, record_of_class(size_class), block);
  }
  SlabOwner* const owner = page_map.find(block)->owner.load(std::memory_order_acquire);
  if (owner == nullptr || !owner->is_sampled) return false;
  observation.note_freed(block);
  ReturnedPages returned;
  os::LockGuard guard(owner->mutex);
  return_blocks(owner, &block, 1, returned);
  return true;
}

void deallocate_in_class(void* block, SizeClass size_class) {
  if (observation.has_begun()) [[unlikely]]
    if (deallocate_watched(block, size_class)) return;
  helper.on_slow_call();
  memory_limit.note_freed();
  if (thread_limits.check_every_free) return deallocate_checked(block);
  ThreadHeap* const heap = heap_of_this_thread();
  ReturnedPages returned;
  if (heap != nullptr) return deallocate(*heap, block, size_class, returned);
  SlabOwner& owner = owner_without_heap(size_class);
  os::LockGuard guard(owner.mutex);
  return_blocks(&owner, &block, 1, returned);
}

}  // namespace

namespace {

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

[[gnu::noinline]] void* allocate_behind_door(std::size_t size) {
  const SlowDoor door;
  if (scope_pool() != nullptr) [[unlikely]]
    return allocate_in_scope(size, size <= detail::kTinyLimit ? detail::kTinyLimit : 16);
  if (size > detail::kMediumLimit) return allocate_large_block(size, kPageBytes);
  ThreadHeap* const heap = heap_of_this_thread();  // also reads the options, which choose the classes
  const SizeClass size_class =
      size <= detail::kSmallLimit ? class_that_serves(heap, detail::bin_of(size)) : class_of_size(size);
  // A request that another bin's class serves finds its blocks in the record of that class.
  if (void* const block = pop_own(size_class)) return block;
  return allocate_in_class(heap, size_class, size);
}

[[gnu::noinline]] void* allocate_missed(std::size_t size) {
  // A hit, of sizes that callers do not look up inline. A scope hides the records.
  if (size > detail::kSteppedLimit && size <= detail::kMediumLimit)
    if (void* const block = pop_own(class_of_size(size))) return block;
  if (takes_this_block_from_malloc()) [[unlikely]]
    return allocate_from_malloc(size, 16);
  return allocate_behind_door(size);
}

[[gnu::noinline]] void deallocate_missed(void* block) {
  const SlowDoor door;
  Span* const span = find_any_span(block);
  if (PoolHeader* const pool = pool_over_system(block)) return pool->operations->deallocate(*pool, block);
  if (span == nullptr) os::fatal("free of a pointer that is no block", block);
  if (PoolHeader* const pool = asked_pool(*span)) return pool->operations->deallocate(*pool, block);
  if (is_slab(span)) return deallocate_in_class(block, span->size_class.load(std::memory_order_relaxed));
  deallocate_large(span, block);
}

// A watched thread's hit, in the records that the inlined path does not see.
// \returns nullptr where a sample falls on the call, or the record has no block.
TARN_INLINE void* pop_hidden(const ThreadHeap& heap, std::size_t size) {
  std::size_t record = detail::record_of_small(size);
  if (detail::is_tiny_or_stepped(size)) [[unlikely]] {
    if (size > detail::kSteppedLimit) return nullptr;
    record = detail::record_of_step(size);
  }
  const std::int64_t left = this_thread.bytes_to_sample - static_cast<std::int64_t>(size);
  if (left <= 0) [[unlikely]]
    return nullptr;
  void* const block = detail::pop(heap.cache, record);
  if (block != nullptr) [[likely]]
    this_thread.bytes_to_sample = left;
  return block;
}

// \returns whether the hidden record had room.
TARN_INLINE bool push_hidden(const ThreadHeap& heap, void* block) {
  return detail::push(heap.cache, detail::record_of(heap.cache, block), block);
}

void* allocate_hidden(std::size_t size) {
  const ThreadHeap* const heap = this_heap();
  if (heap != nullptr && this_thread.scope == nullptr && this_thread.is_watched())
    if (void* const block = pop_hidden(*heap, size)) return block;
  return allocate_missed(size);
}

void deallocate_hidden(void* block) {
  const ThreadHeap* const heap = this_heap();
  if (heap == nullptr || !this_thread.is_watched() || !push_hidden(*heap, block)) deallocate_missed(block);
}

// What a scope serves is its pool's.
[[gnu::noinline]] void* allocate_recorded(std::size_t size) {
  RecordedCall call(recorded_heap());
  void* const block = allocate_hidden(size);
  if (block != nullptr && this_thread.scope == nullptr)
    call.note_allocated(trace::Operation::kAllocate, block, size);
  return block;
}

[[gnu::noinline]] void deallocate_recorded(void* block) {
  RecordedCall call(recorded_heap());
  if (is_of_general_pool(block)) call.note_freed(block, RecordedCall::order());
  deallocate_hidden(block);
}

[[gnu::noinline]] void* allocate_disturbed(std::size_t size) {
  observation.notice();
  return watch_switches.is_recording() ? allocate_recorded(size) : allocate_hidden(size);
}

[[gnu::noinline]] void deallocate_disturbed(void* block) {
  observation.notice();
  watch_switches.is_recording() ? deallocate_recorded(block) : deallocate_hidden(block);
}

}  // namespace

namespace detail {

void* allocate_slow(std::size_t size) noexcept {
  const std::uint32_t now = watch_switches.generation.load(std::memory_order_acquire);
  if (this_thread.has_hidden_hits_at(now)) {
    if (void* const block = pop_hidden(*this_heap(), size)) [[likely]]
      return block;
  } else if (this_thread.is_disturbed_at(now)) [[unlikely]] {
    return allocate_disturbed(size);
  }
  return allocate_missed(size);
}

// The record of nullptr is always full.
void deallocate_slow(void* block) noexcept {
  const std::uint32_t now = watch_switches.generation.load(std::memory_order_acquire);
  if (this_thread.has_hidden_hits_at(now)) {
    if (push_hidden(*this_heap(), block)) [[likely]]
      return;
  } else if (this_thread.is_disturbed_at(now) && block != nullptr) [[unlikely]] {
    return deallocate_disturbed(block);
  }
  if (block != nullptr) deallocate_missed(block);
}

}  // namespace detail

namespace {

[[gnu::noinline]] void* allocate_aligned_behind_door(std::size_t size, std::size_t alignment) {
  const SlowDoor door;
  if (scope_pool() != nullptr) return allocate_in_scope(size, alignment);
  if (size > detail::kMediumLimit && alignment <= kPageBytes) return allocate_large_block(size, kPageBytes);
  set_up_once();  // the classes must be known
  const SizeClass size_class = aligned_class_of(kClassesInUse, size, alignment);
  if (size_class == SizeClass::kNone) return allocate_large_block(size, alignment);
  return allocate_in_class(heap_of_this_thread(), size_class, size);
}

void* allocate_aligned_missed(std::size_t size, std::size_t alignment) {
  return takes_this_block_from_malloc() ? allocate_from_malloc(size, alignment)
                                        : allocate_aligned_behind_door(size, alignment);
}

void* allocate_aligned_slow(std::size_t size, std::size_t alignment) {
  if (!watch_switches.is_recording()) [[likely]]
    return allocate_aligned_missed(size, alignment);
  RecordedCall call(recorded_heap());
  void* const block = allocate_aligned_missed(size, alignment);
  if (block != nullptr && this_thread.scope == nullptr)
    call.note_allocated(trace::Operation::kAllocate, block, size,
                        static_cast<unsigned>(__builtin_ctzll(alignment)));
  return block;
}

}  // namespace

void* allocate(std::size_t size, std::size_t alignment) noexcept {
  if (!is_power_of_two(alignment)) {
    errno = EINVAL;
    return nullptr;
  }
  if (alignment <= 16) return allocate(size < alignment ? alignment : size);
  // A hit. Where the records are hidden, or the options not read yet, all are empty.
  const SizeClass size_class = alignment == 64 && size - 1 < detail::kSteppedLimit
                                   ? class_of_aligned_step[(size + 63) / 64]
                                   : aligned_class_of(kClassesInUse, size, alignment);
  if (void* const block = pop_own(size_class)) return block;
  return allocate_aligned_slow(size, alignment);
}

namespace {

[[gnu::noinline]] void* allocate_large_zeroed(std::size_t bytes, bool* is_zeroed) {
  const SlowDoor door;
  return allocate_large_block(bytes, kPageBytes, 0, is_zeroed);
}

void* allocate_zeroed_bytes(std::size_t bytes) {
  bool is_zeroed = false;
  void* const block = bytes <= detail::kMediumLimit || scope_pool() != nullptr || takes_blocks_from_malloc()
                          ? allocate(bytes)
                          : allocate_large_zeroed(bytes, &is_zeroed);
  return block == nullptr || is_zeroed ? block : std::memset(block, 0, bytes);
}

[[gnu::noinline]] void* allocate_zeroed_recorded(std::size_t bytes) {
  RecordedCall call(recorded_heap());
  void* const block = allocate_zeroed_bytes(bytes);
  if (block != nullptr && this_thread.scope == nullptr)
    call.note_allocated(trace::Operation::kAllocateZeroed, block, bytes);
  return block;
}

}  // namespace

void* allocate_zeroed(std::size_t count, std::size_t size) noexcept {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) return out_of_memory();
  return watch_switches.is_recording() ? allocate_zeroed_recorded(bytes) : allocate_zeroed_bytes(bytes);
}

namespace {

// Few are copied one by one: they may have just been stored so, and a load of several would wait.
void copy_blocks(void** to, void* const* from, std::size_t count) {
  constexpr std::size_t kFew = 8;
  if (count > kFew) {
    std::memcpy(to, from, count * sizeof(void*));
    return;
  }
  for (std::size_t i = 0; i < count; ++i) to[i] = __atomic_load_n(from + i, __ATOMIC_RELAXED);
}

/// Around steps that are more than one hit: meanwhile no other thread takes blocks of the magazines.
class BatchMark {
 public:
  TARN_INLINE BatchMark() : heap_(this_heap()) {
    if (heap_ != nullptr) heap_->batch.enter_at_once(os::OwnerLock::fences);
  }
  TARN_INLINE ~BatchMark() {
    if (heap_ != nullptr) heap_->batch.leave();
  }
  BatchMark(const BatchMark&) = delete;
  BatchMark& operator=(const BatchMark&) = delete;

 private:
  ThreadHeap* const heap_;
};

// What the thread's magazine has, if its record is not hidden. \returns how many.
std::size_t pop_batch(SizeClass size_class, std::size_t count, void** blocks) {
  const BatchMark mark;
  detail::ThreadCache* const cache = detail::own_cache();
  detail::Record& record = detail::record_at(cache, record_of_class(size_class));
  void** const top = detail::slot_at(cache, record.top);
  if (*top == nullptr) return 0;
  const auto cached = static_cast<std::size_t>(top - this_heap()->magazines.at(size_class).blocks);
  const std::size_t taken = count < cached ? count : cached;
  copy_blocks(blocks, top + 1 - taken, taken);
  __atomic_store_n(&record.top, record.top - taken * sizeof(void*), __ATOMIC_RELAXED);
  return taken;
}

// The records of two blocks, to be compared at once.
TARN_INLINE std::size_t pair_of(detail::RecordPlace record, detail::RecordPlace next) {
  static_assert(sizeof(std::size_t) == 8);
  return number_of(record) | number_of(next) << 32;
}

// Frees the first blocks as long as they are of one class and its record has room. \returns how many.
TARN_INLINE std::size_t push_batch(void* const* blocks, std::size_t count) {
  const BatchMark mark;
  detail::ThreadCache* const cache = detail::own_cache();
  const detail::RecordPlace place = detail::record_of(cache, blocks[0]);
  detail::Record& record = detail::record_at(cache, place);
  void** const top = detail::slot_at(cache, record.top);
  const std::size_t room = (record.limit - record.top) / sizeof(void*);
  const std::size_t most = count < room ? count : room;
  std::size_t pushed = 0;
  // Two by two, but read and stored one by one: what was just stored so is waited for when it is read as one.
  // A block after itself is freed twice.
  for (void* last = *top; most - pushed >= 2; pushed += 2) {
    void* const block = __atomic_load_n(blocks + pushed, __ATOMIC_RELAXED);
    void* const next = __atomic_load_n(blocks + pushed + 1, __ATOMIC_RELAXED);
    const std::size_t places = pair_of(detail::record_of(cache, block), detail::record_of(cache, next));
    if (places != pair_of(place, place) || block == last || next == block) break;
    __atomic_store_n(top + pushed + 1, block, __ATOMIC_RELAXED);
    __atomic_store_n(top + pushed + 2, next, __ATOMIC_RELAXED);
    last = next;
  }
  // What is left of a pair, or comes before the block that ended the loop.
  if (pushed != most && blocks[pushed] != top[pushed] && detail::record_of(cache, blocks[pushed]) == place) {
    __atomic_store_n(top + pushed + 1, blocks[pushed], __ATOMIC_RELAXED);
    ++pushed;
  }
  if (pushed != 0) __atomic_store_n(&record.top, record.top + pushed * sizeof(void*), __ATOMIC_RELEASE);
  return pushed;
}

// \returns how many blocks came from the slabs.
[[gnu::noinline]] std::size_t take_batch(ThreadHeap& heap, SizeClass size_class, std::size_t count,
                                         void** blocks) {
  const SlowDoor door;
  std::size_t taken = 0;
  ReturnedPages returned;
  SlowCall call(heap);
  while (taken < count) {
    const std::size_t left = count - taken;
    const unsigned wanted = left < kLargestBatch ? static_cast<unsigned>(left) : kLargestBatch;
    const unsigned part = take_blocks(heap, size_class, blocks + taken, wanted, returned);
    if (part == 0) break;
    taken += part;
  }
  return taken;
}

bool may_take_batch(const ThreadHeap* heap, std::size_t size) {
  return size <= detail::kMediumLimit && heap != nullptr && scope_pool() == nullptr &&
         !thread_limits.every_call_is_slow && !is_disturbed();
}

}  // namespace

std::size_t allocate_batch(std::size_t size, std::size_t count, void** blocks) noexcept {
  std::size_t taken = 0;
  // As a hit: where the records are hidden, or the options not read yet, all are empty.
  if (size <= detail::kMediumLimit) taken = pop_batch(class_of_size(size), count, blocks);
  if (taken == count) return taken;
  ThreadHeap* const heap = heap_of_this_thread();
  if (may_take_batch(heap, size)) {
    taken += take_batch(*heap, class_of_size(size), count - taken, blocks + taken);
    answer_limits();
  }
  // One by one in a scope and above the classes, and where none was left: a single call tries harder.
  while (taken < count && (blocks[taken] = allocate(size)) != nullptr) ++taken;
  if (taken < count) errno = ENOMEM;
  return taken;
}

// As many hits, but for the record: blocks of one class in a row push to it with one store of its top.
void deallocate_batch(void* const* blocks, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count;) {
    const std::size_t pushed = push_batch(blocks + i, count - i);
    i += pushed;
    if (pushed == 0) detail::deallocate_slow(blocks[i++]);  // it may give the record another magazine
  }
}

}  // namespace TARN_NAMESPACE

namespace tarn::internal {

void* allocate_class_slow(SizeClass size_class, std::size_t requested) {
  const SlowDoor door;
  return allocate_in_class(heap_of_this_thread(), size_class, requested);
}

void deallocate_class_slow(void* block, SizeClass size_class) {
  const SlowDoor door;
  deallocate_in_class(block, size_class);
}

void deallocate_checked(void* block) {
  BlockIndex index{};
  Span* const slab = slab_of_block(block, &index);
  ReturnedPages returned;
  for (;;) {
    SlabOwner* const owner = slab->owner.load(std::memory_order_acquire);
    if (owner == nullptr) os::fatal("double free", block);
    os::LockGuard guard(owner->mutex);
    if (slab->owner.load(std::memory_order_acquire) != owner) continue;
    if (is_marked_free_locked(*slab, index)) stop_at_block(*slab, "double free", block);
    return return_blocks(owner, &block, 1, returned);
  }
}

}  // namespace tarn::internal
