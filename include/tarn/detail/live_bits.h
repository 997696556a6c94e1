// Which of 64 neighbours are live, as the bits of a word: from a word for each, with a generation in its
// upper half.
//
// Threads: others may write meanwhile; each generation is read once, whole. \why the loads are
// assembly: no C++ load of 16 bytes is atomic in its parts.
#pragma once
#include <cstddef>
#include <cstdint>

#include "tarn/detail/api.h"

namespace TARN_NAMESPACE::detail {

/// \returns bit i of the result from bit 32 of word i. \pre count is at most 64.
TARN_INLINE std::uint64_t bits_of_words(const void* words, std::uint32_t count) {
  using Word [[gnu::may_alias]] = std::uint64_t;
  const auto* const from = static_cast<const Word*>(words);
  std::uint64_t bits = 0;
  for (std::uint32_t i = count; i-- > 0;)
    bits = bits * 2 + (__atomic_load_n(from + i, __ATOMIC_RELAXED) >> 32 & 1);
  return bits;
}

#if defined(__x86_64__)
using FourNumbers [[gnu::vector_size(16), gnu::may_alias]] = int;

template <typename Vector>
TARN_INLINE Vector load_vector(const void* from) {
  Vector vector;
  asm("movdqu %1, %0" : "=x"(vector) : "m"(*static_cast<const Vector*>(from)));
  return vector;
}

TARN_INLINE std::uint64_t bits_of_64_words(const void* words) {
  const auto* const from = static_cast<const char*>(words);
  std::uint64_t bits = 0;
  for (unsigned i = 0; i < 4; ++i) {
    // The upper halves of four words, their lowest bits where a sign is.
    const auto four = [&](unsigned k) {
      const auto low = load_vector<FourNumbers>(from + 128 * i + 32 * k),
                 high = load_vector<FourNumbers>(from + 128 * i + 32 * k + 16);
      return FourNumbers{low[1], low[3], high[1], high[3]} << 31;
    };
    // Signed saturation keeps the sign, which is all there is.
    const auto signs = __builtin_ia32_packsswb128(__builtin_ia32_packssdw128(four(0), four(1)),
                                                  __builtin_ia32_packssdw128(four(2), four(3)));
    bits |= std::uint64_t{static_cast<std::uint32_t>(__builtin_ia32_pmovmskb128(signs))} << 16 * i;
  }
  return bits;
}
#else
TARN_INLINE std::uint64_t bits_of_64_words(const void* words) { return bits_of_words(words, 64); }
#endif

}  // namespace TARN_NAMESPACE::detail
