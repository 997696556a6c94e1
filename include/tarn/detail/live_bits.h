// Which of 64 neighbours are live, as the bits of a word: from a generation for each.
//
// Threads: others may write meanwhile; each generation is read once, whole. \why the loads are
// assembly: no C++ load of 16 bytes is atomic in its parts.
#pragma once
#include <cstddef>
#include <cstdint>

#include "tarn/detail/api.h"

namespace TARN_NAMESPACE::detail {

/// Moves bit i of the lower half to bit 2 * i. \pre the upper half is 0.
constexpr std::uint64_t spread_bits(std::uint64_t bits) {
  bits = (bits | bits << 16) & 0x0000ffff0000ffffu;
  bits = (bits | bits << 8) & 0x00ff00ff00ff00ffu;
  bits = (bits | bits << 4) & 0x0f0f0f0f0f0f0f0fu;
  bits = (bits | bits << 2) & 0x3333333333333333u;
  return (bits | bits << 1) & 0x5555555555555555u;
}

/// \returns bit i of the result from the lowest bit of number i. \pre count is even and at most 64.
TARN_INLINE std::uint64_t bits_of_numbers(const void* numbers, std::uint32_t count) {
  using TwoNumbers [[gnu::may_alias]] = std::uint64_t;
  const auto* const pairs = static_cast<const TwoNumbers*>(numbers);
  // Two bits a step: the lower half of the sum gets those of even numbers, the upper half those of odd ones.
  std::uint64_t halves = 0;
  for (std::uint32_t i = count / 2; i-- > 0;)
    halves = halves * 2 + (__atomic_load_n(pairs + i, __ATOMIC_RELAXED) & 0x0000000100000001u);
  return spread_bits(halves & 0xffffffffu) | spread_bits(halves >> 32) << 1;
}

#if defined(__x86_64__)
using FourNumbers [[gnu::vector_size(16), gnu::may_alias]] = int;

template <typename Vector>
TARN_INLINE Vector load_vector(const void* from) {
  Vector vector;
  asm("movdqu %1, %0" : "=x"(vector) : "m"(*static_cast<const Vector*>(from)));
  return vector;
}

TARN_INLINE std::uint64_t bits_of_64_numbers(const void* numbers) {
  const auto* const from = static_cast<const char*>(numbers);
  std::uint64_t bits = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const auto four = [&](unsigned k) { return load_vector<FourNumbers>(from + 64 * i + 16 * k) << 31; };
    // Signed saturation keeps the sign, which is all there is.
    const auto signs = __builtin_ia32_packsswb128(__builtin_ia32_packssdw128(four(0), four(1)),
                                                  __builtin_ia32_packssdw128(four(2), four(3)));
    bits |= std::uint64_t{static_cast<std::uint32_t>(__builtin_ia32_pmovmskb128(signs))} << 16 * i;
  }
  return bits;
}
#else
TARN_INLINE std::uint64_t bits_of_64_numbers(const void* numbers) { return bits_of_numbers(numbers, 64); }
#endif

}  // namespace TARN_NAMESPACE::detail
