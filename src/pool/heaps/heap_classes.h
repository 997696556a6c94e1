// The size classes of a heap. A heap begins with pages of its own under its mutex (heap_pages.h), where
// blocks of many sizes take little. Once it is called fast it gets an owner of slabs
// (thread/pools/pool_owner.h) with classes of its own (HeapClasses): from then on its blocks of up to
// 256 KiB and usual alignment are the thread tier's, and what it had before stays until it is freed.
//
// Limits hold for what the slabs have given out, live or cached by threads, so a hard limit is never
// exceeded. Before a limit would refuse a block, or a soft one be crossed, what all threads have cached
// returns to the slabs; when little is left even so, the heap is scarce: no thread has anything cached, and
// each call counts, until an eighth of the limit is free. So the hits of a heap with a limit are marked
// (thread/pools/marked_hits.h); those of others are as plain as a typed pool's.
//
// Invariant: a heap with an owner is charged what the owner's slabs gave out; the pages of these slabs name
// records exactly while its hits are plain.
// Threads: any, with no lock held, unless a function says otherwise.
#pragma once
#include <cstddef>

#include "central/classes/size_class.h"
#include "page/spans/page_map.h"
#include "pool/heaps/heap_state.h"
#include "tarn/detail/thread_cache.h"

namespace tarn::internal {

/// The classes of heaps, one after the other: those of the table in use up to 32 KiB, each bin's above.
struct HeapClasses {
  std::uint8_t of_bin[detail::kTinyBin + 1];  // the place of the class that serves a bin
  ClassGeometry geometries[detail::kTinyBin];
  unsigned count;  // 0: no heap has had any
};
extern HeapClasses heap_classes;

/// A heap that is prewarmed by less needs no owner.
inline constexpr std::size_t kLeastBytesForClasses = 64 * 1024;
/// Whether a heap without an owner is called so fast that it gets one. \pre its mutex is held.
bool qualifies_for_classes(const detail::HeapState& heap);
/// Gives a heap an owner, unless memory is refused or too many heaps have one.
void begin_classes(detail::HeapState& heap);

/// Whether an owner serves a request.
inline bool is_of_classes(const detail::HeapState& heap, std::size_t size, std::size_t alignment) {
  return size <= detail::kMediumLimit && alignment <= 16 &&
         heap.owner.load(std::memory_order_acquire) != nullptr;
}

/// \returns the record that serves a size of up to 256 KiB. \param first that of the heap's first class.
TARN_INLINE detail::RecordPlace place_of_size(detail::RecordPlace first, std::size_t size) {
  constexpr std::size_t kRecordSteps = sizeof(detail::Record) / 8;
  return detail::RecordPlace{number_of(first) +
                             kRecordSteps * heap_classes.of_bin[number_of(detail::bin_of(size))]};
}
/// Whether a record is one of the heap's.
TARN_INLINE bool is_place_of(detail::RecordPlace first, detail::RecordPlace place) {
  constexpr std::size_t kRecordSteps = sizeof(detail::Record) / 8;
  return number_of(place) - number_of(first) < kRecordSteps * heap_classes.count;
}

/// A hit; nullptr when the thread has none cached. \param size up to 256 KiB.
TARN_INLINE void* take_at_once(const detail::HeapState& heap, std::size_t size) {
  const SlabOwner* const owner = heap.owner.load(std::memory_order_acquire);
  if (owner == nullptr) return nullptr;
  const detail::RecordPlace place = place_of_size(heap.first_place.load(std::memory_order_relaxed), size);
  return heap.are_hits_marked ? pop_marked_at_once(*owner, place) : detail::pop(detail::own_cache(), place);
}
/// \returns false when that is not to be, or the block is none of the heap's classes.
TARN_INLINE bool put_at_once(const detail::HeapState& heap, void* block) {
  const SlabOwner* const owner = heap.owner.load(std::memory_order_acquire);
  if (owner == nullptr) return false;
  if (!heap.are_hits_marked) [[likely]] {
    detail::ThreadCache* const cache = detail::own_cache();
    const detail::RecordPlace place = record_of(cache, block);
    return is_place_of(heap.first_place.load(std::memory_order_relaxed), place) && push(cache, place, block);
  }
  // A span with samples is marked, but of those that plain hits had, only its owner tells.
  if (heap.were_hits_plain && owner->sampled.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
    return false;
  const auto* const slab = static_cast<const Span*>(page_map.first_table().find(block));
  if (slab == nullptr || slab->marked_pool() != &heap || slab->kind != SpanKind::kSlab) return false;
  return push_marked_at_once(*owner, record_of_class(slab->size_class.load(std::memory_order_relaxed)),
                             block);
}

/// A block that no hit found. \pre is_of_classes(). \returns nullptr when it is refused.
void* allocate_of_classes(detail::HeapState& heap, std::size_t size);

/// \returns the slab of the heap's owner that holds an address; nullptr: none does.
Span* slab_of_classes(const detail::HeapState& heap, const void* pointer);
/// Frees a block in such a slab. Stops the process when the pointer is none.
void deallocate_of_classes(detail::HeapState& heap, Span& slab, void* block);
/// As detail::block_pool_check_free, of a block in such a slab.
void check_free_of_classes(const detail::HeapState& heap, const Span& slab, const void* block);
/// \returns the bytes of a block in such a slab; stops the process when the pointer is none.
std::size_t block_bytes_of_classes(const detail::HeapState& heap, const Span& slab, const void* block);

/// Returns to the slabs what threads have cached, and keeps it from them while the result exists. \pre the
/// heap's mutex is held at both ends, so that a fork finds none.
NoMagazines without_magazines(detail::HeapState& heap, ReturnedPages& returned);

/// From now on no thread caches blocks of the heap: other heaps lie in it.
void cache_nothing(detail::HeapState& heap);
/// Call when limits have changed.
void apply_limits(detail::HeapState& heap);

struct HeapCounts {
  std::size_t bytes = 0, count = 0;  // of live blocks
  std::size_t in_classes_bytes = 0;  // of these bytes
  std::size_t slab_bytes = 0;
};
/// Counts the blocks of the owner's slabs; exact while no thread uses the heap.
HeapCounts count_in_classes(const detail::HeapState& heap, ReturnedPages& returned);

/// Frees all blocks of the owner's slabs. \pre no other thread uses the heap.
void clear_classes(detail::HeapState& heap, ReturnedPages& returned);
/// The same, at the heap's end.
void end_classes(detail::HeapState& heap, ReturnedPages& returned);
/// Returns what the calling thread and ended ones have cached, and ends slabs without live blocks.
void release_unused_of_classes(detail::HeapState& heap, ReturnedPages& returned);

/// Makes slabs ahead of need that any class of up to 8 KiB may take, backed by memory; they stay until a trim
/// by hand. \returns their bytes.
std::size_t prewarm_classes(detail::HeapState& heap, std::size_t bytes);

}  // namespace tarn::internal
