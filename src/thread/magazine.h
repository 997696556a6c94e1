// The magazines of a thread: their sizes, and how their blocks return to the slabs.
//
// Threads: the heap's thread in a SlowCall, or others under a HeapGuard while that thread does not use the
// magazine. Those that return blocks: under the mutex of heap.owner too.
#pragma once
#include "page/give_back/returned_pages.h"
#include "thread/heap_record.h"

namespace tarn::internal {

/// \returns the number of blocks in a magazine; called by another thread, the number at some moment.
inline unsigned count_of(const ThreadHeap& heap, SizeClass size_class) {
  const Magazine& magazine = heap.magazines.at(size_class);
  if (magazine.blocks == nullptr) return 0;
  const std::uintptr_t top = __atomic_load_n(&heap.record(size_class).top, __ATOMIC_ACQUIRE);
  return static_cast<unsigned>(detail::slot_at(heap.cache, top) - magazine.blocks);
}

/// \returns the block that a magazine would give next; of an empty one nullptr.
inline const void* newest_block(const ThreadHeap& heap, SizeClass size_class) {
  return *detail::slot_at(heap.cache, heap.record(size_class).top);
}

/// \returns the array, which begins with the reserve.
inline void** array_of(const Magazine& magazine) {
  return magazine.blocks == nullptr ? nullptr : magazine.blocks - magazine.reserve;
}

/// Calls visit(block) for each block in a magazine of the heap, and in its reserve. \pre the heap's mutex is
/// held. \threads any: of blocks that the heap's thread takes or puts meanwhile some are visited; a block
/// that it has all the time is not.
template <typename Visit>
void visit_magazine(const ThreadHeap& heap, SizeClass size_class, const Visit& visit) {
  const Magazine& magazine = heap.magazines.at(size_class);
  const auto visit_slots = [&](void* const* first, unsigned count) {
    for (unsigned i = 0; i != count; ++i)
      if (void* const block = __atomic_load_n(first + i, __ATOMIC_ACQUIRE); block != nullptr) visit(block);
  };
  if (magazine.blocks == nullptr) return;
  // The reserve first: a hit puts what it takes out of there into the magazine before.
  visit_slots(array_of(magazine), magazine.reserve);
  visit_slots(magazine.blocks + 1, count_of(heap, size_class));
}
/// The same of all its magazines.
template <typename Visit>
void visit_magazines(const ThreadHeap& heap, const Visit& visit) {
  for (const SizeClass size_class : all_classes()) visit_magazine(heap, size_class, visit);
}

/// \returns the number of blocks in a magazine, of which a visit may have taken some. \pre the heap's mutex
/// is held.
unsigned count_left(const ThreadHeap& heap, SizeClass size_class);

/// Sets the record after a change of the array, which holds `count` blocks.
inline void set_record(ThreadHeap& heap, SizeClass size_class, unsigned count) {
  const Magazine& magazine = heap.magazines.at(size_class);
  const std::uintptr_t blocks = address_of(magazine.blocks) - address_of(heap.cache);
  detail::Record& record = heap.record(size_class);
  __atomic_store_n(&record.top, blocks + count * sizeof(void*), __ATOMIC_RELAXED);
  record.limit = blocks + magazine.capacity * sizeof(void*);
  if constexpr (detail::kIsHardened) {
    detail::hardened_of(record) = {address_of(array_of(magazine)) - address_of(heap.cache),
                                   class_geometry[size_class].block_bytes, magazine.reserve - 1u};
  }
}

/// \returns the most blocks that a magazine may have now. Magazines that hold what a program frees after a
/// peak, and serve all that it takes, would keep every page of the peak in use: there they become small, a
/// little at each flush, and the blocks then come from the fullest slabs.
unsigned most_capacity(const ThreadHeap& heap, SizeClass size_class);

/// Makes or grows a magazine; a magazine grows at each miss, while its class and its thread may keep more.
/// \returns whether there is a magazine.
bool prepare_magazine(ThreadHeap& heap, SizeClass size_class);

/// Returns at most `most` of a magazine's blocks, the newest. \returns how many.
unsigned return_newest_blocks(ThreadHeap& heap, SizeClass size_class, unsigned most, ReturnedPages& returned);

/// The same, of blocks that were not needed since the last look; halves a magazine that is then empty.
unsigned shrink_idle_magazine(ThreadHeap& heap, SizeClass size_class, unsigned most, ReturnedPages& returned);

/// Returns at most `most` of the blocks of a magazine that was not refilled since the last look, but for a
/// few; halves it as far as its blocks allow. \returns how many.
unsigned shrink_unrefilled_magazine(ThreadHeap& heap, SizeClass size_class, unsigned most,
                                    ReturnedPages& returned);

/// Returns at most `most` of the blocks beyond those that a magazine of a class of bins may have after a
/// peak, and makes it smaller as far as its blocks allow. \returns how many.
unsigned shrink_after_a_peak(ThreadHeap& heap, SizeClass size_class, unsigned most, ReturnedPages& returned);

/// Returns the blocks of all magazines but for the newest of each, while the heap's thread runs. \pre the
/// records were hidden, and all threads fenced since.
void take_lower_blocks_locked(ThreadHeap& heap, ReturnedPages& returned);

/// Call before the thread uses magazines that others may have taken blocks of: ends the visit.
void close_gaps_locked(ThreadHeap& heap);

/// Returns a magazine's blocks to the slabs and frees its array.
void drop_magazine_locked(ThreadHeap& heap, SizeClass size_class, ReturnedPages& returned);

/// The same for all magazines of the heap.
void drop_magazines_locked(ThreadHeap& heap, ReturnedPages& returned);

}  // namespace tarn::internal
