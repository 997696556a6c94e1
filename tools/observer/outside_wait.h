// Marks where this tool waits for somebody else: for a file, or for memory that a file system has to
// fetch first. A file system that never answers holds a call in the kernel for good; who watches this tool
// (tools/tarn/system/guard.h) sees by these counts that it hangs there, and ends it.
//
// Threads: any. \cost two atomic additions
#pragma once
#include <atomic>
#include <cstdint>

namespace tarn::observer {

/// Waits that have begun and ended so far.
struct WaitCounts {
  std::atomic<std::uint64_t> begun{0}, ended{0};
};

/// Where waits are counted: the watcher's memory, shared with it, once there is one.
inline WaitCounts own_wait_counts;
inline WaitCounts* wait_counts = &own_wait_counts;

class OutsideWait {
 public:
  OutsideWait() { wait_counts->begun.fetch_add(1, std::memory_order_relaxed); }
  ~OutsideWait() { wait_counts->ended.fetch_add(1, std::memory_order_relaxed); }
  OutsideWait(const OutsideWait&) = delete;
  OutsideWait& operator=(const OutsideWait&) = delete;
};

}  // namespace tarn::observer
