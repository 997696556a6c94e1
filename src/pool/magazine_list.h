// The magazines that threads have of one pool: each thread's is found through its heap's table of pools, and
// all of them in a list, for who visits them.
//
// Threads: a magazine is its thread's while that is inside of the magazine's lock, or holds the pool's mutex;
// and any thread's that holds the pool's mutex and has visited all. The list changes under the mutex. A
// thread that ends leaves its magazines to the next that gets its heap.
#pragma once
#include <atomic>
#include <cstdint>
#include <new>

#include "base/relaxed.h"
#include "os/owner_lock.h"
#include "page/metadata.h"
#include "thread/this_thread.h"

namespace tarn::internal {

/// Takes a slot of the threads' tables. \returns PoolTable::kMostSlots when none is left. \pre the registry's
/// lock is held.
std::uint32_t take_pool_slot();
/// \pre the registry's lock is not held.
void give_back_pool_slot(std::uint32_t slot);

/// What each magazine begins with.
template <typename Magazine>
struct ListedMagazine {
  os::OwnerLock lock;
  std::uint32_t place = 0;   // in the list: 0 for the first one; constant once it is listed
  Magazine* next = nullptr;  // the same
};

template <typename Magazine>
class MagazineList {
 public:
  MagazineList(std::uint32_t slot, std::uint64_t serial) : serial_(serial), slot_(slot) {}

  /// \returns nullptr when the thread has none yet.
  TARN_INLINE Magazine* of_this_thread() const {
    const ThreadHeap* const heap = this_heap();
    return heap != nullptr ? static_cast<Magazine*>(heap->pools.find(slot_, serial_)) : nullptr;
  }

  /// The same, quicker where make_of_this_thread() was last called for this list.
  TARN_INLINE Magazine* of_this_thread_at_hand() const {
    const ThreadHeap* const heap = this_heap();
    if (heap == nullptr) return nullptr;
    if (void* const at_hand = heap->pools.find_at_hand(serial_)) [[likely]]
      return static_cast<Magazine*>(at_hand);
    return static_cast<Magazine*>(heap->pools.find(slot_, serial_));
  }

  /// The same; makes it if there is none. \returns nullptr when the thread has no heap, or memory is refused.
  /// \pre the pool's mutex is held.
  Magazine* make_of_this_thread() {
    ThreadHeap* const heap = this_heap();
    if (heap == nullptr) return nullptr;
    if (void* const made = heap->pools.find_hidden(slot_, serial_)) {
      heap->pools.keep_at_hand(serial_, made);
      return static_cast<Magazine*>(made);
    }
    void* const record = metadata.allocate(sizeof(Magazine));
    if (record == nullptr) return nullptr;
    auto* const magazine = new (record) Magazine;
    if (!heap->pools.add(slot_, serial_, magazine)) {
      metadata.free(record, sizeof(Magazine));
      return nullptr;
    }
    magazine->place = count_;
    heap->pools.keep_at_hand(serial_, magazine);
    magazine->next = first_;
    first_ = magazine;
    ++count_;
    return magazine;
  }

  /// \pre the pool's mutex is held, but for sums of atomic members.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (Magazine* magazine = first_; magazine != nullptr; magazine = magazine->next) visit(*magazine);
  }
  std::uint32_t count() const { return count_; }

  /// Keeps all threads from their magazines. \pre the pool's mutex is held.
  void visit_all() const {
    for_each([](Magazine& magazine) { magazine.lock.want(); });
    if (first_ != nullptr) os::OwnerLock::fence_all_threads();
    for_each([](Magazine& magazine) { magazine.lock.wait_for_owner(); });
  }
  void leave_all() const {
    for_each([](Magazine& magazine) { magazine.lock.let_go(); });
  }

  /// \pre no other thread uses the pool, and the registry's lock is not held.
  void end() {
    while (Magazine* const magazine = first_) {
      first_ = magazine->next;
      metadata.free(magazine, sizeof(Magazine));
    }
    give_back_pool_slot(slot_);
  }

 private:
  const std::uint64_t serial_;
  const std::uint32_t slot_;
  Relaxed<std::uint32_t> count_;
  std::atomic<Magazine*> first_{nullptr};
};

}  // namespace tarn::internal
