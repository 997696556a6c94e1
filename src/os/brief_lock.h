// A lock for some stores: its holder waits for nothing meanwhile, makes no call, and takes no other lock.
//
// It names the process of its holder, so that the child of a fork finds a lock free whose holder it does not
// have. What the lock guards is changed in such an order that each store leaves it whole.
// Threads: any. It has no rank, since nothing is locked behind it.
#pragma once
#include <atomic>
#include <cstdint>

#include "os/mutex.h"
#include "os/owner_lock.h"

namespace tarn::internal::os {

class BriefLock {
 public:
  bool try_lock() {
    const std::uint32_t here = this_process();
    std::uint32_t holder = holder_.load(std::memory_order_relaxed);
    return holder != here && holder_.compare_exchange_strong(holder, here, std::memory_order_acquire,
                                                             std::memory_order_relaxed);
  }
  /// Sleeps where the holder has lost its processor: nobody wakes this thread.
  void lock() {
    constexpr int kTries = 100;
    for (int tries = 0; !try_lock(); ++tries) {
      if (tries < kTries) continue;
      if (OwnerLock::are_owners_gone()) return;
      wait_on(holder_, this_process(), 1);
    }
  }
  void unlock() { holder_.store(kNobody, std::memory_order_release); }

  /// Another number in the child of each fork; never 0.
  static std::uint32_t this_process() {
    return OwnerLock::fences.process_number.load(std::memory_order_relaxed);
  }

 private:
  static constexpr std::uint32_t kNobody = 0;

  std::atomic<std::uint32_t> holder_{kNobody};
};

}  // namespace tarn::internal::os
