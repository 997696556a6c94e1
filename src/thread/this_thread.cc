#include "thread/this_thread.h"

#include "os/checker.h"
#include "os/locks/at_fork.h"
#include "os/locks/lock_rank.h"
#include "os/locks/owner_lock.h"
#include "os/memory/memory.h"
#include "os/process/processors.h"
#include "os/process/thread_end.h"
#include "page/give_back/background.h"
#include "page/memory/memory_limit.h"
#include "thread/registry.h"

namespace TARN_NAMESPACE::detail {

// Never written: its records are empty for allocate and full for deallocate. As it is all zeros, it takes no
// place in a file, and what is read of it no memory.
alignas(4096) constinit EmptyCache empty_cache{};

TARN_DEFINE_THREAD_VARIABLE(ThreadCache*, thread_cache) = &empty_cache.cache;

}  // namespace TARN_NAMESPACE::detail

namespace tarn::internal {

TARN_DEFINE_THREAD_VARIABLE(detail::ThreadCache*, derived_cache) = &detail::empty_cache.cache;

TARN_DEFINE_THREAD_VARIABLE(ThisThread, record_of_this_thread){};

namespace {

// A thread with fewer calls gets no new heap: its blocks come from the shared owner, at one lock per call. A
// new heap costs 20 KiB and a page per size class; that of a thread that has ended costs a few writes.
constexpr std::uint8_t kCallsForAHeap = 64;

static_assert(sizeof(ThisThread) + 2 * sizeof(detail::ThreadCache*) <= 64,
              "what libc keeps for libraries that are loaded at run time is little");

constinit std::atomic<bool> ends_are_watched{false};

// Called whenever one of these changes; a recording begins by a switch.
void note_whether_hits_are_hidden() {
  const bool hits_hidden = this_thread().is_watched() && this_thread().heap != nullptr &&
                           this_thread().scope == nullptr && !this_thread().is_counted &&
                           !watch_switches.is_recording();
  this_thread().hits_hidden_until = hits_hidden ? this_thread().switch_noticed() + 1 : 0;
}

// Shows the thread's own records to the fast path, or hides them; derived forms of operator new ask again.
// \why the exchange: another thread may hide the records at the same time, because of a switch that this one
// has not noticed, or to visit the magazines. Either that store comes later, or this thread sees the switch
// or the visit here.
void show_records(bool are_shown) {
  note_whether_hits_are_hidden();
  const bool may_be = are_shown && this_thread().heap != nullptr && !thread_limits.every_call_is_slow &&
                      !this_thread().is_watched() && !this_thread().is_counted;
  detail::ThreadCache* const empty = &detail::empty_cache.cache;
  __atomic_store_n(&TARN_OF_THREAD(derived_cache), empty, __ATOMIC_RELAXED);
  static_cast<void>(__atomic_exchange_n(detail::address_of_own_cache(),
                                        may_be ? this_thread().heap->cache : empty, __ATOMIC_SEQ_CST));
  if (may_be && (is_disturbed() || is_visited(*this_thread().heap)))
    __atomic_store_n(detail::address_of_own_cache(), empty, __ATOMIC_RELAXED);
}

// Destructors of other keys and of libc run after this one and may still allocate: has_ended makes the shared
// owner serve them.
void on_thread_end(void* heap) {
  this_thread().has_ended = true;
  this_thread().is_counted = false;
  this_thread().hits_hidden_until = 0;
  this_thread().heap = nullptr;
  show_records(false);
  registry.detach(*static_cast<ThreadHeap*>(heap));
}

// Without other threads a fork has nothing to wait for. Then it must not write either: each written page
// would be copied, in parent and child.
constinit unsigned careful_forks = 0;  // above 1: a fork within the handler of another

void before_fork() {
  if (os::is_only_thread()) return;
  const bool is_nested = os::is_fork_owner();
  os::fork_set.lock_all();
  if (!is_nested) os::OwnerLock::note_fork();
  ++careful_forks;
}

void after_fork_in_parent() {
  if (careful_forks == 0) return;
  --careful_forks;
  os::fork_set.unlock_all_in_parent();
}

void after_fork_in_child() {
  if (careful_forks == 0) return background.note_fork_of_one_thread();
  --careful_forks;
  os::OwnerLock::forget_other_threads();
  const bool had_others = os::fork_set.unlock_all_in_child();
  background.forget_after_fork();
  memory_limit.forget_after_fork();
  if (had_others) registry.keep_only_after_fork(this_thread().heap);
}

// Before main, so that no thread's first call can meet a fork that does not know the library yet. Before all
// other constructors, so that a fork takes our locks last: fork handlers of other libraries may wait for
// threads that allocate.
[[gnu::constructor(101)]] void begin_process() {
  os::begin_sanitizers();
  os::make_read_only(&detail::empty_cache, sizeof detail::empty_cache);
  os::note_processors();
  os::fork_set.set_walk(os::LockRank::kOwner, [](os::ForkSet::Visit visit) { owners.visit_for_fork(visit); });
  os::fork_set.set_walk(os::LockRank::kMagazines,
                        [](os::ForkSet::Visit visit) { registry.visit_for_fork(visit); });
  os::at_fork(before_fork, after_fork_in_parent, after_fork_in_child);
}

bool watch_thread_ends() {
  if (ends_are_watched.load(std::memory_order_acquire)) return true;
  os::LockGuard guard(os::global_mutex<os::LockRank::kThreadKey>());
  if (!ends_are_watched) ends_are_watched = os::watch_thread_ends(on_thread_end);
  return ends_are_watched;
}

ThreadHeap* attach(Registry::Take which) {
  if (this_thread().heap != nullptr || this_thread().has_ended) return this_thread().heap;
  ThreadHeap* const heap =
      registry.attach(which, {detail::address_of_own_cache(), &TARN_OF_THREAD(derived_cache),
                              this_thread().switch_noticed(), this_thread().is_watched()});
  if (heap == nullptr) return nullptr;
  this_thread().heap = heap;
  heap->scoped_calls = nullptr;
  if (!watch_switches.has_rings()) heap->calls_made.end();  // what the heap's last thread has left
  show_records_of_this_thread();
  if (watch_thread_ends() && os::note_for_thread_end(heap)) return heap;
  // Else the end of the thread will not be seen: so the thread must keep nothing.
  on_thread_end(heap);
  return nullptr;
}

}  // namespace

void show_records_of_this_thread() { show_records(this_thread().scope == nullptr); }

void* this_thread_scope() { return this_thread().scope; }

void set_this_thread_scope(void* scope) {
  this_thread().scope = scope;
  show_records(scope == nullptr);
}

bool this_thread_has_ended() { return this_thread().has_ended; }

ThreadHeap* attach_this_thread() { return attach(Registry::Take::kAny); }

ThreadHeap* attach_if_qualified() {
  const bool qualifies = registry.live_threads() == 0 || thread_limits.every_call_is_slow ||
                         this_thread().calls_without_heap == kCallsForAHeap;
  if (qualifies) return attach_this_thread();
  ++this_thread().calls_without_heap;
  return registry.has_left() ? attach(Registry::Take::kLeft) : nullptr;
}

}  // namespace tarn::internal
