#include "thread/private_class.h"

#include <atomic>
#include <climits>

#include "base/bitmap.h"
#include "central/class_slabs.h"
#include "central/depot.h"
#include "central/private_classes.h"
#include "central/remote_free.h"
#include "central/slab.h"
#include "central/trim.h"
#include "os/memory.h"
#include "page/page_cache.h"
#include "page/page_map.h"
#include "thread/magazine.h"
#include "thread/observation.h"
#include "thread/registry.h"

namespace tarn::internal {
namespace {

os::Mutex& mutex = os::global_mutex<os::LockRank::kPrivateClass>();

// Classes whose pool has ended, in a queue. Blocks of some may still be live.
constinit SizeClass first_ended = SizeClass::kNone, last_ended = SizeClass::kNone;
constinit unsigned ended_count = 0;
constexpr unsigned kEndedTried = 16;

constexpr std::size_t kColouredStride = 128;        // a stride that is a multiple leaves cache sets unused
constexpr std::size_t kLargestColoured = 8 * 1024;  // larger: a slab has too few blocks to give one up

ClassGeometry geometry_for(std::size_t bytes, std::size_t alignment) {
  if (alignment < 8) alignment = 8;
  // Multiples of 512 B get at most one line more, as in the general table. If blocks still lie on few cache
  // sets, each slab begins at another line. Measured: docs/decisions/004-pools.md.
  std::size_t stride = round_up(bytes, alignment);
  if (alignment <= 16) {
    stride = coloured_stride(static_cast<std::uint32_t>(stride));
  } else if (alignment <= kCacheLineBytes && stride % 512 == 0 && stride <= kOwnSlabBlockBytes) {
    stride += kCacheLineBytes;
  }
  // The reciprocal must be exact for every block of a slab.
  for (;; stride += alignment) {
    ClassGeometry geometry =
        make_geometry(static_cast<std::uint32_t>(bytes), static_cast<std::uint32_t>(stride));
    if (alignment <= kCacheLineBytes && stride % kColouredStride == 0 && bytes <= kLargestColoured)
      geometry.colours = static_cast<std::uint16_t>(stride / kCacheLineBytes);
    bool is_exact = true;
    for (std::uint32_t i = 0; i < geometry.block_count && is_exact; ++i)
      is_exact = index_of(geometry, i * geometry.stride) == BlockIndex{i};
    if (is_exact) return geometry;
  }
}

// Drops all magazines of the class. No slab is left, so no thread has a block of the class to push.
void forget_magazines(SizeClass size_class, ReturnedPages& returned) {
  registry.for_each_heap([&](ThreadHeap& heap) { drop_magazine_locked(heap, size_class, returned); });
}

bool has_slabs(SizeClass size_class) {
  std::size_t slabs = 0;
  owners.for_each([&](SlabOwner& owner) { slabs += owner.classes.at(size_class).totals.slabs; });
  return slabs != 0;
}

void add_ended_locked(SizeClass size_class) {
  private_class(size_class).next_ended = SizeClass::kNone;
  (ended_count == 0 ? first_ended : private_class(last_ended).next_ended) = size_class;
  last_ended = size_class;
  ++ended_count;
}

// \returns a class that a pool has had, and of which no slab is left; kNone when none of `most` is. Those
// that have some go to the end of the queue.
SizeClass take_ended_locked(unsigned most, ReturnedPages& returned) {
  for (unsigned left = at_most(most, ended_count); left != 0; --left) {
    const SizeClass size_class = first_ended;
    first_ended = private_class(size_class).next_ended;
    --ended_count;
    if (!has_slabs(size_class)) {
      forget_magazines(size_class, returned);
      return size_class;
    }
    add_ended_locked(size_class);
  }
  return SizeClass::kNone;
}

// \returns a class that no pool has had; kNone when there are no more, or memory is refused.
SizeClass make_class_locked(const ClassGeometry& geometry) {
  const unsigned index = end_of_classes.load(std::memory_order_relaxed);
  const SizeClass size_class = class_of_index(index);
  if (index == detail::kMostClasses || private_classes.make(size_class) == nullptr) return SizeClass::kNone;
  if (!registry.make_room_for_records(index + 1)) return SizeClass::kNone;
  private_class(size_class).geometry = geometry;
  end_of_classes.store(index + 1, std::memory_order_release);
  return size_class;
}

constexpr int kMostCounts = 4;

ClassCensus count_once(SizeClass size_class, ReturnedPages& returned) {
  std::size_t total = 0, unused = 0;
  PageCount pages{0};
  const auto count_owner = [&](SlabOwner& owner) {
    collect_pending_locked(owner, size_class, returned);
    const OwnedClass& of_class = owner.classes.at(size_class);
    total += of_class.totals.blocks;
    pages += of_class.totals.pages;
    unused += parked_count(owner, size_class);
    for (const Span* slab = of_class.available.first(); slab != nullptr; slab = slab->next)
      unused += slab->free_count;
  };
  registry.for_each([&](const ThreadHeap& heap) { unused += count_left(heap, size_class); }, count_owner);
  return {total > unused ? total - unused : 0, bytes_of(pages), total};
}

}  // namespace

SizeClass acquire_private_class(std::size_t bytes, std::size_t alignment) {
  ReturnedPages returned;
  os::LockGuard guard(mutex);
  const ClassGeometry geometry = geometry_for(bytes == 0 ? 1 : bytes, alignment);
  SizeClass size_class = take_ended_locked(kEndedTried, returned);
  if (size_class == SizeClass::kNone) size_class = make_class_locked(geometry);
  if (size_class == SizeClass::kNone) size_class = take_ended_locked(UINT_MAX, returned);
  if (size_class == SizeClass::kNone) return size_class;
  PrivateClass& of_pool = private_class(size_class);
  of_pool.peak_block_count.store(0, std::memory_order_relaxed);
  of_pool.geometry = geometry;
  return size_class;
}

void begin_to_end_private_class(SizeClass size_class) {
  const GiveBackGuard give_back;
  private_class(size_class).is_ending.store(true, std::memory_order_relaxed);
}

void release_private_class(SizeClass size_class) {
  PrivateClass& ended = private_class(size_class);
  ended.is_ending.store(false, std::memory_order_relaxed);
  os::LockGuard guard(mutex);
  add_ended_locked(size_class);
}

ClassCensus count_private_class(SizeClass size_class, ReturnedPages& returned) {
  const GiveBackGuard give_back;  // so no free block is out of its slab
  // Free blocks that go from a magazine or a depot to their slab meanwhile count twice, or not at all; of a
  // class that no thread uses, few do.
  ClassCensus census = count_once(size_class, returned);
  for (int tries = 0; tries < kMostCounts; ++tries) {
    const ClassCensus before = census;
    census = count_once(size_class, returned);
    if (census.live_count == before.live_count) break;
  }
  return census;
}

std::size_t peak_of_private_class(SizeClass size_class) {
  return private_class(size_class).peak_block_count.load(std::memory_order_relaxed);
}

std::size_t settle_private_class(SizeClass size_class) {
  ReturnedPages returned;
  const std::size_t before = count_private_class(size_class, returned).slab_bytes;
  {
    const GiveBackGuard give_back;  // so no free block is out of its slab
    registry.for_each_heap([&](ThreadHeap& heap) { drop_magazine_locked(heap, size_class, returned); });
    owners.for_each([&](SlabOwner& owner) { return_parked(owner, size_class, UINT_MAX, returned); });
    // Blocks in slabs of other owners came back as remote frees.
    owners.for_each(
        [&](SlabOwner& owner) { trim_class_locked(owner, size_class, TrimDepth::kAll, returned); });
    returned.give_back();
  }
  const std::size_t after = count_private_class(size_class, returned).slab_bytes;
  return before > after ? before - after : 0;
}

void visit_live_blocks(SizeClass size_class, const BlockVisitor& visit) {
  for (std::uint32_t r = 0; r < page_map.region_count(); ++r) {
    const Region& region = page_map.region(r);
    const std::size_t pages = std::size_t{region.committed_chunks} * kPagesPerChunk;
    const Span* last = nullptr;
    for (std::size_t page = 0; page < pages; ++page) {
      const Span* const span = static_cast<const Span*>(region.spans[page].load(std::memory_order_acquire));
      // Check the owner before the class: a spare slab has no owner, and other threads make slabs of other
      // classes of it.
      if (span == nullptr || span == last || span->owner.load(std::memory_order_acquire) == nullptr) continue;
      if (span->size_class.load(std::memory_order_relaxed) != size_class) continue;
      last = span;
      for (BlockIndex i{0}; number_of(i) < span->block_count; ++i)
        if (!is_marked_free_locked(*span, i)) visit(span->block(i));
    }
  }
}

void mark_block_free(void* block) {
  BlockIndex index{};
  Span* const slab = slab_of_block(block, &index);
  if (observation.has_begun()) observation.note_freed(block);
  SlabOwner& owner = *slab->owner.load(std::memory_order_acquire);
  os::LockGuard guard(owner.mutex);
  mark_free(*slab, bitmap::word_of(index), bitmap::bit(index));
  owner.taken_bytes -= slab->stride;
  place_slab(owner, slab);
}

std::size_t prewarm_class(ThreadHeap& heap, SizeClass size_class, std::size_t count) {
  SlabOwner& owner = *heap.home;
  heap.stays_home = true;
  os::LockGuard guard(owner.mutex);
  if (!owner.make_class(size_class)) return 0;
  const List<Span>& available = owner.classes.made(size_class).available;
  std::size_t free_count = 0;
  for (Span* slab = available.first(); slab != nullptr; slab = slab->next) free_count += slab->free_count;
  while (free_count < count) {
    const Span* const slab = make_slab_locked(owner, size_class);
    if (slab == nullptr) break;
    free_count += slab->free_count;
  }
  for (Span* slab = available.first(); slab != nullptr; slab = slab->next) {
    keep_slab(owner, slab);
    os::populate(slab->first_page(), slab->bytes());
  }
  return free_count;
}

}  // namespace tarn::internal
