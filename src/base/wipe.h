// Overwriting memory whose contents nobody may find any more.
#pragma once
#include <cstddef>
#include <cstring>

namespace tarn::internal {

/// Overwrites bytes with zeros, also where a compiler sees that nobody reads them again.
inline void wipe(void* start, std::size_t bytes) {
  std::memset(start, 0, bytes);
  asm volatile("" : : "r"(start) : "memory");  // may read them, as far as the compiler knows
}

}  // namespace tarn::internal
