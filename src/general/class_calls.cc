// The slow calls of a size class: a block comes from the thread's heap (thread_heap.h), from the shared owner
// or a pool's if the thread has no heap, or is sampled. A freed block goes to the owner that its page names.
#include "general/class_calls.h"

#include "central/live_blocks.h"
#include "central/owners.h"
#include "central/slabs/return_blocks.h"
#include "central/slabs/slab.h"
#include "central/take_blocks.h"
#include "general/large.h"
#include "general/options/memory_limits.h"
#include "general/options/setup.h"
#include "general/pools/pool_registry.h"
#include "general/slow_door.h"
#include "os/fatal.h"
#include "page/give_back/background.h"
#include "page/spans/page_map.h"
#include "thread/observation/observation.h"
#include "thread/slow_call.h"
#include "thread/thread_heap.h"
#include "thread/watch/counted_call.h"

namespace tarn::internal {
namespace {

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
  return take_blocks_locked(owner, size_class, &block, 1, returned) == 1 ? begin_live(size_class, block)
                                                                         : nullptr;
}

void* allocate_from_heap(ThreadHeap& heap, SizeClass size_class, ReturnedPages& returned) {
  SlowCall call(heap);
  void* block = nullptr;
  if (!thread_limits.check_every_free) {
    block = allocate(heap, size_class, returned);
  } else {
    block = take_blocks(heap, size_class, &block, 1, returned) == 0 ? nullptr : begin_live(size_class, block);
  }
  return block;
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
  begin_live(size_class, block);
  observation.note_allocated(block, size, number_of_pool(size_class));
  return block;
}

// Guards are read only where a block may begin. \returns false where it is no block's address.
bool has_place(void* block, SizeClass size_class) {
  return !has_guards(size_class) || is_place_of_block(block);
}

// As a hit does, but of any address.
bool check_and_end_live(void* block, SizeClass size_class) {
  return has_place(block, size_class) && end_live(size_class, block);
}

// A block for a watched thread: of its own if a sample falls on it, else one that the thread has cached.
// \returns nullptr when there is none.
void* allocate_watched(ThreadHeap* heap, SizeClass size_class, std::size_t size) {
  if (!observation.watches_this_thread()) return nullptr;
  if (observation.is_sampled(size))
    if (void* const block = allocate_sampled(size_class, size)) return block;
  return heap != nullptr ? pop(heap->cache, record_of_class(size_class)) : nullptr;
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
  if (!check_and_end_live(block, size_class)) return true;
  observation.note_freed(block);
  ReturnedPages returned;
  os::LockGuard guard(owner->mutex);
  return_blocks(owner, &block, 1, returned);
  return true;
}

// Before what is no live block is told.
[[gnu::noinline]] void count_free(void* block, SizeClass size_class) {
  const Span* const slab = page_map.find(block);
  if (!has_blocks(size_class) || owner_of_slab(slab) == nullptr) return;
  BlockIndex index{};
  if (place_in_slab(*slab, block, &index) != AddressIs::kBlock || !is_live(size_class, block)) return;
  count_call(this_heap(), [=](ThreadCallCounts& calls) { count_deallocation(calls, size_class); });
}

// So a program that calls gives back what it does not use, and no single call takes long for it.
void take_part_in_looks() {
  constexpr unsigned kCallsPerLookAtTheClock = 64;
  observation.begin_guard_turn_if_due();
  if (++this_thread().slow_calls % kCallsPerLookAtTheClock == 0 || background.has_step()) [[unlikely]]
    background.step();
}

}  // namespace

void* allocate_in_class(ThreadHeap* heap, SizeClass size_class, std::size_t size) {
  if (is_disturbed()) [[unlikely]]
    if (void* const block = allocate_watched(heap, size_class, size)) return block;
  take_part_in_looks();
  const auto take = [&] {
    ReturnedPages returned;
    return heap != nullptr ? allocate_from_heap(*heap, size_class, returned)
                           : allocate_without_heap(size_class, returned);
  };
  void* block = take_within_limits(take);
  if (block == nullptr && owners.end_all_cached_spans()) [[unlikely]]
    block = take();
  // Blocks in other owners' slabs are free memory too.
  if (block == nullptr && owners.adopt_from_any(owner_for(heap, size_class), size_class)) [[unlikely]]
    block = take();
  if (block == nullptr) return out_of_memory();
  if (thread_limits.count_calls && has_blocks(size_class)) [[unlikely]]
    count_call(heap, [=](ThreadCallCounts& calls) { count_allocation(calls, size_class, size); });
  return block;
}

void deallocate_in_class(void* block, SizeClass size_class) {
  if (observation.has_begun()) [[unlikely]]
    if (deallocate_watched(block, size_class)) return;
  take_part_in_looks();
  memory_limit.note_freed();
  if (thread_limits.count_calls) [[unlikely]]
    count_free(block, size_class);
  if (thread_limits.check_every_free) return deallocate_checked(block);
  ThreadHeap* const heap = heap_of_this_thread();
  ReturnedPages returned;
  if (heap != nullptr) {
    if (has_place(block, size_class)) deallocate(*heap, block, size_class, returned);
    return;
  }
  // A thread without a heap: it has called too rarely so far, memory was refused, or it has ended.
  if (!check_and_end_live(block, size_class)) return;
  SlabOwner& owner = owner_without_heap(size_class);
  os::LockGuard guard(owner.mutex);
  return_blocks(&owner, &block, 1, returned);
}

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
    // The slab may have moved before its owner's mutex was taken.
    if (slab->owner.load(std::memory_order_acquire) != owner) continue;
    if (is_marked_free_locked(*slab, index)) stop_at_block(*slab, "double free", block);
    if (!end_live(slab->size_class.load(std::memory_order_relaxed), block)) return;
    return return_blocks(owner, &block, 1, returned);
  }
}

}  // namespace tarn::internal
