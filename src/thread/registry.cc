#include "thread/registry.h"

#include <bit>
#include <climits>
#include <new>
#include <type_traits>

#include "central/cached/cached_spans.h"
#include "central/cached/depot.h"
#include "central/live_blocks.h"
#include "central/slabs/class_slabs.h"
#include "central/slabs/remote_free.h"
#include "central/trim.h"
#include "os/checker.h"
#include "os/fatal.h"
#include "os/locks/owner_lock.h"
#include "os/memory/memory.h"
#include "os/process/process.h"
#include "os/process/process_status.h"
#include "page/give_back/page_cache.h"
#include "page/memory/metadata.h"
#include "page/spans/live_map.h"
#include "page/spans/page_map.h"
#include "thread/magazine.h"
#include "thread/watch/watch_switches.h"

namespace tarn::internal {
namespace {

/// \returns a record of which every byte is 0; nullptr when memory is refused.
template <typename T>
T* take() {
  static_assert(std::is_trivially_destructible_v<T>);
  return static_cast<T*>(metadata.allocate_zeroed(sizeof(T)));
}

template <typename T>
void give_back(T* record) {
  if (record != nullptr) metadata.free(record, sizeof(T));
}

constexpr unsigned kUnusedTried = 8;

// Where addresses are limited, a cache's are so much of the limit: for 1 GiB, all classes.
constexpr std::size_t kCacheShareOfLimit = 2048;

// A thread that ends leaves magazines, parked blocks, and spare slabs, each up to this size: the next thread
// may be one that calls rarely, and no other owner takes any of them.
constexpr std::size_t kMostLeftBytes = 512 * 1024;

// \returns whether the owner has no thread any more.
bool end_thread_locked(ThreadHeap& heap, HeapUse use) {
  heap.batch.leave();  // a thread that was cancelled in a hit
  __atomic_store_n(&heap.cache->ends_handles, 0, __ATOMIC_RELEASE);
  heap.shown = {};
  heap.use.store(use, std::memory_order_relaxed);
  return heap.home->threads.fetch_sub(1, std::memory_order_seq_cst) == 1;
}

// The order matters, for both: a freer that announces a slab after the last look sees an owner without a
// thread and collects itself.
void return_all_locked(ThreadHeap& heap, ReturnedPages& returned) {
  drop_magazines_locked(heap, returned);
  heap.home->is_trimmed = false;
  if (end_thread_locked(heap, HeapUse::kNone)) trim_locked(*heap.home, TrimDepth::kAll, returned);
}

void leave_locked(ThreadHeap& heap, ReturnedPages& returned) {
  if (heap.magazine_bytes > kMostLeftBytes) drop_magazines_locked(heap, returned);
  if (end_thread_locked(heap, HeapUse::kLeft)) {
    limit_parked(*heap.home, kMostLeftBytes, UINT_MAX, returned);
    end_spare_slabs(*heap.home, kMostLeftBytes, returned);
    end_cached_spans(*heap.home, returned);
    collect_all_announced_locked(*heap.home, returned);
  }
  heap.home->is_trimmed = false;
}

// \param limit of the address space; SIZE_MAX: none.
std::size_t room_of_a_cache(std::size_t limit) {
  const std::size_t share = round_up(limit / kCacheShareOfLimit, kOsPageBytesLargest);
  return share < detail::kMostCacheBytes ? share : detail::kMostCacheBytes;
}

bool add_to_cache(void* cache, std::size_t before, std::size_t now) {
  char* const more = static_cast<char*>(cache) + before;
  if (!os::commit(more, now - before)) return false;
  os::note_ordered_by_atomics(more, now - before);
  metadata.count_elsewhere(now - before);
  return true;
}

void hide(const ShownRecords& shown) {
  for (detail::ThreadCache** const pointer : {shown.cache, shown.derived})
    if (pointer != nullptr) __atomic_store_n(pointer, &detail::empty_cache.cache, __ATOMIC_SEQ_CST);
}

}  // namespace

constinit Registry registry;

// \returns a heap of the owner that gets the next heap; nullptr when that is to be a new one. Heaps are made
// when all others have a thread, so owners have equally many.
ThreadHeap* Registry::next_neighbour_locked() {
  const std::uint32_t count = owner_count_.load(std::memory_order_relaxed);
  // There may be more owners than heaps can be found of, when threads had one each before.
  return count < most_owners_ ? nullptr : first_of_owner_[next_shared_++ % at_most(kMostShared, count)];
}

void Registry::set_most_owners(std::uint32_t most) {
  os::LockGuard guard(owners.mutex());
  most_owners_ = most;
}

void Registry::set_magazine_limit(std::size_t bytes) {
  const std::size_t before = thread_limits.magazine_bytes;
  if (bytes == before) return;
  thread_limits.magazine_bytes = bytes;
  if (bytes < before) ++thread_limits.times_lowered;
  os::LockGuard guard(owners.mutex());
  // The shared owner keeps nothing.
  owners.for_each_locked([&](SlabOwner& owner) {
    if (&owner != &owners.shared()) owner.kept_limit_bytes = bytes;
  });
}

SlabOwner* Registry::owner_in_use(std::uint32_t number) const {
  const std::uint32_t count = at_most(kMostShared, owner_count_.load(std::memory_order_acquire));
  SlabOwner* const owner = owner_of_number_[number % count].load(std::memory_order_relaxed);
  return owner->threads.load(std::memory_order_relaxed) == 0 ? nullptr : owner;
}

// Addresses for as many records as there may ever be: a thread that is about to read one cannot be told of
// another place. Nobody writes the records of a pool that the thread does not use, so these take no memory.
detail::ThreadCache* Registry::make_cache_locked() {
  begin_caches_locked();
  void* const cache = os::reserve(cache_room_, 1);
  if (cache == nullptr) return nullptr;
  if (add_to_cache(cache, 0, cache_bytes_)) return new (cache) detail::ThreadCache{};
  os::undo_reserve(cache, cache_room_);
  return nullptr;
}

void Registry::begin_caches_locked() {
  if (cache_room_ != 0) return;
  cache_room_ = room_of_a_cache(os::address_space_limit());
  cache_bytes_ = round_up(sizeof(detail::ThreadCache), os::page_bytes());
}

bool Registry::make_room_for_records(unsigned end) {
  os::LockGuard guard(owners.mutex());
  begin_caches_locked();
  std::size_t needed = end * sizeof(detail::Record);
  if (needed <= cache_bytes_) return true;
  if (needed > cache_room_) return false;
  needed = round_up(std::bit_ceil(needed), os::page_bytes());
  if (needed > cache_room_) needed = cache_room_;
  for (ThreadHeap* heap = first_; heap != nullptr; heap = heap->next)
    if (!add_to_cache(heap->cache, cache_bytes_, needed)) return false;
  cache_bytes_ = needed;
  return true;
}

std::size_t Registry::unused_cache_bytes(std::size_t limit) const {
  const std::size_t kept = kept_of_a_cache(limit);
  std::size_t bytes = 0;
  for_each_held([&](const ThreadHeap&) { bytes += cache_room_ - kept; });
  return bytes;
}

// A thread that is gone may hold the lock, in a child that shares its parent's memory.
void Registry::release_unused_caches(std::size_t limit) {
  if (!owners.mutex().try_lock()) return;
  begin_caches_locked();
  const std::size_t kept = kept_of_a_cache(limit);
  for (ThreadHeap* heap = first_; heap != nullptr && kept < cache_room_; heap = heap->next)
    os::release_tail(reinterpret_cast<char*>(heap->cache) + kept);
  cache_room_ = kept;
  owners.mutex().unlock();
}

std::size_t Registry::kept_of_a_cache(std::size_t limit) const {
  const std::size_t room = room_of_a_cache(limit);
  return room < cache_bytes_ ? cache_bytes_ : room < cache_room_ ? room : cache_room_;
}

ThreadHeap* Registry::make_heap_locked() {
  auto* const heap = take<ThreadHeap>();
  detail::ThreadCache* const cache = make_cache_locked();
  auto* const calls = thread_limits.count_calls ? take<ThreadCallCounts>() : nullptr;
  const bool is_refused =
      heap == nullptr || cache == nullptr || (thread_limits.count_calls && calls == nullptr);
  // Where threads share owners the heap's home is a neighbour's owner; else it gets an owner of its own.
  ThreadHeap* const neighbour = next_neighbour_locked();
  SlabOwner* owner = nullptr;
  if (!is_refused) owner = neighbour == nullptr ? owners.make_locked() : neighbour->home;
  if (owner == nullptr) {
    give_back(heap);
    if (cache != nullptr) os::undo_reserve(cache, cache_room_);
    give_back(calls);
    return nullptr;
  }
  new (&heap->mutex) os::MemberMutex<os::LockRank::kMagazines>();
  heap->home = heap->owner = owner;
  heap->cache = cache;
  heap->cache->page_index = page_map.index();
  heap->cache->live_words = detail::live_words;
  if constexpr (detail::kIsHardened)
    detail::hardened_of(*heap->cache) = {guard_keys(), detail::guard_of(cache, guard_keys())};
  if (numbered_count_ != detail::kNumberedThreads) heap->cache->thread_number = ++numbered_count_;
  heap->calls = calls;
  heap->looks_seen = looks_at_owners;
  // Heaps of one owner stand side by side. Walks take no lock, so the heap is whole before it is linked.
  std::atomic<ThreadHeap*>& link = neighbour == nullptr ? first_ : neighbour->next;
  heap->next.store(link.load(std::memory_order_relaxed), std::memory_order_relaxed);
  link.store(heap, std::memory_order_release);
  if (neighbour == nullptr) {
    owner->kept_limit_bytes = std::size_t{thread_limits.magazine_bytes};
    const std::uint32_t number = owner_count_.load(std::memory_order_relaxed);
    owner->number = number;
    if (number < kMostShared) {
      first_of_owner_[number] = heap;
      owner_of_number_[number].store(owner, std::memory_order_relaxed);
    }
    owner_count_.store(number + 1, std::memory_order_release);
  }
  return heap;
}

// \returns the heap that was left last; if its owner has threads, one near it with an owner that has none.
// nullptr if all heaps have a thread.
ThreadHeap* Registry::take_unused_locked(Take which) {
  ThreadHeap *before = nullptr, *best = first_unused_, *previous = best;
  const auto is_alone = [](const ThreadHeap& heap) { return heap.home->threads == 0; };
  if (best == nullptr) return nullptr;
  for (unsigned tried = 1; which == Take::kAny && !is_alone(*best) && tried < kUnusedTried; ++tried) {
    ThreadHeap* const next = previous->next_unused;
    if (next == nullptr) break;
    if (is_alone(*next)) before = previous, best = next;
    previous = next;
  }
  if (before == nullptr)
    first_unused_ = best->next_unused;
  else
    before->next_unused = best->next_unused;
  best->is_unused = false;
  return best;
}

ThreadHeap* Registry::attach(Take which, ShownRecords shown) {
  os::LockGuard guard(owners.mutex());
  if (which == Take::kLeft && !has_left()) return nullptr;
  // A heap that no thread has any more, with what may still be cached in it, before a new one.
  ThreadHeap* heap = take_unused_locked(which);
  if (heap == nullptr) heap = make_heap_locked();
  if (heap == nullptr) return nullptr;
  const std::uint32_t now = heaps_in_use.fetch_add(1, std::memory_order_relaxed) + 1;
  if (now > peak_threads_.load(std::memory_order_relaxed))
    peak_threads_.store(now, std::memory_order_relaxed);
  owners.begin_use_locked(*heap->home);
  HeapGuard heap_guard(*heap);
  heap->shown = shown;
  if (heap->is_left()) left_count_.fetch_sub(1, std::memory_order_relaxed);
  heap->use.store(HeapUse::kThread, std::memory_order_relaxed);
  ++heap->home->slow_calls;
  heap->home->threads.fetch_add(1, std::memory_order_seq_cst);
  return heap;
}

void Registry::end_use_locked(ThreadHeap& heap) {
  owners.end_use_locked(*heap.home);
  heap.next_unused = first_unused_;
  heap.is_unused = true;
  first_unused_ = &heap;
  heaps_in_use.fetch_sub(1, std::memory_order_relaxed);
}

void Registry::detach(ThreadHeap& heap) {
  // As many as may soon be taken: nobody may call again.
  const std::uint32_t most_left = 2 * at_most(kMostShared, owner_count_.load(std::memory_order_relaxed));
  const bool is_left =
      may_leave_memory(heap.home->slab_bytes) && left_count_.load(std::memory_order_relaxed) < most_left;
  ReturnedPages returned;
  {
    HeapGuard guard(heap);
    if (is_left) {
      leave_locked(heap, returned);
      left_count_.fetch_add(1, std::memory_order_relaxed);
    } else {
      return_all_locked(heap, returned);
    }
  }
  {
    os::LockGuard guard(owners.mutex());
    end_use_locked(heap);
  }
  if (is_left) note_left_memory();
}

void Registry::return_left(ThreadHeap& heap, Left which) {
  ReturnedPages returned;
  const GiveBackGuard give_back;
  {
    HeapGuard guard(heap);
    // A thread may have taken the heap before its mutex was taken. One left recently waits for another look.
    if (!heap.is_left()) return;
    if (which == Left::kLong && heap.use == HeapUse::kLeft) return heap.use.store(HeapUse::kLongLeft);
    drop_magazines_locked(heap, returned);
    heap.home->is_trimmed = false;
    heap.use.store(HeapUse::kNone, std::memory_order_relaxed);
    left_count_.fetch_sub(1, std::memory_order_relaxed);
    if (heap.home->threads.load(std::memory_order_relaxed) == 0)
      trim_locked(*heap.home, TrimDepth::kAll, returned);
  }
  returned.give_back();
  returned.charge(0);
}

void Registry::return_all_left(Left which) {
  for (ThreadHeap* heap = first_; heap != nullptr; heap = heap->next)
    if (heap->is_left()) return_left(*heap, which);
}

// \returns whether there was one.
bool Registry::return_next_left() {
  ThreadHeap* heap = left_looked_at_ == nullptr ? first_.load() : left_looked_at_->next.load();
  while (heap != nullptr && !heap->is_left()) heap = heap->next;
  left_looked_at_ = heap;
  if (heap != nullptr) return_left(*heap, Left::kLong);
  return heap != nullptr;
}

LookState Registry::trim_idle(LookShare share) {
  if (share == LookShare::kAll) {
    return_all_left(Left::kLong);
  } else if (!owners.is_at_a_look() && return_next_left()) {
    return LookState::kHasMore;
  }
  const LookState state = owners.trim_idle(share);
  const bool is_some_left = left_count_.load(std::memory_order_relaxed) != 0;
  return is_some_left && state == LookState::kDoneAllIdle ? LookState::kDone : state;
}

void Registry::hide_all_records() {
  os::LockGuard guard(owners.mutex());
  for (ThreadHeap* heap = first_; heap != nullptr; heap = heap->next) {
    os::LockGuard heap_guard(heap->mutex);
    // A thread that has noticed the last switch would not show its records again.
    if (heap->shown.switch_noticed == watch_switches.generation.load(std::memory_order_seq_cst)) continue;
    hide(heap->shown);
  }
}

// Hits take no lock. So the thread's pointers are hidden first, then all threads fenced: from then on no hit
// begins, and one that had begun has either ended or stands between two of its few steps
// (take_lower_blocks_locked). Before the thread shows its records again it sees `visit`: in a slow call,
// under the mutex, it closes the gaps; elsewhere it leaves the records hidden. A watched thread's hits do not
// ask the pointers, and a batch is many steps: nothing is taken of such heaps. Source: hide_all_records(),
// and the fence of os/locks/owner_lock.h.
void Registry::ask_all() {
  os::LockGuard guard(owners.mutex());
  for (ThreadHeap* heap = first_; heap != nullptr; heap = heap->next) {
    os::LockGuard heap_guard(heap->mutex);
    const ShownRecords& shown = heap->shown;
    if (shown.cache == nullptr || heap->visit != Visit::kNone) continue;
    heap->visit.store(Visit::kAsked, std::memory_order_seq_cst);
    hide(shown);
  }
}

// A hit of the hardened library writes to any slot of the reserve.
void Registry::collect_magazines() {
  if (detail::kIsHardened || heaps_in_use.load(std::memory_order_relaxed) < 2 || os::is_fork_owner()) return;
  os::OwnerLock::prepare();
  if (!os::OwnerLock::can_fence_all_threads()) return;
  ask_all();
  os::OwnerLock::fence_all_threads();
  for (ThreadHeap* heap = first_; heap != nullptr; heap = heap->next) {
    ReturnedPages returned;
    HeapGuard guard(*heap);
    if (heap->visit != Visit::kAsked || heap->shown.is_watched || heap->batch.is_inside()) continue;
    heap->visit.store(Visit::kTaken, std::memory_order_relaxed);
    take_lower_blocks_locked(*heap, returned);
  }
}

void Registry::show_page_index() {
  for_each_heap([](ThreadHeap& heap) { heap.cache->page_index = page_map.index(); });
}

void Registry::visit_for_fork(os::ForkSet::Visit visit) {
  for (ThreadHeap* heap = first_; heap != nullptr; heap = heap->next) visit(heap->mutex);
}

void Registry::validate() {
  os::LockGuard guard(owners.mutex());
  // Heaps of one owner stand side by side; those with a thread are neither unused nor of an orphan.
  std::size_t unused = 0, in_use = 0;
  for (const ThreadHeap* heap = first_; heap != nullptr;) {
    const SlabOwner& owner = *heap->home;
    os::LockGuard owner_guard(heap->home->mutex);
    std::uint32_t threads = 0;
    for (; heap != nullptr && heap->home == &owner; heap = heap->next) {
      ++(heap->is_unused ? unused : in_use);
      threads += heap->use == HeapUse::kThread;
      TARN_CHECK(heap->use != HeapUse::kThread || (!heap->is_unused && !owner.is_orphan));
    }
    TARN_CHECK(owner.threads.load() == threads);
  }
  for (const ThreadHeap* heap = first_unused_; heap != nullptr; heap = heap->next_unused, --unused)
    TARN_CHECK(heap->is_unused && unused != 0);
  TARN_CHECK(unused == 0 && in_use == heaps_in_use.load());
}

void Registry::keep_only_after_fork(ThreadHeap* own) {
  ReturnedPages returned;
  os::LockGuard guard(owners.mutex());
  for (ThreadHeap* heap = first_; heap != nullptr; heap = heap->next) {
    if (heap == own || heap->is_unused) continue;
    HeapGuard heap_guard(*heap);
    // Its thread is not in the child and cannot end: what its end would have returned goes back here.
    if (heap->use == HeapUse::kThread) {
      drop_magazines_locked(*heap, returned);
      end_thread_locked(*heap, HeapUse::kNone);
      heap->home->is_trimmed = false;
    }
    end_use_locked(*heap);
  }
}

}  // namespace tarn::internal
