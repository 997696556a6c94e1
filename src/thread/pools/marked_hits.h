// Hits of a pool with a limit. Before a request is refused, free blocks are collected from all threads: so
// other threads must be able to end the hits of a thread at any time. Each hit stands between two stores of a
// mark of its thread (os/locks/owner_lock.h), which costs about 1 ns.
//
// Protocol: a collector first counts `no_magazines` of the pool's first part, then fences all threads, and
// waits for each thread's mark; a hit sets the mark and then reads the count. So a hit that has not seen the
// count has ended before its magazine is touched.
// Threads: as each says.
#pragma once
#include <cstdint>

#include "os/locks/owner_lock.h"
#include "thread/heap_record.h"
#include "thread/this_thread.h"
#include "thread/thread_heap.h"

namespace tarn::internal {

/// Whether threads have, and get, magazines of a pool. \param owner its first part.
inline bool has_magazines(const SlabOwner& owner) {
  return owner.no_magazines.load(std::memory_order_seq_cst) == 0;
}

// By the heap's thread, of a class of the owner, which is a first part.

/// \returns nullptr when the thread has none cached, or may not take it.
void* pop_marked(const SlabOwner& owner, SizeClass size_class, ThreadHeap& heap);
/// \returns false when the magazine is full, or the thread may not use it.
bool push_marked(const SlabOwner& owner, SizeClass size_class, ThreadHeap& heap, void* block);

// The same, in a few instructions, of the record of such a class: they refuse where only the ones above know
// more, and while the thread's records are hidden.

TARN_INLINE void* pop_marked_at_once(const SlabOwner& owner, detail::RecordPlace place) {
  ThreadHeap* const heap = this_heap();
  if (heap == nullptr || heap->batch.is_inside()) [[unlikely]]
    return nullptr;
  void* block = nullptr;
  if (heap->batch.enter_at_once(os::OwnerLock::fences) && has_magazines(owner)) [[likely]]
    block = detail::pop(detail::own_cache(), place);
  heap->batch.leave();
  return block;
}
TARN_INLINE bool push_marked_at_once(const SlabOwner& owner, detail::RecordPlace place, void* block) {
  ThreadHeap* const heap = this_heap();
  if (heap == nullptr || heap->batch.is_inside()) [[unlikely]]
    return false;
  bool is_pushed = false;
  if (heap->batch.enter_at_once(os::OwnerLock::fences) && has_magazines(owner)) [[likely]]
    is_pushed = detail::push(detail::own_cache(), place, block);
  heap->batch.leave();
  return is_pushed;
}

/// Shows that the thread's last plain hit is over, if others have asked.
void end_visit(ThreadHeap& heap);
/// Returns what the thread has cached of a pool.
void drop_own_magazines(const SlabOwner& owner, ThreadHeap& heap, ReturnedPages& returned);

/// How the hits of a pool are made.
enum class Hits : std::uint8_t {
  kPlain,        // inlined; nobody touches a magazine while its thread runs
  kMarked,       // as above
  kMarkedSince,  // they were plain before; a thread that was asked to show that its last plain one is over
                 // (Registry::ask_all), and has not, is left alone
};

/// Drops what threads have cached of a pool, and returns what is parked to the slabs. \pre no thread gets
/// magazines of it.
void drop_all_magazines(SlabOwner& owner, Hits hits, ReturnedPages& returned);

/// While one exists, no thread gets magazines of a pool. \pre the pool's mutex is held at both ends.
class NoMagazines {
 public:
  /// \param owner the pool's first part; nullptr: there are none anyway. \param drop drop(owner) drops what
  /// threads have.
  template <typename Drop>
  NoMagazines(SlabOwner* owner, const Drop& drop) : owner_(owner) {
    if (owner == nullptr) return;
    owner->no_magazines.fetch_add(1, std::memory_order_seq_cst);
    drop(*owner);
  }
  ~NoMagazines() {
    if (owner_ != nullptr) owner_->no_magazines.fetch_sub(1, std::memory_order_seq_cst);
  }
  NoMagazines(const NoMagazines&) = delete;
  NoMagazines& operator=(const NoMagazines&) = delete;

 private:
  SlabOwner* const owner_;
};

}  // namespace tarn::internal
