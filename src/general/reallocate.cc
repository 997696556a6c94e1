// Changing the size of blocks, and asking for it.
#include <cstring>

#include "base/wipe.h"
#include "central/live_blocks.h"
#include "central/slabs/slab.h"
#include "general/guarded/guarded_blocks.h"
#include "general/hardened/large_guards.h"
#include "general/large.h"
#include "general/options/setup.h"
#include "general/pools/pool_registry.h"
#include "general/pools/system_blocks.h"
#include "general/scoped_calls.h"
#include "general/slow_door.h"
#include "os/fatal.h"
#include "page/spans/page_map.h"
#include "tarn/memory_pool.h"
#include "tarn/sensitive.h"
#include "thread/observation/recorded_call.h"
#include "thread/thread_heap.h"
#include "thread/watch/counted_call.h"

namespace TARN_NAMESPACE {
namespace {

using namespace internal;

SizeClass class_of(const Span& slab) { return slab.size_class.load(std::memory_order_relaxed); }

bool is_start_of_block(const Span& span, const void* block) {
  const std::size_t offset = address_of(block) - address_of(span.start);
  if (!is_slab(&span)) return offset == 0;
  BlockIndex index{};
  return place_in_slab(span, block, &index) == AddressIs::kBlock;
}

Span* span_of_block(const void* block) {
  Span* const span = find_any_span(block);
  if (span == nullptr) os::fatal("use of a pointer that is no block", block);
  if (asked_pool(*span) == nullptr && !is_start_of_block(*span, block))
    os::fatal("use of a pointer into a block", block);
  return span;
}

std::size_t usable_bytes(const Span& span, const void* block) {
  if (PoolHeader* const pool = asked_pool(span)) return pool->operations->usable_size(*pool, block);
  if (!is_slab(&span)) return usable_bytes_of_large(span);
  const SlabOwner& owner = *span.owner.load(std::memory_order_acquire);
  return geometry_of(owner, class_of(span)).block_bytes - (owner.is_of_pool ? 0 : detail::kGuardBytes);
}

// One that is free already, or may lie over others, is not moved: the process stops in any case.
void check_whole(SizeClass size_class, void* block) {
  if (is_live(size_class, block)) return;
  note_bad_free(block);
  os::fatal("use of a block that is not whole", block);
}

std::size_t usable_bytes_of(SizeClass size_class) {
  return class_geometry[size_class].block_bytes - (is_private_class(size_class) ? 0 : detail::kGuardBytes);
}

// A block that has grown to this size will mostly grow again, which a span of its own does in place. Smaller
// ones come and go faster from their class, and are copied soon.
constexpr std::size_t kGrowsInPlace = 128 * 1024;

// Behind a door of its own: a hit that moves its block comes here without one.
[[gnu::noinline]] void* allocate_to_grow(std::size_t size) {
  const SlowDoor door;
  return allocate_large_block(size, kLargeAlignment, room_to_grow(size));
}

void* move_by_copy(void* block, std::size_t old_bytes, std::size_t size) {
  const bool grows =
      size >= kGrowsInPlace && size > old_bytes && scope_pool() == nullptr && !takes_blocks_from_malloc();
  void* moved = grows ? allocate_to_grow(size) : nullptr;
  // A thread may have a block of the class cached where a limit allows no more pages.
  if (moved == nullptr && (!grows || size <= detail::kMediumLimit)) moved = allocate(size);
  // Programs do not expect shrinking to fail.
  if (moved == nullptr) return size <= old_bytes ? block : nullptr;
  std::memcpy(moved, block, old_bytes < size ? old_bytes : size);
  deallocate(block);
  return moved;
}

// A block of a sensitive pool moves to sensitive memory of no pool. What lies behind the new end of one that
// stays is of no use to its program any more.
void* reallocate_sensitive(PoolHeader& pool, void* block, std::size_t usable, std::size_t size) {
  if (size > usable) {
    void* const moved = allocate_sensitive(size);
    if (moved == nullptr) return nullptr;
    std::memcpy(moved, block, usable);
    pool.operations->deallocate(pool, block);
    return moved;
  }
  wipe(static_cast<char*>(block) + size, usable - size);
  return block;
}

// A pool that keeps no sizes: the block moves to the general pool.
void* reallocate_of_pool(PoolHeader& pool, void* block, std::size_t size) {
  if (pool.operations->reallocate != nullptr) return pool.operations->reallocate(pool, block, size);
  const std::size_t usable = pool.operations->usable_size(pool, block);
  if (pool.is_sensitive) return reallocate_sensitive(pool, block, usable, size);
  return size <= usable ? block : move_by_copy(block, usable, size);
}

// Whether a block stays in place: a small one while its class may serve its size, a larger one while the size
// is at least half of its bytes.
bool may_stay(SizeClass size_class, std::size_t usable, std::size_t size) {
  if (size > usable) return false;
  if (is_private_class(size_class)) return true;  // a pool of one size
  if (size > detail::kSmallLimit) return size >= usable / 2;
  const Bin bin = detail::bin_of(with_guard(size));
  if (detail::class_of_bin[bin] == size_class) return true;
  return rare_class_of_bin[bin] == size_class && is_rare(this_heap(), bin);
}

/// \returns nullptr when a large block can neither be resized in place nor be moved by its pages.
void* reallocate_large(Span* span, std::size_t size) {
  const std::size_t before = span->bytes();
  Span* const resized = resize_large(span, size) ? span : move_large(span, size);
  if (resized == nullptr) return nullptr;
  const std::size_t now = resized->bytes(), moves = resized == span ? 0 : 1;
  count_call(this_heap(), [=](ThreadCallCounts& calls) { calls.large.add_resize(before, now, moves); });
  return resized->start;
}

void count_reallocation() {
  count_call(this_heap(), [](ThreadCallCounts& calls) { ++calls.large.reallocations; });
}

[[gnu::noinline]] void* reallocate_behind_door(void* block, std::size_t size) {
  const SlowDoor door;
  if (guarded_blocks.owns(block)) [[unlikely]]
    return move_by_copy(block, guarded_blocks.usable_bytes(block), size);
  Span* const span = span_of_block(block);
  if (PoolHeader* const pool = asked_pool(*span)) return reallocate_of_pool(*pool, block, size);
  const std::size_t usable = usable_bytes(*span, block);
  if (is_slab(span)) {
    check_whole(class_of(*span), block);
    if (may_stay(class_of(*span), usable, size)) return block;
  } else if (size >= kGrowsInPlace / 2) {  // sizes that swing about the limit are not copied each time
    if (void* const resized = reallocate_large(span, size)) return resized;
  }
  return move_by_copy(block, usable, size);
}

// No door around malloc's blocks, as in memory_pool.cc.
[[gnu::noinline]] void* reallocate_missed(void* block, std::size_t size) {
  count_reallocation();
  if (PoolHeader* const pool = pool_over_system(block)) return reallocate_of_pool(*pool, block, size);
  return reallocate_behind_door(block, size);
}

// A block may move from a pool to the general pool, and into the pool of a scope.
void* reallocate_recorded(void* block, std::size_t size) {
  RecordedCall call(recorded_heap());
  const bool was_known = is_of_general_pool(block);
  const std::size_t bytes = was_known ? bytes_to_count(call, block) : 0;
  const std::uint64_t order = call.order();
  void* const moved = reallocate_missed(block, size);
  if (moved == nullptr) return moved;
  const bool is_known = is_of_general_pool(moved);
  if (was_known && is_known)
    call.note_resized(block, order, moved, size);
  else if (was_known)
    call.note_freed(block, order);
  else if (is_known)
    call.note_allocated(trace::Operation::kAllocate, moved, size);
  count_in_scopes(call, bytes, is_known ? moved : nullptr);
  return moved;
}

void* reallocate_slow(void* block, std::size_t size) {
  return sees_calls() ? reallocate_recorded(block, size) : reallocate_missed(block, size);
}

std::size_t usable_size_slow(const void* block) {
  if (guarded_blocks.owns(block)) return guarded_blocks.usable_bytes(block);
  if (PoolHeader* const pool = pool_over_system(block)) return pool->operations->usable_size(*pool, block);
  return block == nullptr ? 0 : usable_bytes(*span_of_block(block), block);
}

// The index of pages, which a thread's cache shows while no call needs the slow way, names the class of
// nearly every block. \returns the record that takes the block; kNone: the slow way must find it.
TARN_INLINE detail::RecordPlace record_that_takes(const void* block) {
  const detail::RecordPlace record = detail::record_of(detail::own_cache(), block);
  if (record != detail::RecordPlace::kNone) [[likely]]
    return record;
  return hits_are_hidden() ? detail::record_of(this_heap()->cache, block) : record;
}

}  // namespace

void* reallocate(void* block, std::size_t size) noexcept {
  if (block == nullptr) return allocate(size);  // all that some interpreters ever call
  const detail::RecordPlace record = record_that_takes(block);
  if (record == detail::RecordPlace::kNone) [[unlikely]]
    return reallocate_slow(block, size);
  const Span& slab = *page_map.find(block);
  if (!is_start_of_block(slab, block)) os::fatal("use of a pointer into a block", block);
  const SizeClass size_class = class_of_record(record);
  check_whole(size_class, block);
  if (is_private_class(size_class) && private_class(size_class).owner->asks_pool)
    return reallocate_slow(block, size);
  const std::size_t usable = usable_bytes_of(size_class);
  return may_stay(size_class, usable, size) ? block : move_by_copy(block, usable, size);
}

std::size_t usable_size(const void* block) noexcept {
  const detail::RecordPlace record = record_that_takes(block);
  if (record == detail::RecordPlace::kNone) [[unlikely]]
    return usable_size_slow(block);
  return usable_bytes_of(class_of_record(record));
}

std::size_t good_size(std::size_t size) noexcept {
  set_up_once();
  if (const std::size_t bytes = with_guard(size); bytes <= detail::kMediumLimit)
    return usable_bytes_of(class_of_size(bytes));
  return size > SIZE_MAX - kPageBytes ? size : round_up(size, step_of_large());
}

}  // namespace TARN_NAMESPACE
