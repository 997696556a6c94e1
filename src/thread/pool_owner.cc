#include "thread/pool_owner.h"

#include <algorithm>
#include <climits>

#include "base/bitmap.h"
#include "central/class_slabs.h"
#include "central/depot.h"
#include "central/owners.h"
#include "central/private_classes.h"
#include "central/remote_free.h"
#include "central/slab.h"
#include "central/trim.h"
#include "os/memory.h"
#include "os/process.h"
#include "page/page_cache.h"
#include "thread/magazine.h"
#include "thread/observation.h"
#include "thread/registry.h"
#include "thread/this_thread.h"

namespace tarn::internal {
namespace {

os::Mutex& mutex = os::global_mutex<os::LockRank::kPrivateClass>();

// Owners whose pool has ended, in a queue. Blocks of some may still be live.
constinit SlabOwner *first_ended = nullptr, *last_ended = nullptr;
constinit unsigned ended_count = 0;
constexpr unsigned kEndedTried = 16;

constexpr std::size_t kColouredStride = 128;        // a stride that is a multiple leaves cache sets unused
constexpr std::size_t kLargestColoured = 8 * 1024;  // larger: a slab has too few blocks to give one up

// Calls use(owner) for each part of a pool, and for the owner of its sampled blocks.
template <typename Use>
void for_each_owner(SlabOwner& owner, const Use& use) {
  for_each_part(owner, use);
  if (SlabOwner* const sampled = owner.sampled.load(std::memory_order_acquire)) use(*sampled);
}

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

void add_ended_locked(SlabOwner& owner) {
  owner.next_ended = nullptr;
  (ended_count == 0 ? first_ended : last_ended->next_ended) = &owner;
  last_ended = &owner;
  ++ended_count;
}

// \returns an owner whose pool has ended, and that has as many classes and no slab left; nullptr when none of
// `most` is such. The others go to the end of the queue.
SlabOwner* take_ended_locked(unsigned class_count, unsigned most) {
  for (unsigned left = at_most(most, ended_count); left != 0; --left) {
    SlabOwner& owner = *first_ended;
    first_ended = owner.next_ended;
    --ended_count;
    if (owner.class_count == class_count && !has_slabs(owner)) return &owner;
    add_ended_locked(owner);
  }
  return nullptr;
}

// \returns an owner with classes that no pool has had; nullptr when there are no more, or memory is refused.
SlabOwner* make_owner_locked(const ClassGeometry* geometries, unsigned class_count) {
  const unsigned first = end_of_classes.load(std::memory_order_relaxed), end = first + class_count;
  if (end > detail::kMostClasses) return nullptr;
  for (unsigned index = first; index < end; ++index)
    if (private_classes.make(class_of_index(index)) == nullptr) return nullptr;
  if (!registry.make_room_for_records(end)) return nullptr;
  os::LockGuard guard(owners.mutex());
  SlabOwner* const owner = owners.make_for_pool_locked(class_of_index(first), class_count);
  if (owner == nullptr) return nullptr;
  for (unsigned i = 0; i < class_count; ++i)
    private_class(class_of_index(first + i)) = {geometries[i], owner};
  end_of_classes.store(end, std::memory_order_release);
  return owner;
}

constexpr int kMostCounts = 4;

ClassCensus count_once(SlabOwner& owner, SizeClass size_class, ReturnedPages& returned) {
  std::size_t blocks = 0, unused = 0;
  PageCount pages{0};
  const auto add_heap = [&](const ThreadHeap& heap) { unused += count_left(heap, size_class); };
  const auto add_owner = [&](SlabOwner& one) {
    os::LockGuard guard(one.mutex);
    collect_pending_locked(one, size_class, returned);
    const OwnedClass& of_class = one.of(size_class);
    blocks += of_class.totals.blocks;
    pages += of_class.totals.pages;
    unused += parked_count(one, size_class) + free_blocks(of_class);
  };
  registry.for_each_and_rest(add_heap, [&] { for_each_owner(owner, add_owner); });
  return {blocks > unused ? blocks - unused : 0, bytes_of(pages), blocks};
}

// What is parked may be of another part's slab, and collecting the announcements of one part may pass some on
// to another: so all of these come before the first slab is looked at.
void end_free_slabs(SlabOwner& owner, ReturnedPages& returned) {
  const auto for_each_class = [&](const auto& use) {
    for_each_owner(owner, [&](SlabOwner& one) {
      os::LockGuard guard(one.mutex);
      for (const SizeClass size_class : classes_of(one)) use(one, size_class);
    });
  };
  for_each_class(
      [&](SlabOwner& one, SizeClass size_class) { return_parked(one, size_class, UINT_MAX, returned); });
  for_each_class(
      [&](SlabOwner& one, SizeClass size_class) { collect_pending_locked(one, size_class, returned); });
  for_each_class([&](SlabOwner& one, SizeClass size_class) {
    for (Span* slab = one.of(size_class).full.first(); slab != nullptr; slab = slab->next)
      keep_no_longer(one, slab);
    trim_class_locked(one, size_class, TrimDepth::kAll, returned);
    end_spare_slabs(one, 0, returned);
  });
}

/// The slabs of a class by their addresses. \pre no other thread uses the pool meanwhile.
class SlabsInOrder {
 public:
  SlabsInOrder(SlabOwner& owner, SizeClass size_class) : owner_(owner), class_(size_class) {
    for_each([&](Span*) { ++count_; });
    bytes_ = round_up((count_ + 1) * sizeof(Span*), os::page_bytes());
    sorted_ = static_cast<Span**>(os::map(bytes_));
    if (sorted_ == nullptr) return;
    std::size_t added = 0;
    for_each([&](Span* slab) {
      if (added != count_) sorted_[added++] = slab;
    });
    count_ = added;
    std::sort(sorted_, sorted_ + count_, [](const Span* a, const Span* b) { return a->start < b->start; });
  }
  ~SlabsInOrder() {
    if (sorted_ != nullptr) os::release(sorted_, bytes_);
  }
  SlabsInOrder(const SlabsInOrder&) = delete;
  SlabsInOrder& operator=(const SlabsInOrder&) = delete;

