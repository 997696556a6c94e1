#include "thread/this_thread.h"

#include <pthread.h>

#include <new>

#include "page/metadata.h"
#include "page/page_map.h"
#include "thread/background.h"
#include "thread/registry.h"

namespace tarn::detail {

constinit void* const empty_magazine[1] = {nullptr};

namespace {
constexpr std::uint16_t kNoRecord = 0;

constexpr ThreadCache make_empty_cache() {
  ThreadCache cache{};
  for (Record& record : cache.records) record = internal::kEmptyRecord;
  cache.page_index = {&kNoRecord, 0};
  return cache;
}
}  // namespace

[[gnu::tls_model("initial-exec")]] constinit thread_local ThreadCache thread_cache = make_empty_cache();

}  // namespace tarn::detail

namespace tarn::internal {
namespace {

struct ThisThread {
  ThreadHeap* heap;
  void* scope;
  bool has_ended;
};
[[gnu::tls_model("initial-exec")]] constinit thread_local ThisThread this_thread{};

constinit os::Mutex hooks_mutex;
constinit std::atomic<bool> end_key_is_made{false};
constinit std::atomic<bool> fork_hooks_are_set{false};
pthread_key_t end_key;

// Destructors of other keys and of libc run after this one and may still allocate: has_ended sends them to the shared
// heap.
void on_thread_end(void* heap) {
  this_thread.has_ended = true;
  this_thread.heap = nullptr;
  registry.detach(*static_cast<ThreadHeap*>(heap));
}

void before_fork() { registry.lock_all_for_fork(); }
void after_fork_in_parent() { registry.unlock_all_after_fork(); }
void after_fork_in_child() {
  new (&hooks_mutex) os::Mutex;  // a starting thread may have held it
  background.forget_after_fork();
  registry.unlock_all_after_fork();
  registry.keep_only_after_fork(this_thread.heap);
}

bool install_hooks() {
  if (!end_key_is_made.load(std::memory_order_acquire)) {
    os::LockGuard guard(hooks_mutex);
    if (!end_key_is_made) end_key_is_made = pthread_key_create(&end_key, on_thread_end) == 0;
  }
  // May allocate, so it comes without a lock, and the thread has its heap by now.
  if (!fork_hooks_are_set.exchange(true)) pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  return end_key_is_made;
}

}  // namespace

namespace {

bool put_records_away(ThreadHeap& heap) {
  os::LockGuard guard(heap.mutex);
  if (heap.own_records == nullptr)
    heap.own_records = static_cast<detail::Record*>(metadata.allocate(sizeof detail::thread_cache.records));
  if (heap.own_records == nullptr) return false;
  for (unsigned bin = 0; bin < kClassCount; ++bin) {
    heap.own_records[bin] = detail::thread_cache.records[bin];
    detail::thread_cache.records[bin] = kEmptyRecord;
  }
  heap.records = heap.own_records;
  return true;
}

void bring_records_back(ThreadHeap& heap) {
  os::LockGuard guard(heap.mutex);
  for (unsigned bin = 0; bin < kClassCount; ++bin) detail::thread_cache.records[bin] = heap.own_records[bin];
  heap.records = detail::thread_cache.records;
}

}  // namespace

void* this_thread_scope() { return this_thread.scope; }

bool set_this_thread_scope(void* scope) {
  ThreadHeap* const heap = this_thread.heap;
  // A thread without a heap has nothing in reach; nor has one where every call is slow.
  if (heap != nullptr && !thread_limits.every_call_is_slow) {
    if (this_thread.scope == nullptr && scope != nullptr && !put_records_away(*heap)) return false;
    if (this_thread.scope != nullptr && scope == nullptr) bring_records_back(*heap);
  }
  this_thread.scope = scope;
  return true;
}

ThreadHeap* this_heap() { return this_thread.heap; }
bool this_thread_has_ended() { return this_thread.has_ended; }

ThreadHeap* attach_this_thread() {
  if (this_thread.has_ended) return nullptr;
  ThreadHeap* const heap = registry.attach(detail::thread_cache.records);
  if (heap == nullptr) return nullptr;
  this_thread.heap = heap;
  detail::thread_cache.page_index = page_map.index();
  if (install_hooks() && pthread_setspecific(end_key, heap) == 0) return heap;
  // The end of a thread that has no key goes unseen: it must not keep anything.
  on_thread_end(heap);
  return nullptr;
}

}  // namespace tarn::internal
