// Overwriting memory whose contents nobody may find any more, and records before their use.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tarn::internal {

/// Overwrites bytes with zeros, also where a compiler sees that nobody reads them again.
inline void wipe(void* start, std::size_t bytes) {
  std::memset(start, 0, bytes);
  asm volatile("" : : "r"(start) : "memory");  // may read them, as far as the compiler knows
}

/// Sets a record of the library's to zeros that code in programs reads. \why not by memset: a sanitizer sees
/// its writes, and not the library's atomic stores that order them. \pre bytes is a multiple of 4.
inline void clear_unseen(void* record, std::size_t bytes) {
  auto* const words = static_cast<volatile std::uint32_t*>(record);
  for (std::size_t i = 0; i < bytes / sizeof *words; ++i) words[i] = 0;
}

}  // namespace tarn::internal
