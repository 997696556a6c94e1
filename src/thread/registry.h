// The heaps of all threads: how they begin, how they end, and which a fork leaves.
//
// The heaps of the first threads have owners of their own, so that no two meet at a lock. More threads share
// the owners: so a class has a partly used slab in each of these, and not for each thread. Each heap then has
// one of them as its home; which one serves a slow call, SlowCall chooses.
// Source: 002's CentralCache; docs/decisions/011-shared-owners.md has the figures.
//
// Invariant, with owners.mutex() held: a heap is in a list of unused heaps exactly when is_unused; heaps in
// no such list have, or are about to lose, their thread. Of an owner: threads == heaps that have it as home
// and kThread as use.
// Synchronisation: owners.mutex() guards the lists; a heap has a mutex of its own.
#pragma once
#include "central/owners.h"
#include "thread/heap_record.h"

namespace tarn::internal {

class Registry {
 public:
  enum class Take : std::uint8_t { kLeft, kAny };  // kLeft: only one that has_left() tells of
  /// Attaches a heap to a thread without one: the heap of a thread that has ended, or a new one. \returns
  /// nullptr when memory is refused, or no heap is as `which` asks. \param shown for hide_all_records().
  ThreadHeap* attach(Take which = Take::kAny, ShownRecords shown = {});

  /// Whether the next heap is as its thread has left it, so that attach() costs little.
  bool has_left() const {
    const ThreadHeap* const heap = first_unused_.load(std::memory_order_acquire);
    return heap != nullptr && heap->is_left();
  }

  /// Call when the thread ends; an owner that no thread uses then becomes an orphan. Magazines and empty
  /// slabs stay for the next thread, or for a look if none comes; of many threads that end they are returned.
  void detach(ThreadHeap& heap);

  enum class Left : std::uint8_t { kLong, kAll };
  /// Returns what ended threads have left: before the last such look, or at all. \pre no lock is held.
  void return_all_left(Left which);

  /// Returns what threads that run have in their magazines, but for the newest block of each class. Nothing
  /// where one thread cannot fence all others. \pre no lock is held. \cost a system call, and one slow call
  /// of each thread. \threads any.
  void collect_magazines();

  /// Hides the records of all threads, each until its next slow call, which is not in the midst of a hit.
  void ask_all();

  /// A look at all heaps and owners, or a step of it. \pre the caller alone looks.
  LookState trim_idle(LookShare share);

  /// Calls visit_heap(heap) for each heap with its mutex held, and then visit_rest(). No slab changes its
  /// owner meanwhile.
  template <typename VisitHeap, typename VisitRest>
  void for_each_and_rest(VisitHeap visit_heap, VisitRest visit_rest) {
    os::LockGuard guard(owners.mutex());
    for (ThreadHeap* heap = first_; heap != nullptr; heap = heap->next) {
      os::LockGuard heap_guard(heap->mutex);
      visit_heap(*heap);
    }
    visit_rest();
  }
  /// The same, with visit_owner(owner) for each owner, under its mutex.
  template <typename VisitHeap, typename VisitOwner>
  void for_each(VisitHeap visit_heap, VisitOwner visit_owner) {
    for_each_and_rest(visit_heap, [&] { owners.for_each_locked(visit_owner); });
  }

  /// Calls visit(heap) for each heap under its HeapGuard.
  template <typename Visit>
  void for_each_heap(Visit visit) {
    os::LockGuard guard(owners.mutex());
    for (ThreadHeap* heap = first_; heap != nullptr; heap = heap->next) {
      const HeapGuard heap_guard(*heap);
      visit(*heap);
    }
  }

  /// Calls visit(heap) for each heap. \pre owners.mutex() and the mutexes of all heaps are held.
  template <typename Visit>
  void for_each_held(Visit visit) const {
    for (const ThreadHeap* heap = first_; heap != nullptr; heap = heap->next) visit(*heap);
  }

  /// Calls visit for the mutex of each heap. \pre a fork has locked owners.mutex().
  void visit_for_fork(os::ForkSet::Visit visit);

