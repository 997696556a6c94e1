// The magazines of a thread: how large they are, and their blocks going back to the slabs.
//
// Threads: under the owner's mutex, by the heap's thread, or while it does not use the magazine.
#pragma once
#include "page/returned_pages.h"
#include "thread/heap_record.h"

namespace tarn::internal {

/// Blocks in a magazine; from another thread, of some moment.
inline unsigned count_of(const ThreadHeap& heap, SizeClass size_class) {
  const Magazine& magazine = heap.magazines[size_class];
  if (magazine.blocks == nullptr) return 0;
  return static_cast<unsigned>(__atomic_load_n(&heap.record(size_class).top, __ATOMIC_RELAXED) -
                               magazine.blocks);
}

/// After a change of the array: `count` blocks are in it.
inline void set_record(ThreadHeap& heap, SizeClass size_class, unsigned count) {
  const Magazine& magazine = heap.magazines[size_class];
  detail::Record& record = heap.record(size_class);
  __atomic_store_n(&record.top, magazine.blocks + count, __ATOMIC_RELAXED);
  record.limit = magazine.blocks + magazine.capacity;
}

/// A magazine grows each time it is missed, while its class and its thread may have more. \returns whether
/// there is one.
bool prepare_magazine(ThreadHeap& heap, SizeClass size_class);

/// Returns some of the blocks that nobody missed since the last look, and halves a magazine that is empty
/// then.
/// \returns how many blocks went.
unsigned shrink_idle_magazine(ThreadHeap& heap, SizeClass size_class, unsigned most, ReturnedPages& returned);

/// Empties a magazine into the slabs and gives its array up.
void drop_magazine_locked(ThreadHeap& heap, SizeClass size_class, ReturnedPages& returned);

/// The same for all of them.
void drop_magazines_locked(ThreadHeap& heap, ReturnedPages& returned);

}  // namespace tarn::internal
