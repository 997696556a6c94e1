// A block's own pattern, so that a block handed out twice, or written by the allocator, is seen; and its
// address.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tarn::test {

/// Blocks up to this size are filled whole; of larger ones both ends, and a word in every 512 bytes.
inline constexpr std::size_t kFilledWhole = 16 * 1024;

void fill(void* block, std::size_t size, std::uint64_t pattern);

/// \returns whether the first `size` bytes of a block of `filled_size` still hold its pattern.
bool holds(const void* block, std::size_t size, std::size_t filled_size, std::uint64_t pattern);
inline bool holds(const void* block, std::size_t size, std::uint64_t pattern) {
  return holds(block, size, size, pattern);
}

bool is_zero(const void* block, std::size_t size);

inline std::uintptr_t address(const void* block) { return reinterpret_cast<std::uintptr_t>(block); }

/// Hides a value from the compiler, which would warn of an impossible size, or fold the call away.
template <typename Value>
Value opaque(Value value) {
  asm volatile("" : "+r"(value));
  return value;
}

}  // namespace tarn::test
