#include "thread/thread_heap.h"

#include <cstring>

#include "central/cached/depot.h"
#include "central/live_blocks.h"
#include "central/owners.h"
#include "central/slabs/class_slabs.h"
#include "central/slabs/return_blocks.h"
#include "central/slabs/slab.h"
#include "central/take_blocks.h"
#include "os/fatal.h"
#include "page/spans/page_map.h"
#include "thread/idle_classes.h"
#include "thread/magazine.h"
#include "thread/slow_call.h"

namespace tarn::internal {
namespace {

// Blocks moved at once: enough to share the cost of a lock and a lookup, few enough that the call that moves
// them takes a fraction of a microsecond (the 99.9th percentile of a call). Taking a block costs about 1 ns,
// returning one 4 ns.
constexpr unsigned kLargestRefill = 128;
constexpr unsigned kLargestFlush = 64;
// Fewer blocks of another owner do not pay for the lines of its depot.
constexpr unsigned kForeignWorthParking = 32;
// Words of bitmaps written at once: scattered blocks of other owners cost a cache miss each.
constexpr unsigned kMostWords = 32;
// A slab of its own costs a class one to two OS pages; a call that another class serves, some ns.
constexpr std::uint8_t kCallsForSlabs = 8;
constinit std::atomic<bool> no_class_is_rare{false};

/// The mutex of the owner that serves a class.
class ServingGuard {
 public:
  ServingGuard(SlabOwner& owner, SizeClass size_class) : owner_(owner) {
    if (owner.mutex.try_lock()) return;
    if (owner.is_of_pool) owners.note_wait(*private_class(size_class).owner);
    owner.mutex.lock();
  }
  ~ServingGuard() { owner_.mutex.unlock(); }
  ServingGuard(const ServingGuard&) = delete;
  ServingGuard& operator=(const ServingGuard&) = delete;

