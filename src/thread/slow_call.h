// A slow call of a thread: which owner serves it, and the mutex that it holds meanwhile.
//
// While threads have homes of their own, the home serves. Where threads share owners, the owner of the
// processor that the thread runs on serves it: threads that run at once then meet neither at a mutex nor at
// the lines of a list, however many threads there are.
// Source: the per-CPU caches of google/tcmalloc; docs/decisions/013-slow-calls.md.
//
// Threads: the heap's own.
#pragma once
#include "thread/heap_record.h"

namespace tarn::internal {

/// \returns the owner that would serve a slow call now, in a class of bins.
SlabOwner& owner_near(const ThreadHeap& heap);

class SlowCall {
 public:
  /// Takes the heap's mutex, if there are other threads. Chooses heap.owner, but does not take its mutex.
  explicit SlowCall(ThreadHeap& heap);
  ~SlowCall() { heap_.owner = heap_.home; }
  SlowCall(const SlowCall&) = delete;
  SlowCall& operator=(const SlowCall&) = delete;

 private:
  [[gnu::cold]] void end_visit();

  detail::ProgramGuard guard_;
  ThreadHeap& heap_;
};

}  // namespace tarn::internal
