#include "pool/heaps/heap_classes.h"

#include <cerrno>

#include "base/bitmap.h"
#include "central/owners.h"
#include "central/slabs/class_slabs.h"
#include "central/slabs/slab.h"
#include "general/class_calls.h"
#include "general/options/memory_limits.h"
#include "general/options/setup.h"
#include "general/slow_door.h"
#include "os/fatal.h"
#include "os/locks/owner_lock.h"
#include "os/memory/memory.h"
#include "page/give_back/page_cache.h"
#include "page/spans.h"
#include "page/spans/live_map.h"
#include "page/spans/page_map.h"
#include "pool/freed_block.h"
#include "pool/watched_blocks.h"
#include "thread/observation/observation.h"
#include "thread/pools/pool_owner.h"
#include "thread/registry.h"
#include "thread/thread_heap.h"

namespace tarn::internal {

using detail::HeapState;

constinit HeapClasses heap_classes{};

namespace {

constexpr std::size_t kPlentyShare = 8;

// Each distinct class of the table once, by its first bin, and above 32 KiB each bin. Blocks are charged, and
// told, as large as they are: with the line that a stride may have more.
void find_classes_locked() {
  if (heap_classes.count != 0) return;
  HeapClasses& classes = heap_classes;
  std::uint8_t place_of[kBinCount] = {};
  for (unsigned bin = 1; bin <= detail::kTinyBin; ++bin) {
    const bool is_fine = bin_limit(Bin{bin}) > kOwnSlabBlockBytes;
    const SizeClass size_class = is_fine ? finest_class(Bin{bin}) : detail::class_of_bin[Bin{bin}];
    std::uint8_t& place = place_of[index_of_class(size_class)];
    if (place == 0) {
      ClassGeometry& geometry = classes.geometries[classes.count] = bin_geometry[size_class];
      geometry.block_bytes = geometry.stride;
      place = static_cast<std::uint8_t>(++classes.count);
    }
    classes.of_bin[bin] = static_cast<std::uint8_t>(place - 1);
  }
  classes.of_bin[0] = classes.of_bin[detail::kTinyBin];
}

bool has_limit(const HeapState& heap) { return heap.account.least_limit() != SIZE_MAX; }

// Whether each free comes to the heap, also one that knows the address alone: of the library's own heaps such
// a free means something else.
bool sees_each_free(const HeapState& heap) { return has_limit(heap) || heap.heap == nullptr; }

SlabOwner& owner_of(const HeapState& heap) { return *heap.owner.load(std::memory_order_acquire); }

SizeClass class_for(const SlabOwner& owner, std::size_t size) {
  return class_of_index(index_of_class(owner.first_class) +
                        heap_classes.of_bin[number_of(detail::bin_of(size))]);
}

std::size_t plenty_of(const HeapState& heap) { return heap.account.least_limit() / kPlentyShare; }

// Before a block is freed: behind a heap's last one another thread may end it.
void end_scarcity_if_plenty(HeapState& heap) {
  if (!heap.is_scarce || heap.account.room() < plenty_of(heap)) return;
  os::LockGuard guard(heap.mutex);
  if (!heap.is_scarce) return;
  heap.is_scarce = false;
  owner_of(heap).no_magazines.fetch_sub(1, std::memory_order_seq_cst);
}

// \pre the mutex is held.
void note_scarcity_locked(HeapState& heap) {
  if (heap.is_scarce || heap.account.room() >= plenty_of(heap)) return;
  heap.is_scarce = true;
  owner_of(heap).no_magazines.fetch_add(1, std::memory_order_seq_cst);
}

// Where it is no limit that refuses, pages of other parts and of all owners may be what is missing.
void* take_elsewhere(SlabOwner& owner, SizeClass size_class, ReturnedPages& returned) {
  if (!owners.end_all_cached_spans() && !owners.adopt_from_any(owner, size_class)) return nullptr;
  return take_block(owner, size_class, returned);
}

void* take_marked(HeapState& heap, SlabOwner& owner, SizeClass size_class) {
  ThreadHeap* const own = heap_of_this_thread();
  if (own != nullptr) end_visit(*own);
  if (own != nullptr && has_magazines(owner) && !checks_pools()) {
    void* block = pop_marked(owner, size_class, *own);
    if (block == nullptr) block = refill_and_take(*own, size_class);
    if (block != nullptr) return block;
  }
  ReturnedPages returned;
  if (void* const block = take_block(owner, size_class, returned)) return block;
  if (heap.is_scarce) {  // nothing is cached but by threads that could not be waited for
    if (own == nullptr) return nullptr;
    drop_own_magazines(owner, *own, returned);
    return take_block(owner, size_class, returned);
  }
  {
    os::LockGuard guard(heap.mutex);
    const NoMagazines without = without_magazines(heap, returned);
    void* const block = take_block(owner, size_class, returned);
    note_scarcity_locked(heap);
    if (block != nullptr) return block;
  }
  return heap.account.hard_room() >= geometry_of(owner, size_class).stride
             ? take_elsewhere(owner, size_class, returned)
             : nullptr;
}

void* allocate_marked(HeapState& heap, SlabOwner& owner, SizeClass size_class, std::size_t size) {
  if (ThreadHeap* const own = this_heap(); own != nullptr && !is_disturbed())
    if (void* const block = pop_marked(owner, size_class, *own)) return block;
  const SlowDoor door;
  end_scarcity_if_plenty(heap);
  void* const block = take_within_limits([&] { return take_marked(heap, owner, size_class); });
  watched::note_allocated(heap, block, size);
  return block;
}

BlockIndex index_of_block(const HeapState& heap, const Span& slab, const void* block) {
  BlockIndex index{};
  const AddressIs place = place_in_slab(slab, block, &index);
  if (place == AddressIs::kBehind)
    os::fatal_in_pool(heap.name, "free of a pointer that is no block of the heap", block);
  if (place == AddressIs::kInside) os::fatal_in_pool(heap.name, "free of a pointer into a block", block);
  return index;
}

void deallocate_marked(HeapState& heap, Span& slab, void* block) {
  const SlabOwner& owner = owner_of(heap);
  const SizeClass size_class = slab.size_class.load(std::memory_order_relaxed);
  const bool checks = checks_pools();
  if (ThreadHeap* const own = this_heap();
      own != nullptr && !checks && !is_disturbed() && !slab.has_samples())
    if (push_marked(owner, size_class, *own, block)) return;
  // No hit: somebody watches, every free is checked, the slab has samples, the thread has no heap, or its
  // magazine is full or may not be used now.
  const SlowDoor door;
  watched::notice_at_free();
  watched::note_freed(block);
  end_scarcity_if_plenty(heap);
  ThreadHeap* const own = heap_of_this_thread();
  if (own != nullptr) end_visit(*own);
  if (own == nullptr || checks || !has_magazines(owner)) return deallocate_checked(block);
  if (push_marked(owner, size_class, *own, block)) return;
  ReturnedPages returned;
  deallocate(*own, block, size_class, returned);
}

// From now on the pages of a heap's slabs name no record.
void hide_slabs(SlabOwner& owner) {
  const GiveBackGuard give_back;                // so no slab is out of its list
  const os::LockGuard no_part(owners.mutex());  // nor is one made
  for_each_owner(owner, [&](SlabOwner& one) {
    os::LockGuard guard(one.mutex);
    one.hides_slabs = true;
    for (const List<Span>& slabs : one.spare)  // of which the next use looks at its own class only
      for (Span* slab = slabs.first(); slab != nullptr; slab = slab->next)
        set_record(slab, detail::RecordPlace::kNone);
    for (const SizeClass size_class : classes_of(one))
      for (const List<Span>* slabs : {&one.of(size_class).available, &one.of(size_class).full})
        for (Span* slab = slabs->first(); slab != nullptr; slab = slab->next)
          set_record(slab, detail::RecordPlace::kNone);
  });
}

// The heap gets a limit, or lies around another. A plain hit that is under way touches the newest block of a
// magazine: each thread is asked to show that its own is over, and others leave it alone until it has.
void mark_hits(HeapState& heap) {
  {
    os::LockGuard guard(heap.mutex);
    if (heap.are_hits_marked) return;
    heap.were_hits_plain = true;
    heap.are_hits_marked = true;
    hide_slabs(owner_of(heap));
  }
  os::OwnerLock::prepare();
  registry.ask_all();
  heap.hits = Hits::kMarkedSince;
}

void forget_samples(SlabOwner& owner) {
  if (!observation.has_begun()) return;
  for (const SizeClass size_class : classes_of(owner))
    visit_live_blocks(owner, size_class, [](void* block) {
      // Samples of a heap with plain hits lie in slabs that no mark tells of.
      if (!watched::note_freed(block)) observation.note_freed(block);
    });
}

}  // namespace

bool qualifies_for_classes(const HeapState& heap) {
  return heap.may_have_classes && heap.call_rate.is_high();
}

void begin_classes(HeapState& heap) {
  if (os::is_fork_owner()) return;
  {
    const os::LockGuard registry_guard(os::global_mutex<os::LockRank::kPoolRegistry>());
    find_classes_locked();
  }
  const bool is_marked = sees_each_free(heap);
  if (is_marked) os::OwnerLock::prepare();
  SlabOwner* const owner = acquire_pool_owner({.geometries = heap_classes.geometries,
                                               .name = heap.name,
                                               .class_count = heap_classes.count,
                                               .hides_slabs = is_marked,
                                               .asks_pool = true,
                                               .density = density_of(heap),
                                               .account = &heap.account});
  if (owner == nullptr) {
    os::LockGuard guard(heap.mutex);
    heap.call_rate.forget();  // so it is not tried at each call
    return;
  }
  {
    const os::LockGuard registry_guard(os::global_mutex<os::LockRank::kPoolRegistry>());
    const os::LockGuard guard(heap.mutex);
    heap.call_rate.forget();
    if (heap.may_have_classes && is_marked == sees_each_free(heap)) {
      heap.may_have_classes = false;
      heap.account.share();
      owner->pool = &heap;
      heap.are_hits_marked = is_marked;
      heap.hits = is_marked ? Hits::kMarked : Hits::kPlain;
      heap.first_place.store(record_of_class(owner->first_class), std::memory_order_relaxed);
      return heap.owner.store(owner, std::memory_order_release);
    }
  }
  release_pool_owner(*owner);
}

void* allocate_of_classes(HeapState& heap, std::size_t size) {
  SlabOwner& owner = owner_of(heap);
  const SizeClass size_class = class_for(owner, size);
  if (!heap.are_hits_marked) {
    // If this is refused because another thread has marked the hits meanwhile, the marked way is tried below,
    // with errno as it was.
    const int before = errno;
    if (void* const block = allocate_class_slow(size_class, size); block != nullptr || !heap.are_hits_marked)
      return block;
    errno = before;
  }
  void* const block = allocate_marked(heap, owner, size_class, size);
  if (block != nullptr) note_soft_limits(heap);
  return block;
}

Span* slab_of_classes(const HeapState& heap, const void* pointer) {
  const SlabOwner* const owner = heap.owner.load(std::memory_order_acquire);
  if (owner == nullptr) return nullptr;
  Span* const slab = page_map.find(pointer);
  const SlabOwner* const of_slab = owner_of_slab(slab);
  return of_slab != nullptr && of_slab->first_part == owner ? slab : nullptr;
}

void deallocate_of_classes(HeapState& heap, Span& slab, void* block) {
  static_cast<void>(index_of_block(heap, slab, block));
  const SlabOwner* const owner = slab.owner.load(std::memory_order_acquire);
  const bool is_sampled = owner != nullptr && owner->is_sampled;  // while hits were plain
  if (heap.are_hits_marked && !is_sampled) return deallocate_marked(heap, slab, block);
  deallocate_class_slow(block, slab.size_class.load(std::memory_order_relaxed));
}

void check_free_of_classes(const HeapState& heap, const Span& slab, const void* block) {
  const BlockIndex index = index_of_block(heap, slab, block);
  if (marked_free(slab, bitmap::word_of(index), bitmap::bit(index)) != 0 ||
      is_among_newest(newest_cached(slab.size_class.load(std::memory_order_relaxed)), block))
    os::fatal_in_pool(heap.name, "double free", block);
}

std::size_t block_bytes_of_classes(const HeapState& heap, const Span& slab, const void* block) {
  static_cast<void>(index_of_block(heap, slab, block));
  return slab.stride;
}

NoMagazines without_magazines(HeapState& heap, ReturnedPages& returned) {
  return NoMagazines(heap.owner.load(std::memory_order_acquire),
                     [&](SlabOwner& owner) { drop_all_magazines(owner, heap.hits, returned); });
}

void cache_nothing(HeapState& heap) {
  {
    os::LockGuard guard(heap.mutex);
    if (heap.caches_nothing) return;
    heap.caches_nothing = true;
    heap.may_have_classes = false;
  }
  if (heap.owner.load(std::memory_order_acquire) == nullptr) return;
  mark_hits(heap);
  ReturnedPages returned;
  os::LockGuard guard(heap.mutex);
  owner_of(heap).no_magazines.fetch_add(1, std::memory_order_seq_cst);
  drop_all_magazines(owner_of(heap), heap.hits, returned);
}

void apply_limits(HeapState& heap) {
  if (heap.owner.load(std::memory_order_acquire) == nullptr) return;
  if (has_limit(heap)) mark_hits(heap);
  end_scarcity_if_plenty(heap);
  // What is cached may be more than the new limit has room for.
  ReturnedPages returned;
  os::LockGuard guard(heap.mutex);
  const NoMagazines without = without_magazines(heap, returned);
  note_scarcity_locked(heap);
}

HeapCounts count_in_classes(const HeapState& heap, ReturnedPages& returned) {
  SlabOwner* const owner = heap.owner.load(std::memory_order_acquire);
  if (owner == nullptr) return {};
  const PoolCensus census = take_census(*owner, returned);
  HeapCounts counts{census.live_bytes, census.live_count, census.live_bytes, census.slab_bytes};
  for_each_owner(*owner, [&](SlabOwner& one) {
    os::LockGuard guard(one.mutex);
    counts.slab_bytes += one.spare_bytes;
  });
  return counts;
}

void clear_classes(HeapState& heap, ReturnedPages& returned) {
  SlabOwner* const owner = heap.owner.load(std::memory_order_acquire);
  if (owner == nullptr) return;
  begin_to_end(*owner);  // no look ends a slab meanwhile
  return_all_cached(*owner, returned);
  forget_samples(*owner);
  free_all_blocks(*owner, returned);
  end_no_more(*owner);
  settle(*owner, returned, SpareSlabs::kStay);
}

void end_classes(HeapState& heap, ReturnedPages& returned) {
  SlabOwner* const owner = heap.owner.load(std::memory_order_acquire);
  if (owner == nullptr) return;
  begin_to_end(*owner);
  settle(*owner, returned);
  forget_samples(*owner);
  free_all_blocks(*owner, returned);
  settle(*owner, returned);
  release_pool_owner(*owner);
}

void release_unused_of_classes(HeapState& heap, ReturnedPages& returned) {
  if (SlabOwner* const owner = heap.owner.load(std::memory_order_acquire))
    release_unused_slabs(*owner, returned);
}

std::size_t prewarm_classes(HeapState& heap, std::size_t bytes) {
  constexpr std::uint32_t kMostWords = kPageBytes / detail::kTinyLimit / bitmap::kWordBits;
  SlabOwner& owner = owner_of(heap);
  std::size_t made = 0;
  for (; made < bytes; made += kPageBytes) {
    Span* const slab = allocate_span({.pages = PageCount{1},
                                      .kind = SpanKind::kSlab,
                                      .bitmap_words = kMostWords,
                                      .density = density_of(heap)});
    if (slab == nullptr) break;
    os::populate(slab->first_page(), kPageBytes);
    live_map.prewarm(slab->first_page(), kPageBytes);
    slab->size_class.store(SizeClass::kNone, std::memory_order_relaxed);  // no record names its page
    os::LockGuard guard(owner.mutex);
    add_spare_locked(owner, slab);
    owner.kept_spare_bytes += kPageBytes;
  }
  return made;
}

SlabOwner* owner_of_heap(const PoolHeader& pool) {
  return static_cast<const HeapState&>(pool).owner.load(std::memory_order_acquire);
}

}  // namespace tarn::internal
