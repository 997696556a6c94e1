#include "thread/registry.h"

#include <new>

#include "central/class_slabs.h"
#include "central/remote_free.h"
#include "central/trim.h"
#include "os/fatal.h"
#include "os/helper_thread.h"
#include "os/process.h"
#include "os/process_status.h"
#include "page/metadata.h"
#include "page/page_cache.h"
#include "page/page_map.h"
#include "thread/magazine.h"

namespace tarn::internal {
namespace {

/// Memory for one record of a type; nullptr when memory is refused.
template <typename T>
void* take() {
  return metadata.allocate(sizeof(T));
}

template <typename T>
void give_back(void* record) {
  if (record != nullptr) metadata.free(record, sizeof(T));
}

// A thread that ends leaves magazines, and spare slabs, up to this size: the next thread may be one that
// calls rarely, and no other owner takes spare slabs.
constexpr std::size_t kMostLeftBytes = 512 * 1024;

std::size_t slab_bytes_of(ThreadHeap& heap) {
  os::LockGuard guard(heap.mutex());
  return heap.owner->slab_bytes;
}

bool is_idle(ThreadHeap& heap) {
  os::LockGuard guard(heap.mutex());
  return heap.owner->slow_calls == heap.owner->slow_calls_at_last_trim;
}

// The order matters, for both: a freer that announces a slab after the last look sees an orphan and collects
// itself.
void return_all_locked(ThreadHeap& heap, ReturnedPages& returned) {
  drop_magazines_locked(heap, returned);
  heap.is_left = false;
  heap.owner->has_thread.store(false, std::memory_order_seq_cst);
  trim_locked(*heap.owner, TrimDepth::kAll, returned);
}

void leave_locked(ThreadHeap& heap, ReturnedPages& returned) {
  if (heap.magazine_bytes > kMostLeftBytes) drop_magazines_locked(heap, returned);
  end_spare_slabs(*heap.owner, kMostLeftBytes, returned);
  heap.is_left = true;
  heap.owner->has_thread.store(false, std::memory_order_seq_cst);
  collect_all_announced_locked(*heap.owner, returned);
  heap.owner->is_trimmed = false;
}

}  // namespace

constinit Registry registry;

ThreadHeap* Registry::make_heap_locked() {
  void* const record = take<ThreadHeap>();
  void* const cache = take<detail::ThreadCache>();
  void* const calls = thread_limits.count_calls ? take<ThreadCallCounts>() : nullptr;
  const bool is_refused =
      record == nullptr || cache == nullptr || (thread_limits.count_calls && calls == nullptr);
  SlabOwner* const owner = is_refused ? nullptr : owners.make_locked();
  if (owner == nullptr) {
    give_back<ThreadHeap>(record);
    give_back<detail::ThreadCache>(cache);
    give_back<ThreadCallCounts>(calls);
    return nullptr;
  }
  owner->spare_limit_bytes = thread_limits.magazine_bytes;
  ThreadHeap* const heap = new (record) ThreadHeap{};
  heap->owner = owner;
  heap->cache = new (cache) detail::ThreadCache(detail::empty_cache);
  heap->cache->page_index = page_map.index();
  if (calls != nullptr) heap->calls = new (calls) ThreadCallCounts{};
  heap->next = first_;
  first_ = heap;
  return heap;
}

ThreadHeap* Registry::attach(Take which) {
  os::LockGuard guard(owners.mutex());
  if (which == Take::kLeft && !has_left()) return nullptr;
  ThreadHeap* heap = first_unused_;
  if (heap != nullptr) {
    first_unused_ = heap->next_unused;
  } else {
    heap = make_heap_locked();
    if (heap == nullptr) return nullptr;
  }
  owners.begin_use_locked(*heap->owner);
  os::LockGuard heap_guard(heap->mutex());
  heap->is_left = false;
  ++heap->owner->slow_calls;
  heap->owner->has_thread.store(true, std::memory_order_seq_cst);
  return heap;
}

void Registry::end_use_locked(ThreadHeap& heap) {
  owners.end_use_locked(*heap.owner);
  heap.next_unused = first_unused_;
  first_unused_ = &heap;
}

void Registry::detach(ThreadHeap& heap) {
  // The helper ends with the main thread, and may do so before it looks.
  const bool is_main = os::thread_id() == os::process_id();
  const bool is_left = !is_main && may_leave_to_helper(slab_bytes_of(heap));
  ReturnedPages returned;
  {
    os::LockGuard guard(heap.mutex());
    if (is_left)
      leave_locked(heap, returned);
    else
      return_all_locked(heap, returned);
  }
  {
    os::LockGuard guard(owners.mutex());
    end_use_locked(heap);
  }
  if (is_left && !leave_to_helper()) return_left(heap);
}

void Registry::return_left(ThreadHeap& heap) {
  ReturnedPages returned;
  const GiveBackGuard give_back;
  {
    os::LockGuard guard(heap.mutex());
    if (!heap.is_left) return;
    return_all_locked(heap, returned);
  }
  returned.give_back();
}

ThreadHeap* Registry::first() {
  os::LockGuard guard(owners.mutex());
  return first_;
}

void Registry::return_all_left(Left which) {
  for (ThreadHeap* heap = first(); heap != nullptr && !os::helper_must_stop(); heap = heap->next)
    if (heap->is_left && (which == Left::kAll || is_idle(*heap))) return_left(*heap);
}

bool Registry::trim_idle() {
  return_all_left(Left::kIdle);
  return owners.trim_idle();
}

void Registry::show_page_index() {
  for_each_heap([](ThreadHeap& heap) { heap.cache->page_index = page_map.index(); });
}

void Registry::validate() {
  os::LockGuard guard(owners.mutex());
  std::size_t orphans = 0;
  for (const ThreadHeap* heap = first_; heap != nullptr; heap = heap->next) orphans += heap->owner->is_orphan;
  for (const ThreadHeap* heap = first_unused_; heap != nullptr; heap = heap->next_unused, --orphans)
    TARN_CHECK(heap->owner->is_orphan && orphans != 0);
  TARN_CHECK(orphans == 0);
}

void Registry::keep_only_after_fork(ThreadHeap* own) {
  ReturnedPages returned;
  os::LockGuard guard(owners.mutex());
  for (ThreadHeap* heap = first_; heap != nullptr; heap = heap->next) {
    if (heap == own || heap->owner->is_orphan) continue;
    os::LockGuard heap_guard(heap->mutex());
    drop_magazines_locked(*heap, returned);
    heap->owner->has_thread.store(false, std::memory_order_seq_cst);
    heap->owner->is_trimmed = false;
    end_use_locked(*heap);
  }
}

}  // namespace tarn::internal
