// What each call for memory asks before it is made: a test may have it fail, and growth is told.
#pragma once
#include <atomic>
#include <cstdint>

#include "os/memory/growth_watch.h"

namespace tarn::internal::os {

enum class Call : std::uint8_t { kReserve, kMap, kCommit, kPurge, kMove, kDump, kLock };
/// kWithoutEffect: the call reports success, and does nothing.
enum class Fault : std::uint8_t { kNone, kRefused, kWithoutEffect };
using FaultHook = Fault (*)(Call);
inline constinit std::atomic<FaultHook> fault_hook{nullptr};

inline Fault fault_of(Call call) {
  constexpr const char* kGrowthOfCall[] = {
      "addresses reserved", "memory mapped", "memory committed", nullptr, "pages moved", nullptr, nullptr};
  if (const char* const growth = kGrowthOfCall[static_cast<unsigned>(call)]; growth != nullptr)
    tell_growth(growth);
  const FaultHook hook = fault_hook.load(std::memory_order_relaxed);
  return hook == nullptr ? Fault::kNone : hook(call);
}
inline bool must_fail(Call call) { return fault_of(call) != Fault::kNone; }

}  // namespace tarn::internal::os
