// A watch that a tool has switched on from outside lasts only as long as the tool does: it counts `beat` a
// few times in each patience, and the slow calls that a watch makes look whether it still does. So a tool
// that was killed or stopped leaves no program slow.
//
// \why a count and no deadline: the tool and the program need not have the same clock.
// Threads: any; tools write `beat` from outside.
#pragma once
#include <atomic>
#include <cstdint>

#include "os/process/process.h"

namespace tarn::internal {

struct WatchLease {
  static constexpr std::uint64_t kPatienceMs = 2000;

  std::atomic<std::uint32_t> beat{0};  // 0: no tool keeps it, the program itself has switched the watch on
  std::atomic<std::uint32_t> seen{0};  // the last beat that a slow call has seen, and when that was new
  std::atomic<std::uint64_t> seen_ms{0};

  /// \returns true once, to one thread, when no beat has come for too long. \cost a load without a tool, else
  /// some ns.
  bool has_lapsed() { return beat.load(std::memory_order_relaxed) != 0 && has_lapsed_at(os::clock_ms()); }
  bool has_lapsed_at(std::uint64_t now_ms) {
    std::uint32_t now = beat.load(std::memory_order_relaxed);
    if (seen.load(std::memory_order_acquire) != now) {
      seen_ms.store(now_ms, std::memory_order_relaxed);
      seen.store(now, std::memory_order_release);
      return false;
    }
    return now != 0 && now_ms - seen_ms.load(std::memory_order_relaxed) > kPatienceMs &&
           beat.compare_exchange_strong(now, 0, std::memory_order_relaxed);
  }
  /// A watch begins anew.
  void begin() { seen.store(0, std::memory_order_release); }
  /// It is the program's own now.
  void end() { beat.store(0, std::memory_order_relaxed); }
};

struct WatchLeases {
  WatchLease profile, recording;
};
inline constinit WatchLeases watch_leases{};

}  // namespace tarn::internal