  /// \returns nullptr behind the last one. \cost a look at each slab when memory for their order is refused.
  const Span* next() {
    if (sorted_ != nullptr) return at_ == count_ ? nullptr : sorted_[at_++];
    const Span* lowest = nullptr;
    for_each([&](const Span* slab) {
      const bool is_behind = last_ == nullptr || slab->start > last_->start;
      if (is_behind && (lowest == nullptr || slab->start < lowest->start)) lowest = slab;
    });
    if (lowest != nullptr) last_ = lowest;
    return lowest;
  }

 private:
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for_each_owner(owner_, [&](SlabOwner& one) {
      os::LockGuard guard(one.mutex);  // a look may sort the lists
      for (Span* slab = one.of(class_).available.first(); slab != nullptr; slab = slab->next) visit(slab);
      for (Span* slab = one.of(class_).full.first(); slab != nullptr; slab = slab->next) visit(slab);
    });
  }

  SlabOwner& owner_;
  const SizeClass class_;
  Span** sorted_ = nullptr;
  std::size_t count_ = 0, bytes_ = 0, at_ = 0;
  const Span* last_ = nullptr;
};

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

SlabOwner* acquire_pool_owner(const ClassGeometry* geometries, unsigned class_count) {
  ReturnedPages returned;
  os::LockGuard guard(mutex);
  SlabOwner* owner = take_ended_locked(class_count, kEndedTried);
  if (owner == nullptr) owner = make_owner_locked(geometries, class_count);
  if (owner == nullptr) owner = take_ended_locked(class_count, UINT_MAX);
  if (owner == nullptr) return nullptr;
  // Of blocks that outlived the last pool. No slab is left, so no thread has one more to push.
  if (owner->outlived) drop_magazines(*owner, all_heaps, returned);
  for (unsigned i = 0; i < class_count; ++i)
    private_class(class_of_index(index_of_class(owner->first_class) + i)).geometry = geometries[i];
  for_each_owner(*owner, [](SlabOwner& one) {
    os::LockGuard one_guard(one.mutex);  // a look may come to it
    one.peak_taken_bytes = 0;
    one.largest_taken_bytes = 0;
  });
  owner->waits = 0;
  owner->others_in_use.store(0, std::memory_order_relaxed);
  os::LockGuard owners_guard(owners.mutex());  // set_magazine_limit() comes before, or finds the owner
  owner->kept_limit_bytes = std::size_t{thread_limits.magazine_bytes};
  return owner;
}

void begin_to_end(SlabOwner& owner) {
  const GiveBackGuard give_back;
  for_each_owner(owner, [](SlabOwner& one) { one.is_ending.store(true, std::memory_order_relaxed); });
}

void release_pool_owner(SlabOwner& owner) {
  for_each_owner(owner, [](SlabOwner& one) { one.is_ending.store(false, std::memory_order_relaxed); });
  owner.outlived = has_slabs(owner);
  os::LockGuard guard(mutex);
  add_ended_locked(owner);
}

ClassCensus take_census(SlabOwner& owner, SizeClass size_class, ReturnedPages& returned) {
  const GiveBackGuard give_back;  // so no free block is out of its slab
  // Free blocks that go from a magazine to their slab meanwhile count twice, or not at all; of a class that
  // no thread uses, few do. Slabs stay in their parts.
  ClassCensus census = count_once(owner, size_class, returned);
  for (int tries = 0; tries < kMostCounts; ++tries) {
    const ClassCensus before = census;
    census = count_once(owner, size_class, returned);
    if (census.live_count == before.live_count) break;
  }
  return census;
}

std::size_t largest_taken_bytes(SlabOwner& owner) {
  std::size_t bytes = 0;
  for_each_owner(owner, [&](const SlabOwner& one) { bytes += one.largest_taken_bytes; });
  return bytes;
}

void settle(SlabOwner& owner) {
  ReturnedPages returned;
  const GiveBackGuard give_back;  // so no free block is out of its slab
  drop_magazines(owner, all_heaps, returned);
  end_free_slabs(owner, returned);
  returned.give_back();
}

std::size_t release_unused_slabs(SlabOwner& owner) {
  ReturnedPages returned;
  drop_magazines(owner, is_of_this_thread_or_none, returned);
  end_free_slabs(owner, returned);
  return returned.bytes();
}

void visit_live_blocks(SlabOwner& owner, SizeClass size_class, const BlockVisitor& visit) {
  SlabsInOrder slabs(owner, size_class);
  while (const Span* const slab = slabs.next())
    for (BlockIndex i{0}; number_of(i) < slab->block_count; ++i)
      if (!is_marked_free_locked(*slab, i)) visit(slab->block(i));
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
    keep_slab(owner, slab);
    os::populate(slab->first_page(), slab->bytes());
  }
  return free_count;
}

}  // namespace tarn::internal
