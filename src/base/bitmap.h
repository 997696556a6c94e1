// Bitmaps: bit i of an array of 64-bit words says whether item i is free. All walks over bitmaps are here;
// runs within one word are in base/bits.h.
//
// Invariant: bits at and behind a bitmap's size are zero.
// Threads: the owner's. A word is read by one relaxed load and written by one relaxed store, so that other
// threads may count ones at the same time.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/bits.h"
#include "base/units.h"

namespace tarn::internal {

/// ceil(2^32 / stride): turns an offset into an index without a division.
constexpr std::uint32_t reciprocal_of(std::uint32_t stride) {
  return static_cast<std::uint32_t>(((std::uint64_t{1} << 32) + stride - 1) / stride);
}

/// The index of the block at `offset` bytes; exact at a block's start, within the limits of size_class.cc.
constexpr BlockIndex index_of_offset(std::uint32_t offset, std::uint32_t reciprocal) {
  return static_cast<BlockIndex>((std::uint64_t{offset} * reciprocal) >> 32);
}

namespace bitmap {

inline constexpr unsigned kWordBits = 64;

constexpr std::size_t words_for(std::size_t size) { return (size + kWordBits - 1) / kWordBits; }
constexpr std::uint64_t bit(std::size_t index) { return std::uint64_t{1} << (index % kWordBits); }

/// Bit i belongs to block i: the word and the bit of a block, and the block of a bit.
constexpr std::uint32_t word_of(BlockIndex index) { return number_of(index) / kWordBits; }
constexpr std::uint64_t bit(BlockIndex index) { return bit(std::size_t{number_of(index)}); }
constexpr BlockIndex index_of_bit(std::uint32_t word, int position) {
  return BlockIndex{word * kWordBits + static_cast<std::uint32_t>(position)};
}

inline std::uint64_t load(const std::uint64_t* word) { return __atomic_load_n(word, __ATOMIC_RELAXED); }
inline void store(std::uint64_t* word, std::uint64_t value) {
  __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

/// The lowest `count` ones of a word. \pre the word has that many.
constexpr std::uint64_t lowest_ones(std::uint64_t word, unsigned count) {
  std::uint64_t rest = word;
  while (count-- > 0) rest &= rest - 1;
  return word & ~rest;
}

/// Calls visit(position) for each one, lowest first. \why a full word, as in a fresh slab, needs no search.
template <typename Visit>
constexpr void for_each_one(std::uint64_t word, Visit visit) {
  if (word == ~std::uint64_t{0}) {
    for (unsigned i = 0; i < 64; ++i) visit(i);
  } else {
    for (; word != 0; word &= word - 1) visit(static_cast<unsigned>(std::countr_zero(word)));
  }
}

inline bool test(const std::uint64_t* words, std::size_t index) {
  return (load(words + index / kWordBits) & bit(index)) != 0;
}
inline bool test(const std::uint64_t* words, BlockIndex index) {
  return test(words, std::size_t{number_of(index)});
}
inline void set(std::uint64_t* words, std::size_t index) {
  std::uint64_t* const word = words + index / kWordBits;
  store(word, load(word) | bit(index));
}
inline void clear(std::uint64_t* words, std::size_t index) {
  std::uint64_t* const word = words + index / kWordBits;
  store(word, load(word) & ~bit(index));
}
inline void assign(std::uint64_t* words, std::size_t index, bool value) {
  value ? set(words, index) : clear(words, index);
}

/// Sets all bits of the bitmap, and clears those behind it in the last word.
inline void fill(std::uint64_t* words, std::size_t size) {
  for (std::size_t i = 0; i < size / kWordBits; ++i) store(words + i, ~std::uint64_t{0});
  if (size % kWordBits != 0)
    store(words + size / kWordBits, run_mask<std::uint64_t>(0, static_cast<unsigned>(size % kWordBits)));
}

/// Calls visit(word, mask) for each word that overlaps [first, first + count).
template <typename Visit>
constexpr void for_each_word(std::size_t first, std::size_t count, Visit visit) {
  while (count != 0) {
    const auto at = static_cast<unsigned>(first % kWordBits);
    const unsigned part = count < kWordBits - at ? static_cast<unsigned>(count) : kWordBits - at;
    visit(first / kWordBits, run_mask<std::uint64_t>(at, part));
    first += part;
    count -= part;
  }
}
inline void set_range(std::uint64_t* words, std::size_t first, std::size_t count) {
  for_each_word(first, count,
                [words](std::size_t i, std::uint64_t mask) { store(words + i, load(words + i) | mask); });
}
inline void clear_range(std::uint64_t* words, std::size_t first, std::size_t count) {
  for_each_word(first, count,
                [words](std::size_t i, std::uint64_t mask) { store(words + i, load(words + i) & ~mask); });
}

/// The first bit at or after `from` that differs from the bits of `same`, which are all alike; `size` if
/// there is none.
inline std::size_t find_other(const std::uint64_t* words, std::size_t from, std::size_t size,
                              std::uint64_t same) {
  while (from < size) {
    const std::uint64_t rest = (load(words + from / kWordBits) ^ same) >> (from % kWordBits);
    if (rest != 0) {
      const std::size_t found = from + static_cast<std::size_t>(std::countr_zero(rest));
      return found < size ? found : size;
    }
    from = (from / kWordBits + 1) * kWordBits;
  }
  return size;
}
/// \returns how many ones lie side by side right before an index.
inline std::size_t ones_before(const std::uint64_t* words, std::size_t index) {
  std::size_t ones = 0;
  while (ones < index) {
    const std::size_t last = index - ones - 1, in_word = last % kWordBits + 1;
    const auto here =
        static_cast<std::size_t>(std::countl_one(words[last / kWordBits] << (kWordBits - in_word)));
    ones += here < in_word ? here : in_word;
    if (here < in_word) break;
  }
  return ones;
}

/// The first one (zero) at or after `from`; `size` if there is none.
inline std::size_t find_one(const std::uint64_t* words, std::size_t from, std::size_t size) {
  return find_other(words, from, size, 0);
}
inline std::size_t find_zero(const std::uint64_t* words, std::size_t from, std::size_t size) {
  return find_other(words, from, size, ~std::uint64_t{0});
}

/// Bit i is one when a run of `count` ones begins at bit i of the word; the run may end in the next word.
/// \pre 1 <= count <= 64.
inline std::uint64_t run_starts_in(const std::uint64_t* words, std::size_t word, std::size_t size,
                                   unsigned count) {
  std::uint64_t low = load(words + word), high = word + 1 < words_for(size) ? load(words + word + 1) : 0;
  for (unsigned have = 1; have < count && low != 0;) {
    const unsigned step = have < count - have ? have : count - have;  // at most 32
    low &= low >> step | high << (kWordBits - step);
    high &= high >> step;
    have += step;
  }
  return low;
}

/// Finds runs of one length, at most 64, that begin in a word and may end in the next. \why the steps depend
/// on the length alone: a search of many words takes no mispredicted branch but the last.
class RunFinder {
 public:
  /// \pre 1 <= count <= 64.
  constexpr explicit RunFinder(unsigned count)
      : count_(count),
        middle_(count > kWordBits / 2 ? run_mask<std::uint64_t>(kWordBits - count, 2 * count - kWordBits)
                                      : 0) {}

  /// \returns the first bit of `low` where a run begins; kWordBits: there is none.
  constexpr unsigned first_in(std::uint64_t low, std::uint64_t high) const {
    if (const std::uint64_t starts = starts_within(low); starts != 0)
      return static_cast<unsigned>(std::countr_zero(starts));
    // The ones at the top of the one and at the bottom of the other; up to 63 each, since there is no run in
    // `low`. If there are none at the top, the result says so.
    const auto top = static_cast<unsigned>(std::countl_zero(~low | 1));
    const auto bottom = static_cast<unsigned>(std::countr_zero(~high | bit(kWordBits - 1)));
    return top + bottom >= count_ ? kWordBits - top : kWordBits;
  }

 private:
  // Any run of more than half a word has its middle bits.
  constexpr std::uint64_t starts_within(std::uint64_t word) const {
    if ((word & middle_) != middle_) return 0;
    for (unsigned have = 1; have < count_;) {
      const unsigned step = have < count_ - have ? have : count_ - have;
      word &= word >> step;
      have += step;
    }
    return word;
  }

  unsigned count_;
  std::uint64_t middle_;
};

/// The first of `count` ones in a row; `size` if there are none. \pre count > 64: such a run covers the last
/// bit of a word.
inline std::size_t find_long_run(const std::uint64_t* words, std::size_t size, std::size_t count) {
  std::size_t first = 0, length = 0;
  for (std::size_t i = 0; i < words_for(size); ++i) {
    const std::uint64_t word = load(words + i);
    const auto prefix = static_cast<std::size_t>(std::countr_one(word));
    length += prefix;
    if (length >= count) return first;
    if (prefix == kWordBits) continue;
    length = static_cast<std::size_t>(std::countl_one(word));
    first = (i + 1) * kWordBits - length;
  }
  return size;
}

/// The first of `count` ones in a row; `size` if there are none.
inline std::size_t find_run(const std::uint64_t* words, std::size_t size, std::size_t count) {
  if (count > kWordBits) return find_long_run(words, size, count);
  for (std::size_t i = 0; i < words_for(size); ++i)
    if (const std::uint64_t starts = run_starts_in(words, i, size, static_cast<unsigned>(count)); starts != 0)
      return i * kWordBits + static_cast<std::size_t>(std::countr_zero(starts));
  return size;
}

}  // namespace bitmap
}  // namespace tarn::internal
