// The heaps of all threads: how they begin, how they end, and which a fork leaves.
// Synchronisation: owners.mutex() guards the lists, the owner's mutex guards a heap.
#pragma once
#include "central/owners.h"
#include "thread/heap_record.h"

namespace tarn::internal {

class Registry {
 public:
  enum class Take : std::uint8_t { kLeft, kAny };  // kLeft: only one that has_left() tells of
  /// Attaches a heap to a thread without one: the heap of a thread that has ended, or a new one. \returns
  /// nullptr when memory is refused, or there is none such.
  ThreadHeap* attach(Take which = Take::kAny);

  /// Whether the next heap is as its thread has left it, so that attach() costs little.
  bool has_left() const {
    const ThreadHeap* const heap = first_unused_.load(std::memory_order_acquire);
    return heap != nullptr && heap->is_left.load(std::memory_order_relaxed);
  }

  /// Call when the thread ends: its owner becomes an orphan. Magazines and empty slabs stay for the next
  /// thread where the helper will return them if none comes; else they are returned at once.
  void detach(ThreadHeap& heap);

  enum class Left : std::uint8_t { kIdle, kAll };
  /// Returns what ended threads have left: of those that had no slow call since the last look, or of all.
  /// \pre no lock is held.
  void return_all_left(Left which);

  /// The helper's look at all heaps and owners. \returns whether all owners were idle.
  bool trim_idle();

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

  /// Call when the index of pages was replaced: all caches get the new one. \pre no other thread runs.
  void show_page_index();

  /// Stops the process when a heap and its owner disagree on whether a thread uses them.
  void validate();

  /// In the child of a fork the other threads are gone: their owners, with the blocks of their magazines,
  /// become orphans.
  void keep_only_after_fork(ThreadHeap* own);

 private:
  ThreadHeap* make_heap_locked();
  void end_use_locked(ThreadHeap& heap);
  void return_left(ThreadHeap& heap);
  ThreadHeap* first();

  ThreadHeap* first_ = nullptr;
  std::atomic<ThreadHeap*> first_unused_{nullptr};  // heaps whose thread has ended; changed under the mutex
};

extern Registry registry;

}  // namespace tarn::internal
