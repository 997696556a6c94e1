// The count of switches of what is watched (thread/watch/watch_switches.h), which the library and its tools
// raise.
#pragma once
#include <cstdint>

namespace tarn::internal {

/// 0 is the count before the first switch. \why not UINT32_MAX: one more than a count is never 0.
constexpr std::uint32_t next_switch(std::uint32_t count) {
  return count + 1 < UINT32_MAX && count != UINT32_MAX ? count + 1 : 1;
}
static_assert(next_switch(0) == 1 && next_switch(UINT32_MAX - 2) == UINT32_MAX - 1);
static_assert(next_switch(UINT32_MAX - 1) == 1 && next_switch(UINT32_MAX) == 1);

}  // namespace tarn::internal
