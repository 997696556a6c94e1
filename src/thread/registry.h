// All heaps: birth and end of threads, orphans and their adoption, fork, and walks for statistics and
// trimming. Synchronisation: `mutex` guards the lists of heaps; it ranks below the heaps' own (mutex.h).
#pragma once
#include <atomic>
#include <cstdint>

#include "os/lock_rank.h"
#include "thread/thread_heap.h"

namespace tarn::internal {

class Registry {
 public:
  /// A heap for a thread that has none: an orphan, or a new one. \returns nullptr when memory is refused.
  ThreadHeap* attach();

  /// The thread ends: its blocks go back to their slabs, its heap becomes an orphan.
  void detach(ThreadHeap& heap);

  /// A slab of an orphan, now owned by `heap`; nullptr if there is none at once. \pre heap.mutex is held.
  Span* adopt_slab(ThreadHeap& heap, SizeClass size_class);

  /// Where threads that have already ended allocate: an orphan that nobody adopts.
  ThreadHeap& shared_heap() { return shared_heap_; }

  /// Gives back what heaps keep whose thread had no slow call since the last time: empty slabs, free pages of
  /// others.
  /// \returns whether all heaps were idle.
  bool trim_idle_heaps();

  /// The same for all heaps. \returns bytes given back from inside slabs.
  std::size_t trim_all_heaps();

  /// Calls visit(heap) for each heap with its mutex held.
  template <typename Visit>
  void for_each_heap(Visit visit) {
    os::LockGuard guard(mutex_);
    for (ThreadHeap* heap = first_; heap != nullptr; heap = heap->next_in_registry) {
      os::LockGuard heap_guard(heap->mutex);
      visit(*heap);
    }
  }

  /// The index of pages has become another: all caches get it. \pre the calling thread is the only one.
  void show_page_index();

  std::uint32_t live_threads() const { return live_threads_; }
  std::uint32_t peak_threads() const { return peak_threads_; }

  /// Calls visit for the mutex of each heap. \pre a fork has locked the registry.
  void visit_heaps_for_fork(os::ForkSet::Visit visit);
  /// In the child of a fork: the other threads are gone: their heaps, with what their magazines held, become
  /// orphans.
  void keep_only_after_fork(ThreadHeap* own);

 private:
  ThreadHeap* first_heap();
  ThreadHeap* make_heap();
  void push_orphan(ThreadHeap& heap);

  os::Mutex& mutex_ = os::global_mutex<os::LockRank::kThreads>();
  ThreadHeap shared_heap_{};
  ThreadHeap* first_ = &shared_heap_;
  ThreadHeap* first_orphan_ = nullptr;
  std::atomic<std::uint32_t> orphan_count_{0};
  std::atomic<std::uint32_t> live_threads_{0};
  std::atomic<std::uint32_t> peak_threads_{0};
};

extern Registry registry;

}  // namespace tarn::internal