 private:
  SlabOwner& owner_;
};

SlabOwner& owner_of(const ThreadHeap* heap) { return heap != nullptr ? owner_near(*heap) : owners.shared(); }

// Records a miss, and looks for idle classes where it is time.
void note_miss(ThreadHeap& heap, SizeClass size_class, std::uint64_t& counter, ReturnedPages& returned) {
  Magazine* const magazine = heap.magazines.make(size_class);
  if (magazine != nullptr) {
    magazine->was_missed = true;
    if (magazine->misses != UINT8_MAX) ++magazine->misses;
  }
  ++counter;
  ++heap.owner->slow_calls;
  look_at_a_miss(heap, size_class, returned);
}

// Magazines that have become too large are dropped, and grow again as far as they may.
void keep_to_limit(ThreadHeap& heap, ReturnedPages& returned) {
  const std::uint32_t lowered = thread_limits.times_lowered;
  if (heap.lowered_seen == lowered) [[likely]]
    return;
  heap.lowered_seen = lowered;
  if (heap.magazine_bytes <= thread_limits.magazine_bytes) return;
  os::LockGuard guard(heap.owner->mutex);
  drop_magazines_locked(heap, returned);
}

// Chooses the part of a full magazine that is flushed next: each part in turn, but never the newest blocks,
// which then fill the gap. Moving all other blocks down would cost more than the flush.
unsigned next_flushed(const Magazine& magazine, unsigned count, unsigned flushed) {
  if (2 * flushed > count) return 0;
  const unsigned last = count - 2 * flushed;
  if (magazine.next_flushed <= last) return magazine.next_flushed;
  return magazine.next_flushed < last + flushed ? last : 0;
}

// Blocks that a coarser class had given while this one was rare return to their slabs when this one is first
// flushed: a block among them that was freed twice is seen then, as if the class had never been rare.
void return_rare_blocks(ThreadHeap& heap, SizeClass size_class, ReturnedPages& returned) {
  const SizeClass rare_class = rare_class_of(size_class);
  if (rare_class == size_class) return;
  os::LockGuard guard(heap.owner->mutex);
  return_newest_blocks(heap, rare_class, kLargestFlush, returned);
}

SlabOwner* owner_of_block(const void* block) {
  const Span* const slab = page_map.find(block);
  return slab == nullptr ? nullptr : slab->owner.load(std::memory_order_acquire);
}

// Closes the gap that `flushed` blocks from slot `first` on have left, with the newest blocks.
void close_gap(ThreadHeap& heap, SizeClass size_class, unsigned first, unsigned flushed) {
  Magazine& magazine = heap.magazines.made(size_class);
  const unsigned count = count_of(heap, size_class), kept = count - flushed;
  const unsigned moved = at_most(flushed, kept - first);
  std::memmove(magazine.blocks + 1 + first, magazine.blocks + 1 + count - moved, moved * sizeof(void*));
  magazine.next_flushed = static_cast<std::uint16_t>(first + flushed);
  set_record(heap, size_class, kept);
}

bool try_to_park(SlabOwner& owner, SizeClass size_class, void* const* blocks, unsigned count,
                 ReturnedPages& returned) {
  return may_park(owner, size_class) && park(owner, size_class, blocks, count, returned);
}

// Without the mutex of their owner, so that its threads need not wait; of a pool, with it where it is free,
// since no thread would collect.
void return_to_another(SlabOwner& owner, SizeClass size_class, void* const* blocks, unsigned count,
                       ReturnedPages& returned) {
  const bool may_be_parked = count >= kForeignWorthParking &&
                             (owner.is_of_pool || owner.threads.load(std::memory_order_relaxed) != 0);
  if (may_be_parked && try_to_park(owner, size_class, blocks, count, returned)) return;
  const bool is_locked = owner.is_of_pool && owner.mutex.try_lock();
  return_blocks(is_locked ? &owner : nullptr, blocks, count, returned);
  if (is_locked) owner.mutex.unlock();
}

// The first of the blocks speaks for all: most threads free what few others have taken.
void flush(ThreadHeap& heap, SizeClass size_class, ReturnedPages& returned) {
  Magazine& magazine = heap.magazines.made(size_class);
  SlabOwner& owner = owner_serving(heap, size_class);
  if (owner.is_of_pool) ++owner.slow_calls;
  if (!magazine.has_flushed) return_rare_blocks(heap, size_class, returned);
  magazine.has_flushed = true;
  const unsigned count = count_of(heap, size_class);
  const unsigned most = most_capacity(heap, size_class);
  const bool is_past_its_peak = most < class_geometry[size_class].largest_magazine;
  unsigned flushed = at_most(kLargestFlush, count - at_most(most, count) / 2);
  const unsigned first = next_flushed(magazine, count, flushed);
  void** const gap = magazine.blocks + 1 + first;
  SlabOwner* const from = owner_of_block(gap[0]);
  if (from != &owner && from != nullptr && from->has_class(size_class)) {
    return_to_another(*from, size_class, gap, flushed, returned);
  } else if (!try_to_park(owner, size_class, gap, flushed, returned)) {
    const ServingGuard guard(owner, size_class);
    flushed = return_some_blocks(&owner, gap, flushed, kMostWords, returned);
    if (is_past_its_peak && !has_own_slab(class_geometry[size_class]))
      return_parked(owner, size_class, kLargestFlush, returned);
  }
  close_gap(heap, size_class, first, flushed);
}

}  // namespace

bool is_rare(const ThreadHeap* heap, Bin bin) {
  const SizeClass size_class = detail::class_of_bin[bin];
  if (heap != nullptr && heap->magazines.at(size_class).blocks != nullptr) return false;
  const SlabOwner& owner = owner_of(heap);
  return !owner.has_slabs(size_class) &&
         owner.rare_calls[index_of_class(size_class)].load(std::memory_order_relaxed) < kCallsForSlabs &&
         !thread_limits.every_call_is_slow && !no_class_is_rare.load(std::memory_order_relaxed);
}

SizeClass class_that_serves(const ThreadHeap* heap, Bin bin) {
  const SizeClass size_class = detail::class_of_bin[bin];
  if (!is_rare(heap, bin)) return size_class;
  std::atomic<std::uint8_t>& calls = owner_of(heap).rare_calls[index_of_class(size_class)];
  calls.store(static_cast<std::uint8_t>(calls.load(std::memory_order_relaxed) + 1),
              std::memory_order_relaxed);
  return rare_class_of_bin[bin];
}

void end_rare_classes() { no_class_is_rare.store(true, std::memory_order_relaxed); }

unsigned take_blocks(ThreadHeap& heap, SizeClass size_class, void** blocks, unsigned wanted,
                     ReturnedPages& returned) {
  SlabOwner& owner = owner_serving(heap, size_class);
  if (owner.is_of_pool) ++owner.slow_calls;
  if (const unsigned parked = unpark(owner, size_class, blocks, wanted); parked != 0) return parked;
  const ServingGuard guard(owner, size_class);
  // Slabs of one block come and go with each call, and the page cache keeps their pages for every class.
  if (!has_own_slab(class_geometry[size_class]) && !has_blocks_locked(owner, size_class, returned)) {
    if (const unsigned parked = unpark_again(owner, size_class, blocks, wanted); parked != 0) return parked;
    if (!owner.is_of_pool) look_before_growth_locked(heap, returned);
    const List<Span>& available = owner.of(size_class).available;
    if (available.is_empty())
      give_way(owner, size_class, bytes_of(class_geometry[size_class].first_slab_pages), returned);
    if (available.is_empty() && make_slab_locked(owner, size_class) == nullptr) return 0;
  }
  return take_blocks_locked(owner, size_class, blocks, wanted, returned);
}

void* allocate(ThreadHeap& heap, SizeClass size_class, ReturnedPages& returned) {
  if (count_of(heap, size_class) == 0) {
    keep_to_limit(heap, returned);
    note_miss(heap, size_class, heap.counters.refills, returned);
    // Without a magazine (no memory, no room below the thread's limit, or switched off for the pool) one
    // block.
    if (!prepare_magazine(heap, size_class)) {
      void* block = nullptr;
      return take_blocks(heap, size_class, &block, 1, returned) == 1 ? begin_live(size_class, block)
                                                                     : nullptr;
    }
    Magazine& magazine = heap.magazines.made(size_class);
    // Also so that what looks for idle classes on the way does not resize the array.
    magazine.was_refilled = magazine.serves = true;
    // Half of it, so that as many frees fit in before the magazine is full.
    const unsigned wanted = at_most(kLargestRefill, magazine.capacity / 2u + 1);
    const unsigned taken = take_blocks(heap, size_class, magazine.blocks + 1, wanted, returned);
    if (taken == 0) return nullptr;
    set_record(heap, size_class, taken);
  }
  // More than once where a block was written while it was free: then that one is left alone.
  void* block = nullptr;
  while (block == nullptr && count_of(heap, size_class) != 0)
    block = detail::pop(heap.cache, record_of_class(size_class));
  return block;
}

void* refill_and_take(ThreadHeap& heap, SizeClass size_class) {
  ReturnedPages returned;
  const SlowCall call(heap);
  return allocate(heap, size_class, returned);
}

void deallocate(ThreadHeap& heap, void* block, SizeClass size_class, ReturnedPages& returned) {
  const SlowCall call(heap);
  // The newest block of the magazine too is free, where a class has no live bytes.
  if (!is_live(size_class, block) || newest_block(heap, size_class) == block) return note_bad_free(block);
  if (count_of(heap, size_class) == heap.magazines.at(size_class).capacity) {
    keep_to_limit(heap, returned);
    note_miss(heap, size_class, heap.counters.flushes, returned);
  }
  if (count_of(heap, size_class) == heap.magazines.at(size_class).capacity) {  // a look may have made room
    if (count_of(heap, size_class) != 0) flush(heap, size_class, returned);
    if (!prepare_magazine(heap, size_class)) {
      if (!end_live(size_class, block)) return;
      SlabOwner& owner = owner_serving(heap, size_class);
      os::LockGuard guard(owner.mutex);
      return return_blocks(&owner, &block, 1, returned);
    }
  }
  if (!detail::push(heap.cache, record_of_class(size_class), block))
    stop_at_block(*page_map.find(block), "double free", block);
}

}  // namespace tarn::internal
