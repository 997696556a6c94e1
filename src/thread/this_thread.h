// The calling thread's heap.
#pragma once
#include "thread/heap_record.h"
#include "thread/watch/watch_switches.h"

namespace tarn::internal {

/// The thread's records as the derived forms of operator new and delete see them (override/new.cc): the empty
/// cache until show_records_to_derived_forms() is called, and again after each change of
/// detail::thread_cache. Never null.
TARN_THREAD_VARIABLE(, detail::ThreadCache*, derived_cache);

struct ThisThread {
  ThreadHeap* heap;
  void* scope;
  std::int64_t bytes_to_sample;  // of what it asks for, while it is watched (observation.h)
  std::uint32_t random;          // 0: before the first draw
  std::uint32_t undisturbed_at;  // the last switch that it has noticed; one less while it is watched
  // One more than the last switch it has noticed, exactly when the thread is watched, has a heap, is in no
  // scope, and its calls are neither recorded nor counted by a test; else 0. While it is one more than the
  // count of switches, a slow door need look at nothing else before it takes a hit from the hidden records.
  std::uint32_t hits_hidden_until;
  std::uint8_t calls_without_heap;
  std::uint8_t slow_calls;  // modulo 256
  bool has_ended : 1;
  bool is_at_pause : 1;  // on the way to its next sample (observation.h)
  bool is_counted : 1;   // a scope of a test counts its calls (general/scoped_calls.h)
  bool watched;

  bool is_watched() const { return watched; }
  /// Whether it must notice a switch, or is watched. \param now the count of switches, also below.
  bool is_disturbed_at(std::uint32_t now) const { return now != undisturbed_at; }
  /// Whether its hits are what its hidden records have.
  bool has_hidden_hits_at(std::uint32_t now) const { return now + 1 == hits_hidden_until; }
  /// The last switch that it has noticed.
  std::uint32_t switch_noticed() const { return undisturbed_at + (watched ? 1 : 0); }
  void note_switch(std::uint32_t now, bool watches) {
    undisturbed_at = watches ? now - 1 : now;
    watched = watches;
  }
};
TARN_THREAD_VARIABLE(, ThisThread, record_of_this_thread);
TARN_INLINE ThisThread& this_thread() { return TARN_OF_THREAD(record_of_this_thread); }

/// Whether the calling thread must notice a switch, or is watched. \cost two loads.
TARN_INLINE bool is_disturbed() {
  return this_thread().is_disturbed_at(watch_switches.generation.load(std::memory_order_acquire));
}

/// Whether the calling thread's hits are what its hidden records have.
TARN_INLINE bool hits_are_hidden() {
  return this_thread().has_hidden_hits_at(watch_switches.generation.load(std::memory_order_acquire));
}

/// Whether others hide the records until the thread's next slow call.
inline bool is_visited(const ThreadHeap& heap) {
  return heap.visit.load(std::memory_order_seq_cst) != Visit::kNone;
}

// As show_records_of_this_thread: a switch or a visit may have come since the pointer was read.
inline void show_records_to_derived_forms() {
  __atomic_store_n(&TARN_OF_THREAD(derived_cache), detail::own_cache(), __ATOMIC_SEQ_CST);
  if (is_disturbed() || (this_thread().heap != nullptr && is_visited(*this_thread().heap)))
    __atomic_store_n(&TARN_OF_THREAD(derived_cache), &detail::empty_cache.cache, __ATOMIC_RELAXED);
}

/// \returns this thread's heap; nullptr before its first slow call and after its end.
inline ThreadHeap* this_heap() { return this_thread().heap; }

/// Gives the thread a heap if it has none. \returns nullptr when memory is refused or the thread has ended.
ThreadHeap* attach_this_thread();

/// The same, but only for a thread that calls often enough, and for the first thread of the process. \returns
/// nullptr for other threads too.
ThreadHeap* attach_if_qualified();

/// Whether the thread's destructors have run: then the shared owner serves its calls.
bool this_thread_has_ended();

/// The scope that serves the thread's allocations in place of the general pool; nullptr: none.
void* this_thread_scope();

/// Shows the thread's records to the fast path, unless it is in a scope, watched, or its calls are counted.
void show_records_of_this_thread();

/// Changes the scope. While a thread has one, the fast path does not see its records, so that every call of
/// the general pool takes the slow door.
void set_this_thread_scope(void* scope);

}  // namespace tarn::internal
