#include "thread/registry.h"

#include <new>

#include "os/helper_thread.h"
#include "page/metadata.h"
#include "page/page_cache.h"
#include "page/page_map.h"
#include "thread/scavenge.h"

namespace tarn::internal {
namespace {

constexpr unsigned kOrphansTried = 8;

std::uint64_t slow_calls(const ThreadHeap& heap) { return heap.counters.refills + heap.counters.flushes; }

}  // namespace

constinit Registry registry;

ThreadHeap* Registry::make_heap() {
  void* const record = metadata.allocate(sizeof(ThreadHeap));
  void* const cache = record == nullptr ? nullptr : metadata.allocate(sizeof(detail::ThreadCache));
  if (cache == nullptr) {
    if (record != nullptr) metadata.free(record, sizeof(ThreadHeap));
    return nullptr;
  }
  ThreadHeap* const heap = new (record) ThreadHeap{};
  heap->cache = new (cache) detail::ThreadCache(detail::empty_cache);
  heap->cache->page_index = page_map.index();
  if (thread_limits.count_calls) {
    constexpr std::size_t kBytes = (kClassCount + 1) * sizeof(CallCounts);
    void* const calls = metadata.allocate(kBytes);
    if (calls == nullptr) return nullptr;
    heap->calls = new (calls) CallCounts[kClassCount + 1]{};
  }
  heap->next_in_registry = first_;
  first_ = heap;
  return heap;
}

ThreadHeap* Registry::attach() {
  os::LockGuard guard(mutex_);
  ThreadHeap* heap = first_orphan_;
  if (heap != nullptr) {
    first_orphan_ = heap->next_orphan;
    orphan_count_.fetch_sub(1, std::memory_order_relaxed);
  } else {
    heap = make_heap();
    if (heap == nullptr) return nullptr;
  }
  os::LockGuard heap_guard(heap->mutex);
  heap->has_thread.store(true, std::memory_order_seq_cst);
  if (++live_threads_ > peak_threads_) peak_threads_ = live_threads_.load();
  return heap;
}

void Registry::push_orphan(ThreadHeap& heap) {
  heap.next_orphan = first_orphan_;
  first_orphan_ = &heap;
  orphan_count_.fetch_add(1, std::memory_order_relaxed);
  --live_threads_;
}

// The order matters: a freer that announces a slab after the last trim sees an orphan and collects by itself.
void Registry::detach(ThreadHeap& heap) {
  EndedSlabs ended;
  {
    os::LockGuard guard(heap.mutex);
    empty_magazines_locked(heap, ended);
    heap.has_thread.store(false, std::memory_order_seq_cst);
    trim_locked(heap, TrimDepth::kAll, ended);
  }
  os::LockGuard guard(mutex_);
  push_orphan(heap);
}

Span* Registry::adopt_slab(ThreadHeap& heap, SizeClass size_class) {
  if (orphan_count_.load(std::memory_order_relaxed) == 0 || !mutex_.try_lock()) return nullptr;
  Span* adopted = nullptr;
  unsigned tried = 0;
  for (ThreadHeap* orphan = first_orphan_; orphan != nullptr && adopted == nullptr && tried < kOrphansTried;
       orphan = orphan->next_orphan, ++tried) {
    if (!orphan->mutex.try_lock()) continue;
    adopted = orphan->available[size_class].first();
    if (adopted != nullptr) {
      orphan->available[size_class].remove(adopted);
      count_slab_out(*orphan, *adopted);
      const std::size_t taken = (adopted->block_count - adopted->free_count) * std::size_t{adopted->stride};
      orphan->taken_bytes -= taken;
      heap.taken_bytes += taken;
      adopted->owner.store(&heap, std::memory_order_seq_cst);
    }
    orphan->mutex.unlock();
  }
  mutex_.unlock();
  return adopted;
}

// Heaps are only ever added, in front, so the list can be walked without the mutex once its head is known.
ThreadHeap* Registry::first_heap() {
  os::LockGuard guard(mutex_);
  return first_;
}

bool Registry::trim_idle_heaps() {
  bool all_were_idle = true;
  for (ThreadHeap* heap = first_heap(); heap != nullptr; heap = heap->next_in_registry) {
    if (os::helper_must_stop()) return false;
    bool is_due = false;
    EndedSlabs ended;
    {
      const GiveBackGuard give_back;
      if (!heap->mutex.try_lock()) {
        all_were_idle = false;
        continue;
      }
      const bool is_idle = slow_calls(*heap) == heap->slow_calls_at_last_trim;
      heap->slow_calls_at_last_trim = slow_calls(*heap);
      if (!is_idle) {
        all_were_idle = heap->is_trimmed = false;
        if (heap->peak_taken_bytes > heap->taken_bytes)
          heap->peak_taken_bytes -= (heap->peak_taken_bytes - heap->taken_bytes) / 4;
        give_up_spare_locked(*heap, most_spare_bytes(*heap), ended);
      }
      is_due = is_idle && !(heap->is_trimmed && heap->pending_count.load(std::memory_order_relaxed) == 0);
      if (is_due) trim_locked(*heap, TrimDepth::kIdle, ended);
      heap->is_trimmed = is_idle;
      heap->mutex.unlock();
      ended.give_back();
    }
    if (is_due) scavenge(*heap);
  }
  return all_were_idle;
}

std::size_t Registry::trim_all_heaps() {
  std::size_t purged = 0;
  // First all announcements: collecting one heap's may pass some on to another.
  {
    EndedSlabs ended;
    for_each_heap([&](ThreadHeap& heap) { collect_all_pending_locked(heap, ended); });
  }
  for (ThreadHeap* heap = first_heap(); heap != nullptr; heap = heap->next_in_registry) {
    EndedSlabs ended;
    {
      const GiveBackGuard give_back;
      {
        os::LockGuard guard(heap->mutex);
        trim_locked(*heap, TrimDepth::kAll, ended);
      }
      ended.give_back();
    }
    purged += scavenge(*heap);
  }
  return purged;
}

void Registry::show_page_index() {
  for_each_heap([](ThreadHeap& heap) {
    if (heap.cache != nullptr) heap.cache->page_index = page_map.index();
  });
}

void Registry::visit_heaps_for_fork(os::ForkSet::Visit visit) {
  for (ThreadHeap* heap = first_; heap != nullptr; heap = heap->next_in_registry) visit(heap->mutex);
}

void Registry::keep_only_after_fork(ThreadHeap* own) {
  EndedSlabs ended;
  os::LockGuard guard(mutex_);
  first_orphan_ = nullptr;
  orphan_count_.store(0, std::memory_order_relaxed);
  for (ThreadHeap* heap = first_; heap != nullptr; heap = heap->next_in_registry) {
    if (heap == own || heap == &shared_heap_) continue;
    os::LockGuard heap_guard(heap->mutex);
    empty_magazines_locked(*heap, ended);
    heap->has_thread.store(false, std::memory_order_seq_cst);
    push_orphan(*heap);
  }
  live_threads_ = own != nullptr ? 1 : 0;
}

}  // namespace tarn::internal
