// Runs of one-bits in words. A free bitmap is sorted by nature: a run of n free pages is a run of n one-bits.
#pragma once
#include <bit>
#include <cstdint>

namespace tarn::internal {

/// Bits set at positions [first, first + count), count <= 32.
constexpr std::uint32_t run_mask(unsigned first, unsigned count) {
  return static_cast<std::uint32_t>(((std::uint64_t{1} << count) - 1) << first);
}

/// Bit i of the result is set when bits i .. i + count - 1 of `word` all are.
constexpr std::uint32_t run_starts(std::uint32_t word, unsigned count) {
  for (unsigned have = 1; have < count && word != 0;) {
    const unsigned step = have < count - have ? have : count - have;
    word &= word >> step;
    have += step;
  }
  return word;
}

/// Length of the longest run of one-bits.
constexpr unsigned longest_run(std::uint32_t word) {
  unsigned length = 0;
  for (; word != 0; ++length) word &= word >> 1;
  return length;
}

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
