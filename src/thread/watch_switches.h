// Counts the switches of observation.h: by it a thread sees, with one load, that it must heed one.
// Threads: any; tools write it from outside.
#pragma once
#include <atomic>
#include <cstdint>

#include "base/units.h"

namespace tarn::internal {

struct alignas(kCacheLineBytes) WatchSwitches {
  std::atomic<std::uint32_t> generation{0};  // 0 before the first switch, and never again
};
inline constinit WatchSwitches watch_switches{};

}  // namespace tarn::internal
