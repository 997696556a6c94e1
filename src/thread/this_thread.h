// The calling thread's heap.
#pragma once
#include "thread/heap_record.h"

namespace tarn::internal {

/// The thread's records as the derived forms of operator new and delete see them (override/new.cc): the empty
/// cache until show_records_to_derived_forms() is called, and again after each change of
/// detail::thread_cache. Never null.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local detail::ThreadCache* derived_cache;
inline void show_records_to_derived_forms() { derived_cache = detail::thread_cache; }

struct ThisThread {
  ThreadHeap* heap;
  void* scope;
  std::int64_t bytes_to_sample;  // of what it asks for, while it is watched (observation.h)
  std::uint64_t random;          // 0: before the first draw
  std::uint32_t calls_without_heap;
  std::uint32_t undisturbed_at;   // Observation
  std::uint32_t generation_seen;  // of the last switch that it has heeded
  bool is_watched;
  bool has_ended;
};
[[gnu::tls_model("initial-exec")]] extern constinit thread_local ThisThread this_thread;

/// \returns this thread's heap; nullptr before its first slow call and after its end.
inline ThreadHeap* this_heap() { return this_thread.heap; }

/// Gives the thread a heap if it has none. \returns nullptr when memory is refused or the thread has ended.
ThreadHeap* attach_this_thread();

/// The same, but only for a thread that calls often enough, and for the first thread of the process. \returns
/// nullptr for other threads too.
ThreadHeap* attach_if_earned();

/// Whether the thread's destructors have run: then the shared owner serves its calls.
bool this_thread_has_ended();

/// The scope that serves the thread's allocations in place of the general pool; nullptr: none.
void* this_thread_scope();

/// Shows the thread's records to the fast path, unless it is in a scope or watched.
void show_records_of_this_thread();

/// Changes the scope. While a thread has one, the fast path does not see its records, so that every call of
/// the general pool takes the slow door.
void set_this_thread_scope(void* scope);

}  // namespace tarn::internal
