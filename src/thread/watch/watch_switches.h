// Counts the switches of observation.h: a thread sees with one load that there is one it has not noticed. And
// whether calls are recorded (recorded_call.h), which watched threads look up beside it.
// Threads: any; tools write it from outside.
#pragma once
#include <atomic>
#include <cstdint>

#include "base/switch_count.h"
#include "base/units.h"

namespace tarn::internal {

enum class Recording : std::uint32_t {
  kOff,     // threads give back the memory of their rings when they notice the switch
  kOn,      // each call of the general pool is put down
  kEnding,  // none is, and what was can be fetched still
};

struct alignas(kCacheLineBytes) WatchSwitches {
  std::atomic<std::uint32_t> generation{0};  // 0 before the first switch, and never again
  std::atomic<Recording> recording{Recording::kOff};

  bool has_rings() const { return recording.load(std::memory_order_relaxed) != Recording::kOff; }
  bool is_recording() const { return recording.load(std::memory_order_relaxed) == Recording::kOn; }

  void count() {
    std::uint32_t now = generation.load(std::memory_order_relaxed);
    while (!generation.compare_exchange_weak(now, next_switch(now), std::memory_order_seq_cst)) {
    }
  }
};
inline constinit WatchSwitches watch_switches{};

}  // namespace tarn::internal
