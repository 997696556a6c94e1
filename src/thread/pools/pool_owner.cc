#include "thread/pools/pool_owner.h"

#include <climits>
#include <cstring>

#include "base/bitmap.h"
#include "central/cached/cached_blocks.h"
#include "central/cached/depot.h"
#include "central/owners.h"
#include "central/private_classes.h"
#include "central/slabs/class_slabs.h"
#include "central/slabs/remote_free.h"
#include "central/slabs/slab.h"
#include "central/take_blocks.h"
#include "central/trim.h"
#include "os/checker.h"
#include "os/memory/memory.h"
#include "page/give_back/page_cache.h"
#include "page/spans/live_map.h"
#include "thread/magazine.h"
#include "thread/observation/observation.h"
#include "thread/registry.h"
#include "thread/spans_in_order.h"
#include "thread/this_thread.h"

namespace tarn::internal {
namespace {

os::Mutex& mutex = os::global_mutex<os::LockRank::kPrivateClass>();

/// Owners of pools that have ended. Blocks of some may still be live.
struct EndedOwners {
  SlabOwner *first, *last;
  unsigned count;
};
constinit EndedOwners ended_with_records{}, ended_without{};
constexpr unsigned kEndedTried = 16;

bool has_records(const SlabOwner& owner) { return owner.first_class != SizeClass::kNone; }

constexpr std::size_t kColouredStride = 128;        // a stride that is a multiple leaves cache sets unused
constexpr std::size_t kLargestColoured = 8 * 1024;  // larger: a slab has too few blocks to give one up

bool all_heaps(const ThreadHeap&) { return true; }
bool is_of_this_thread_or_none(const ThreadHeap& heap) { return &heap == this_heap() || heap.is_left(); }

// Drops what threads have of the classes.
template <typename Which>
void drop_magazines(const SlabOwner& owner, const Which& which, ReturnedPages& returned) {
  registry.for_each_heap([&](ThreadHeap& heap) {
    if (!which(heap)) return;
    for (const SizeClass size_class : classes_of(owner)) drop_magazine_locked(heap, size_class, returned);
  });
}

bool has_slabs(SlabOwner& owner) {
  bool has = false;
  for_each_owner(owner, [&](SlabOwner& one) { has |= one.classes_with_slabs != 0; });
  return has;
}

void add_ended_locked(EndedOwners& ended, SlabOwner& owner) {
  owner.next_ended = nullptr;
  (ended.count == 0 ? ended.first : ended.last->next_ended) = &owner;
  ended.last = &owner;
  ++ended.count;
}

// \returns an owner of an ended pool that has as many classes and no slab left, of the first `most` in the
// queue; nullptr when there is none among these. The others go to the end of the queue.
SlabOwner* take_ended_locked(const PoolOwnerRequest& request, unsigned most) {
  EndedOwners& ended = request.has_records ? ended_with_records : ended_without;
  for (unsigned left = at_most(most, ended.count); left != 0; --left) {
    SlabOwner& owner = *ended.first;
    ended.first = owner.next_ended;
    --ended.count;
    if (owner.class_count == request.class_count && !has_slabs(owner)) return &owner;
    add_ended_locked(ended, owner);
  }
  return nullptr;
}

void write_geometries(SlabOwner& owner, const PoolOwnerRequest& request) {
  for (unsigned i = 0; i < request.class_count; ++i) owner.geometries[i] = request.geometries[i];
}

SlabOwner* make_owner_without_records_locked(const PoolOwnerRequest& request) {
  os::LockGuard guard(owners.mutex());
  return owners.make_for_pool_locked(SizeClass::kNone, request.class_count);
}

// \returns an owner with classes that no pool has had; nullptr when there are no more, or memory is refused.
SlabOwner* make_owner_locked(const PoolOwnerRequest& request) {
  if (!request.has_records) return make_owner_without_records_locked(request);
  const unsigned first = end_of_classes.load(std::memory_order_relaxed), end = first + request.class_count;
  if (end > detail::kMostClasses) return nullptr;
  for (unsigned index = first; index < end; ++index)
    if (private_classes.make(class_of_index(index)) == nullptr) return nullptr;
  if (!registry.make_room_for_records(end)) return nullptr;
  os::LockGuard guard(owners.mutex());
  SlabOwner* const owner = owners.make_for_pool_locked(class_of_index(first), request.class_count);
  if (owner == nullptr) return nullptr;
  write_geometries(*owner, request);
  for (unsigned index = first; index < end; ++index) private_class(class_of_index(index)).owner = owner;
  end_of_classes.store(end, std::memory_order_release);
  return owner;
}

constexpr int kMostCounts = 4;

// Most threads use few pools. Their records of classes lie in blocks, made when one is first used.
bool has_magazines_of(const ThreadHeap& heap, const SlabOwner& owner) {
  static_assert(kBinCount <= PerClass<Magazine>::kInBlock, "an owner's classes lie in two blocks at most");
  auto& magazines = const_cast<ThreadHeap&>(heap).magazines;
  const unsigned first = index_of_class(owner.first_class), last = first + owner.class_count - 1;
  return magazines.find(class_of_index(first)) != nullptr || magazines.find(class_of_index(last)) != nullptr;
}

PoolCensus count_once(SlabOwner& owner, ReturnedPages& returned) {
  std::size_t blocks = 0, unused = 0, bytes = 0, unused_bytes = 0;
  PageCount pages{0};
  const auto add_unused = [&](SizeClass size_class, std::size_t count) {
    unused += count;
    unused_bytes += count * geometry_of(owner, size_class).stride;
  };
  const auto add_heap = [&](const ThreadHeap& heap) {
    if (!has_magazines_of(heap, owner)) return;
    for (const SizeClass size_class : classes_of(owner)) add_unused(size_class, count_left(heap, size_class));
  };
  const auto add_owner = [&](SlabOwner& one) {
    os::LockGuard guard(one.mutex);
    for (const SizeClass size_class : classes_of(one)) {
      collect_pending_locked(one, size_class, returned);
      add_unused(size_class, parked_count(one, size_class));
      if (!one.has_slabs(size_class)) continue;
      const OwnedClass& of_class = one.of(size_class);
      blocks += of_class.totals.blocks;
      bytes += of_class.totals.blocks * geometry_of(owner, size_class).stride;
      pages += of_class.totals.pages;
      add_unused(size_class, free_blocks(of_class));
    }
    add_unused(one.first_class, cached_block_count(one));
  };
  registry.for_each_and_rest(add_heap, [&] { for_each_owner(owner, add_owner); });
  // Threads go on meanwhile: a block that goes from a magazine to its slab between the two counts is unused
  // twice, so the sum may exceed the total.
  return {blocks > unused ? blocks - unused : 0, bytes > unused_bytes ? bytes - unused_bytes : 0,
          bytes_of(pages), blocks};
}

// Calls use(owner, class), with the owner's mutex held.
template <typename Use>
void for_each_class(SlabOwner& owner, const Use& use) {
  for_each_owner(owner, [&](SlabOwner& one) {
    os::LockGuard guard(one.mutex);
    for (const SizeClass size_class : classes_of(one)) use(one, size_class);
  });
}

// What is parked may be of another part's slab, and collecting the announcements of one part may pass some on
// to another: so all of these come before the first slab is looked at.
void gather_free_blocks(SlabOwner& owner, ReturnedPages& returned) {
  for_each_class(owner, [&](SlabOwner& one, SizeClass size_class) {
    return_parked(one, size_class, UINT_MAX, returned);
  });
  for_each_class(owner, [&](SlabOwner& one, SizeClass size_class) {
    collect_pending_locked(one, size_class, returned);
  });
}

void end_free_slabs(SlabOwner& owner, SpareSlabs spare, ReturnedPages& returned) {
  gather_free_blocks(owner, returned);
  for_each_class(owner, [&](SlabOwner& one, SizeClass size_class) {
    for (Span* slab = one.of(size_class).full.first(); slab != nullptr; slab = slab->next)
      keep_no_longer(one, slab);
    trim_class_locked(one, size_class, TrimDepth::kAll, returned);
    if (spare == SpareSlabs::kGo) one.kept_spare_bytes = 0;
    end_spare_slabs(one, 0, returned);
  });
}

}  // namespace

ClassGeometry pool_geometry(std::size_t bytes, std::size_t alignment) {
  if (bytes == 0) bytes = 1;
  if (alignment < 8) alignment = 8;
  // Multiples of 512 B get at most one line more, as in the general table. If blocks still lie on few cache
  // sets, each slab begins at another line. Measured: docs/decisions/004-pools.md.
  std::size_t stride = round_up(bytes, alignment);
  if (alignment <= 16) {
    stride = coloured_stride(static_cast<std::uint32_t>(stride));
  } else if (alignment <= kCacheLineBytes && stride % 512 == 0 && stride <= kOwnSlabBlockBytes) {
    stride += kCacheLineBytes;
  }
  ClassGeometry geometry =
      make_geometry(static_cast<std::uint32_t>(bytes), static_cast<std::uint32_t>(stride));
  if (alignment <= kCacheLineBytes && stride % kColouredStride == 0 && bytes <= kLargestColoured)
    geometry.colours = static_cast<std::uint16_t>(stride / kCacheLineBytes);
  return geometry;
}

ClassGeometry chunk_geometry(std::size_t stride, std::size_t alignment, std::size_t blocks) {
  constexpr std::size_t kMostBytes = UINT32_MAX;
  const std::size_t most = kMostBytes / stride;
  const std::size_t count = blocks < most ? blocks : most;
  ClassGeometry geometry =
      make_geometry(static_cast<std::uint32_t>(stride), static_cast<std::uint32_t>(stride));
  geometry.block_count = static_cast<std::uint16_t>(count);
  geometry.word_count = static_cast<std::uint16_t>(bitmap::words_for(count));
  geometry.slab_pages = geometry.first_slab_pages = pages_for(count * stride);
  // Slabs begin at other lines where there is room for that.
  const std::size_t rest = bytes_of(geometry.slab_pages) - count * stride;
  geometry.colours =
      alignment <= kCacheLineBytes ? static_cast<std::uint16_t>(rest / kCacheLineBytes + 1) : 1;
  return geometry;
}

SlabOwner* acquire_pool_owner(const PoolOwnerRequest& request) {
  ReturnedPages returned;
  os::LockGuard guard(mutex);
  SlabOwner* owner = take_ended_locked(request, kEndedTried);
  if (owner == nullptr) owner = make_owner_locked(request);
  if (owner == nullptr) owner = take_ended_locked(request, UINT_MAX);
  if (owner == nullptr) return nullptr;
  // Of blocks that outlived the last pool. No slab is left, so no thread has one more to push.
  if (owner->outlived) drop_magazines(*owner, all_heaps, returned);
  for (const SizeClass size_class : classes_of(*owner)) live_map.end_class(size_class);
  for_each_owner(*owner, [&](SlabOwner& one) {
    os::LockGuard one_guard(one.mutex);  // a look may come to it
    write_geometries(one, request);
    one.peak_taken_bytes = 0;
    one.largest_taken_bytes = 0;
    one.hides_slabs = request.hides_slabs || one.is_sampled;
    one.keeps_slabs = request.keeps_slabs;
    one.asks_pool = request.asks_pool;
    one.has_one_part = request.has_one_part;
    one.has_counts = request.has_counts;
    one.has_slots = request.has_slots;
    one.poisons = request.poisons;
    one.account = request.account;
    one.accounted_bytes = one.taken_bytes;
    one.density = request.density;
  });
  std::strncpy(owner->pool_name, request.name, sizeof owner->pool_name - 1);
  owner->waits = 0;
  owner->no_magazines.store(0, std::memory_order_relaxed);
  owner->room.store(request.most_blocks, std::memory_order_relaxed);
  owner->others_in_use.store(0, std::memory_order_relaxed);
  os::LockGuard owners_guard(owners.mutex());  // set_magazine_limit() comes before, or finds the owner
  owner->kept_limit_bytes = std::size_t{thread_limits.magazine_bytes};
  return owner;
}

void begin_to_end(SlabOwner& owner) {
  const GiveBackGuard give_back;
  for_each_owner(owner, [](SlabOwner& one) { one.is_ending.store(true, std::memory_order_relaxed); });
}

void end_no_more(SlabOwner& owner) {
  for_each_owner(owner, [](SlabOwner& one) { one.is_ending.store(false, std::memory_order_relaxed); });
}

void release_pool_owner(SlabOwner& owner) {
  end_no_more(owner);
  for_each_owner(owner, [](SlabOwner& one) {
    os::LockGuard guard(one.mutex);  // the account may end now
    one.account = nullptr;
  });
  owner.outlived = has_slabs(owner);
  os::LockGuard guard(mutex);
  add_ended_locked(has_records(owner) ? ended_with_records : ended_without, owner);
}

void* take_block(SlabOwner& owner, SizeClass size_class, ReturnedPages& returned) {
  void* block = nullptr;
  os::LockGuard guard(owner.mutex);
  ++owner.slow_calls;
  if (take_blocks_locked(owner, size_class, &block, 1, returned) == 1)
    detail::begin_live(live_word(size_class), block);
  return block;
}

PoolCensus take_census(SlabOwner& owner, ReturnedPages& returned) {
  const GiveBackGuard give_back;  // so no free block is out of its slab
  // Free blocks that go from a magazine to their slab meanwhile count twice, or not at all; of a pool that no
  // thread uses, few do. Slabs stay in their parts.
  PoolCensus census = count_once(owner, returned);
  for (int tries = 0; tries < kMostCounts; ++tries) {
    const PoolCensus before = census;
    census = count_once(owner, returned);
    if (census.live_count == before.live_count) break;
  }
  return census;
}

std::size_t largest_taken_bytes(SlabOwner& owner) {
  std::size_t bytes = 0;
  for_each_owner(owner, [&](const SlabOwner& one) { bytes += one.largest_taken_bytes; });
  return bytes;
}

void settle(SlabOwner& owner, ReturnedPages& returned, SpareSlabs spare) {
  const GiveBackGuard give_back;  // so no free block is out of its slab
  drop_magazines(owner, all_heaps, returned);
  end_free_slabs(owner, spare, returned);
}

void return_magazines_of_caller(SlabOwner& owner, ReturnedPages& returned) {
  drop_magazines(owner, is_of_this_thread_or_none, returned);
}

void return_free_blocks_of_caller(SlabOwner& owner, ReturnedPages& returned) {
  return_magazines_of_caller(owner, returned);
  gather_free_blocks(owner, returned);
}

void release_unused_slabs(SlabOwner& owner, ReturnedPages& returned) {
  return_magazines_of_caller(owner, returned);
  end_free_slabs(owner, SpareSlabs::kGo, returned);
}

void visit_live_blocks(SlabOwner& owner, SizeClass size_class, const BlockVisitor& visit) {
  SlabsInOrder slabs(SlabsOfClass{owner, size_class});
  while (const Span* const slab = slabs.next())
    for (BlockIndex i{0}; number_of(i) < slab->block_count; ++i)
      if (!is_marked_free_locked(*slab, i)) visit(slab->block(i));
}

void mark_block_free(void* block) {
  BlockIndex index{};
  Span* const slab = slab_of_block(block, &index);
  detail::end_live(live_word(slab->size_class.load(std::memory_order_relaxed)), block);
  if (observation.has_begun()) observation.note_freed(block);
  SlabOwner& owner = *slab->owner.load(std::memory_order_acquire);
  os::LockGuard guard(owner.mutex);
  mark_free(*slab, bitmap::word_of(index), bitmap::bit(index));
  owner.missing_run = UINT32_MAX;
  owner.taken_bytes -= slab->stride;
  settle_account(owner);
  place_slab(owner, slab);
}

namespace {

// What was live is so no more, for those who free it later.
void free_all_locked(SlabOwner& owner, const List<Span>& slabs) {
  owner.missing_run = UINT32_MAX;
  for (Span* slab = slabs.first(); slab != nullptr; slab = slab->next) {
    owner.taken_bytes -= std::size_t{slab->block_count - slab->free_count} * slab->stride;
    if (slab->free_count != slab->block_count)
      live_map.clear(slab->size_class.load(std::memory_order_relaxed), slab->start,
                     std::size_t{slab->block_count} * slab->stride);
    bitmap::fill(slab->free_bits, slab->block_count);
    slab->free_count = slab->block_count;
    slab->scan_word = 0;
    slab->longest_run = slab->block_count;
    slab->quiet = Quiet::kNot;
    if (slab->is_listed()) slab->settle_at = slab->block_count;
    if (owner.poisons) os::poison(slab->start, std::size_t{slab->block_count} * slab->stride);
  }
}

void populate(const Span& slab) {
  os::populate(slab.first_page(), slab.bytes());
  live_map.populate(slab.size_class.load(std::memory_order_relaxed), slab.start,
                    std::size_t{slab.block_count} * slab.stride);
}

void populate_all(const List<Span>& slabs) {
  for (const Span* slab = slabs.first(); slab != nullptr; slab = slab->next) populate(*slab);
}

}  // namespace

void return_all_cached(SlabOwner& owner, ReturnedPages& returned) {
  const GiveBackGuard give_back;  // so no free block is out of its slab
  drop_magazines(owner, all_heaps, returned);
  gather_free_blocks(owner, returned);
}

void free_all_blocks(SlabOwner& owner, ReturnedPages& returned) {
  const GiveBackGuard give_back;
  for_each_class(owner, [&](SlabOwner& one, SizeClass size_class) {
    collect_pending_locked(one, size_class, returned);
    free_all_locked(one, one.of(size_class).available);
    free_all_locked(one, one.of(size_class).full);
    while (Span* const slab = one.of(size_class).full.first()) place_slab(one, slab);
    settle_account(one);
  });
}

std::size_t add_slabs(SlabOwner& owner, SizeClass size_class, std::size_t count, bool populates) {
  std::size_t blocks = 0;
  os::LockGuard guard(owner.mutex);
  while (blocks < count) {
    const Span* const slab = make_slab_locked(owner, size_class, /*is_used_now=*/false);
    if (slab == nullptr) break;
    blocks += slab->block_count;
  }
  if (populates) {
    populate_all(owner.of(size_class).available);
    populate_all(owner.of(size_class).full);
  }
  return blocks;
}

std::size_t slab_count(SlabOwner& owner) {
  std::size_t slabs = 0;
  for_each_owner(owner, [&](const SlabOwner& one) {
    for (const SizeClass size_class : classes_of(one)) slabs += one.of(size_class).totals.slabs;
  });
  return slabs;
}

std::size_t prewarm_class(SlabOwner& owner, SizeClass size_class, std::size_t count) {
  os::LockGuard guard(owner.mutex);
  const List<Span>& available = owner.of(size_class).available;
  std::size_t free_count = free_blocks(owner.of(size_class));
  while (free_count < count) {
    const Span* const slab = make_slab_locked(owner, size_class);
    if (slab == nullptr) break;
    free_count += slab->free_count;
  }
  for (Span* slab = available.first(); slab != nullptr; slab = slab->next) {
    // Unused till they are needed: a look for unused slabs would give them back.
    keep_slab(owner, slab);
    populate(*slab);
  }
  return free_count;
}

}  // namespace tarn::internal
