// A call of the general pool, while calls are recorded (WatchSwitches::recording), or a test counts those of
// the thread: the doors of the general pool make one, which puts the call down in the ring of the thread's
// heap where calls are recorded. What the call itself asks of the general pool is no call of the program, and
// is neither put down nor counted.
//
// An allocation is numbered after it was made, a free before: so the numbers of a block's calls never fall,
// whichever threads make them.
// Threads: on the stack of the caller, with no lock held.
#pragma once
#include "thread/this_thread.h"

namespace tarn::internal {

/// Calls of threads without a heap, which no ring could take.
inline constinit std::atomic<std::uint64_t> unseen_calls{0};

/// Whether calls of the thread are to pass a RecordedCall.
inline bool sees_calls() { return watch_switches.is_recording() || this_thread().is_counted; }

class RecordedCall {
 public:
  /// \param heap the thread's; nullptr: it has none, since memory was refused or it has ended
  explicit RecordedCall(ThreadHeap* heap) : heap_(heap) {
    is_outermost_ = heap == nullptr || !heap->calls_made.is_inside;
    is_recorded_ = is_outermost_ && watch_switches.is_recording();
    if (heap != nullptr) heap->calls_made.is_inside = true;
  }
  ~RecordedCall() {
    if (heap_ != nullptr && is_outermost_) heap_->calls_made.is_inside = false;
  }
  RecordedCall(const RecordedCall&) = delete;
  RecordedCall& operator=(const RecordedCall&) = delete;

  /// The scope that counts the call; nullptr where there is none, or the call is not the program's own.
  detail::ScopedCalls* counted_in() const {
    return is_outermost_ && heap_ != nullptr ? heap_->scoped_calls : nullptr;
  }

  /// \returns the number of a call that happens now; 0: it is not put down.
  std::uint64_t order() const { return is_recorded_ ? CallRing::order() : 0; }

  /// \pre the block was made just now
  void note_allocated(trace::Operation operation, const void* block, std::size_t size,
                      unsigned alignment_log2 = 0) {
    add(operation, block, size, order(), alignment_log2);
  }
  /// \pre the block is live still, or was when `order` was read
  void note_freed(const void* block, std::uint64_t order) {
    add(trace::Operation::kFree, block, 0, order, 0);
  }
  /// \param order as it was before the call
  void note_resized(const void* from, std::uint64_t order, const void* to, std::size_t size) {
    add(trace::Operation::kResizeFrom, from, 0, order, 0);
    add(trace::Operation::kResizeTo, to, size, this->order(), 0);
  }

 private:
  void add(trace::Operation operation, const void* block, std::size_t size, std::uint64_t order,
           unsigned alignment_log2) {
    if (!is_recorded_ || !watch_switches.is_recording()) return;  // it may be over meanwhile
    if (heap_ != nullptr)
      heap_->calls_made.add(operation, block, size, order, alignment_log2);
    else
      unseen_calls.fetch_add(1, std::memory_order_relaxed);
  }

  ThreadHeap* const heap_;
  bool is_outermost_, is_recorded_;
};

}  // namespace tarn::internal
