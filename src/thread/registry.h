// The heaps of all threads: their birth, their end, and what a fork leaves of them.
// Synchronisation: the lists are guarded by owners.mutex(), a heap by its owner's.
#pragma once
#include "central/owners.h"
#include "thread/heap_record.h"

namespace tarn::internal {

class Registry {
 public:
  /// A heap for a thread that has none: one whose thread has ended, or a new one. \returns nullptr when
  /// memory is refused.
  ThreadHeap* attach();

  /// The thread ends: its blocks go back to their slabs, its owner becomes an orphan.
  void detach(ThreadHeap& heap);

  /// Calls visit(owner, heap) for each owner with its mutex held; heap is nullptr for the shared one. No slab
  /// changes its owner meanwhile.
  template <typename Visit>
  void for_each_owner(Visit visit) {
    os::LockGuard guard(owners.mutex());
    for (ThreadHeap* heap = first_; heap != nullptr; heap = heap->next) {
      os::LockGuard heap_guard(heap->mutex());
      visit(*heap->owner, heap);
    }
    // Last, since what another owner collects may pass announcements on to this one.
    os::LockGuard shared_guard(owners.shared().mutex);
    visit(owners.shared(), static_cast<ThreadHeap*>(nullptr));
  }

  /// Calls visit(heap) for each heap with its owner's mutex held.
  template <typename Visit>
  void for_each_heap(Visit visit) {
    os::LockGuard guard(owners.mutex());
    for (ThreadHeap* heap = first_; heap != nullptr; heap = heap->next) {
      os::LockGuard heap_guard(heap->mutex());
      visit(*heap);
    }
  }

  /// The index of pages has become another: all caches get it. \pre the calling thread is the only one.
  void show_page_index();

  /// Stops the process where a heap and its owner do not agree on whether a thread uses them.
  void validate();

  /// In the child of a fork: the other threads are gone; their owners, with what their magazines held, become
  /// orphans.
  void keep_only_after_fork(ThreadHeap* own);

 private:
  ThreadHeap* make_heap_locked();
  void end_use_locked(ThreadHeap& heap);

  ThreadHeap* first_ = nullptr;
  ThreadHeap* first_unused_ = nullptr;  // the thread has ended
};

extern Registry registry;

}  // namespace tarn::internal
