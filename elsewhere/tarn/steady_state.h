#pragma once
#include <utility>

#include "../../include/tarn/steady_state.h"

namespace TARN_NAMESPACE::detail {

/// Nobody tells of growth here: a guard is armed, and counts none.
inline bool steady_state_is_armed = false;
inline bool arm_steady_state(AtGrowth, const char*) noexcept {
  return !std::exchange(steady_state_is_armed, true);
}
inline void disarm_steady_state() noexcept { steady_state_is_armed = false; }
inline std::size_t steady_state_growth_count() noexcept { return 0; }

}  // namespace TARN_NAMESPACE::detail