  /// Lets the next call of each thread that has not noticed the last switch take the slow door, by one store
  /// to its pointer. Before a thread shows its records again, it notes in its heap that it has noticed the
  /// switch.
  void hide_all_records();

  /// Gives each thread's cache memory for the records of classes below `end`. \returns false when memory is
  /// refused. \cost a system call per heap whenever the number of records doubles.
  bool make_room_for_records(unsigned end);

  /// Calls visit(start, bytes) for the memory of each cache. \threads any, without a lock, also in a signal
  /// handler.
  template <typename Visit>
  void for_each_cache(Visit visit) const {
    const std::size_t bytes = cache_bytes_;
    for (const ThreadHeap* heap = first_; heap != nullptr; heap = heap->next) visit(heap->cache, bytes);
  }

  /// Of the caches' addresses, those that a limit of the address space leaves them no more. \pre the process
  /// has one thread. \returns bytes.
  std::size_t unused_cache_bytes(std::size_t limit) const;
  /// Gives them back, unless a thread that is gone holds the lock.
  void release_unused_caches(std::size_t limit);

  /// Call when the index of pages was replaced: all caches get the new one. \pre no other thread runs.
  void show_page_index();

  /// Stops the process when the lists, the heaps and their owners disagree on which threads use them.
  void validate();

  /// Threads that have a heap now, and the most that had one at once.
  std::uint32_t live_threads() const { return heaps_in_use.load(std::memory_order_relaxed); }
  std::uint32_t peak_threads() const { return peak_threads_.load(std::memory_order_relaxed); }

  /// \returns the owner of a number, or one that stands in for it; nullptr if no thread has it as its home.
  SlabOwner* owner_in_use(std::uint32_t number) const;

  static constexpr std::uint32_t kMostShared = 64;
  /// Sets how many owners there may be, before threads share them: at most kMostShared, or UINT32_MAX for one
  /// for each thread. It holds for heaps that are made later.
  void set_most_owners(std::uint32_t most);

  /// Sets how many bytes a thread may keep in its magazines. A thread keeps to less at its next miss.
  void set_magazine_limit(std::size_t bytes);

  /// In the child of a fork the other threads are gone: their owners, with the blocks of their magazines,
  /// become orphans.
  void keep_only_after_fork(ThreadHeap* own);

 private:
  friend class ObservedLayout;

  ThreadHeap* next_neighbour_locked();
  ThreadHeap* take_unused_locked(Take which);
  ThreadHeap* make_heap_locked();
  detail::ThreadCache* make_cache_locked();
  void begin_caches_locked();
  std::size_t kept_of_a_cache(std::size_t limit) const;
  void end_use_locked(ThreadHeap& heap);
  void return_left(ThreadHeap& heap, Left which);
  bool return_next_left();

  std::atomic<ThreadHeap*> first_{nullptr};         // heaps are only ever added: a walk needs no lock
  std::atomic<ThreadHeap*> first_unused_{nullptr};  // heaps whose thread has ended; changed under the mutex
  std::size_t cache_room_ = 0;                      // addresses of a cache; 0 before the first one is made
  Relaxed<std::size_t> cache_bytes_;                // of these with memory
  std::uint32_t most_owners_ = UINT32_MAX;
  std::atomic<std::uint32_t> owner_count_{0};
  std::uint32_t numbered_count_ = 0;  // heaps that give their threads a number
  std::uint32_t next_shared_ = 0;
  std::atomic<std::uint32_t> left_count_{0};      // heaps as their threads have left them
  ThreadHeap* left_looked_at_ = nullptr;          // the last of these that steps of a look came to
  ThreadHeap* first_of_owner_[kMostShared] = {};  // one heap of each owner
  // Apart from the heaps: threads write the lines of their heaps.
  std::atomic<SlabOwner*> owner_of_number_[kMostShared] = {};
  std::atomic<std::uint32_t> peak_threads_{0};
};

extern Registry registry;

}  // namespace tarn::internal
