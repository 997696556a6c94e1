// Ones in a word, and runs of them. A free bitmap is always sorted: a run of n free pages is a run of n
// one-bits. Bitmaps of many words: base/bitmap.h.
#pragma once
#include <bit>
#include <cstdint>

namespace tarn::internal {

/// Number of one-bits, in a dozen instructions. \why baseline x86-64 has no instruction for it, and
/// std::popcount calls a function.
constexpr unsigned count_ones(std::uint64_t word) {
  constexpr std::uint64_t kPairs = 0x5555555555555555, kNibbles = 0x3333333333333333,
                          kBytes = 0x0f0f0f0f0f0f0f0f;
  word -= (word >> 1) & kPairs;
  word = (word & kNibbles) + ((word >> 2) & kNibbles);
  word = (word + (word >> 4)) & kBytes;
  return static_cast<unsigned>((word * 0x0101010101010101) >> 56);
}
static_assert(count_ones(~std::uint64_t{0}) == 64 && count_ones(0) == 0 &&
              count_ones(0x8000000000000001) == 2);

/// 2^64 divided by the golden ratio: a product with it has bits that depend on many of the other factor's.
inline constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;
/// \returns a word for hash tables, each of whose bits depends on many of another word's.
constexpr std::uint64_t mixed(std::uint64_t word) { return (word ^ word >> 29) * kGoldenRatio; }

/// Ones at positions [first, first + count). \pre they lie in the word.
template <typename Word = std::uint32_t>
constexpr Word run_mask(unsigned first, unsigned count) {
  return (count == 8 * sizeof(Word) ? ~Word{0} : (Word{1} << count) - 1) << first;
}

/// Bit i of the result is one when bits i .. i + count - 1 of `word` all are. \pre count >= 1.
template <typename Word>
constexpr Word run_starts(Word word, unsigned count) {
  for (unsigned have = 1; have < count && word != 0;) {
    const unsigned step = have < count - have ? have : count - have;
    word &= word >> step;
    have += step;
  }
  return word;
}

/// Length of the longest run of one-bits, in about ten steps: runs of 1, 2, 4 ... are found by doubling, then
/// the longest power found is extended by the smaller ones.
constexpr unsigned longest_run(std::uint32_t word) {
  if (word == 0) return 0;
  std::uint32_t starts[6] = {word};  // starts[k]: positions where 2^k ones begin
  unsigned power = 0;
  while (power < 5) {
    const std::uint32_t doubled = starts[power] & (starts[power] >> (1u << power));
    if (doubled == 0) break;
    starts[++power] = doubled;
  }
  std::uint32_t found = starts[power];
  unsigned length = 1u << power;
  while (power-- > 0 && length < 32) {
    const std::uint32_t longer = found & (starts[power] >> length);
    if (longer != 0) found = longer, length += 1u << power;
  }
  return length;
}
static_assert(longest_run(~0u) == 32 && longest_run(0b1011101111u) == 4 && longest_run(0x7fffffffu) == 31);

struct Run {
  unsigned first;
  unsigned count;
};

/// The first run of one-bits at or after position `from`; count 0 if there is none.
constexpr Run next_run(std::uint32_t word, unsigned from) {
  if (from >= 32) return {32, 0};
  const std::uint32_t rest = word >> from;
  if (rest == 0) return {32, 0};
  const unsigned first = from + static_cast<unsigned>(std::countr_zero(rest));
  const unsigned count = static_cast<unsigned>(std::countr_one(word >> first));
  return {first, count};
}

}  // namespace tarn::internal
