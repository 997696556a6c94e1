// When a pool that threads share gets magazines for them: once it is called much. Until then its mutex costs
// little, and memory for magazines would be lost.
#pragma once
#include "tarn/detail/thread_cache.h"

namespace tarn::internal {

/// Threads: under the pool's mutex.
class SharedUse {
 public:
  /// Counts a call that had to lock; one by another thread than the last counts as many. \returns whether it
  /// is time for magazines; it is again after as many calls.
  bool note_allocation() {
    note_free();
    if (calls_ < kEnough) return false;
    calls_ = 0;
    return true;
  }
  /// The same for a free, behind which the pool may end at any moment: it begins no magazines.
  void note_free() {
    calls_ += last_user_ == &detail::thread_cache ? 1 : kOfAnother;
    last_user_ = &detail::thread_cache;
  }
  /// Call for each call, and before that for one that had to wait for another thread's.
  void note_call() { waits_ -= waits_ != 0; }
  void note_wait() { waits_ += waits_ < 2 * kManyWaits ? kPerWait : 0; }
  /// Whether calls wait again and again, more often than each kPerWait-th.
  bool has_waited_much() const { return waits_ >= kManyWaits; }

 private:
  static constexpr unsigned kEnough = 1024, kOfAnother = 64, kPerWait = 64, kManyWaits = 16 * kPerWait;

  const void* last_user_ = nullptr;
  unsigned calls_ = 0;
  unsigned waits_ = 0;
};

}  // namespace tarn::internal
