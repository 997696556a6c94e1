// Anonymous memory that is resident in the own process, read without allocating.
#pragma once
#include <cstdint>

namespace tarn::trace::player {

enum class Reading : std::uint8_t {
  kExact,  // walks all pages: /proc/self/smaps_rollup
  kQuick,  // the kernel's counters, which may lag by some pages of each processor: /proc/self/statm
};

std::uint64_t anonymous_bytes(Reading reading);

}  // namespace tarn::trace::player
