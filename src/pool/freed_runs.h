// The runs of a fixed pool that were freed last, by their length: a request for as many blocks takes one of
// them without a search (docs/decisions/023-runs-in-churn.md).
//
// A note is a hint, the bits alone say what is free: they are set by the free, as those of any block, and a
// note whose blocks were taken since, by a search or one by one, is dropped when a request comes to it. So
// notes hide nothing: searches, counts, walks and the check of double frees need not know them.
//
// The fast paths (fixed_pool_runs.cc) ask nothing but whether the newest note of a length is whole, and
// whether there is room for one more. Below the first note of each length lies one that is never whole, and
// a length without memory for notes has that one alone, and no room: all else is for the back end.
//
// Invariant: the blocks of a note are `length` neighbours in a chunk of the pool, where `length` is that of
// its list.
// Called by the runs' fast paths and the pool's back end. Threads: the pool's. Memory: none before the first
// run is freed, then 1,040 bytes, and 2 KiB for each length that was freed.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/bitmap.h"
#include "tarn/detail/api.h"

namespace TARN_NAMESPACE::detail {

/// The bits of up to 64 blocks side by side: those in a word, and those in the word behind it, of which there
/// may be none. \why whether there are any is random, so a branch would be mispredicted.
struct RunBits {
  std::uint64_t* low;
  std::uint64_t low_mask;
  std::uint64_t high_mask;

  TARN_INLINE RunBits(std::uint64_t* words, std::size_t first, std::size_t count) {
    constexpr unsigned kWordBits = internal::bitmap::kWordBits;
    const auto at = static_cast<unsigned>(first % kWordBits);
    const std::uint64_t ones = ~std::uint64_t{0} >> (kWordBits - count);
    low = words + first / kWordBits;
    low_mask = ones << at;
    high_mask = ones >> 1 >> (kWordBits - 1 - at);
  }
  constexpr RunBits(std::uint64_t* word, std::uint64_t mask) : low(word), low_mask(mask), high_mask(0) {}

  std::uint64_t* high() const { return low + 1; }
};

/// A run that was freed.
struct FreedRun {
  RunBits bits;
  void* blocks;

  TARN_INLINE bool is_whole() const {
    return ((~internal::bitmap::load(bits.low) & bits.low_mask) |
            (~internal::bitmap::load(bits.high()) & bits.high_mask)) == 0;
  }
};

/// Where the notes of each length are; all that the fast paths read and write.
struct FreedRunTops {
  static constexpr std::size_t kLongest = 64;  // blocks

  FreedRun* newest[kLongest + 1];
  FreedRun* last[kLongest + 1];  // the newest note is there when there is no room for another one
};

}  // namespace TARN_NAMESPACE::detail

namespace tarn::internal {

using detail::FreedRun;
using detail::RunBits;

class FreedRuns : private detail::FreedRunTops {
 public:
  using FreedRunTops::kLongest;
  static constexpr std::size_t kNotes = 63;  // of each length; the older ones are dropped for others

  FreedRuns();

  /// What a pool has that notes no runs: no length has a note, or room for one.
  static detail::FreedRunTops& none();
  detail::FreedRunTops& tops() { return *this; }

  /// \returns the run of that length that was freed last and is whole still; its note is dropped, and those
  /// of newer runs. nullptr: there is none. \pre length <= kLongest.
  const FreedRun* take_note(std::size_t length);

  /// Notes a run that has been freed; drops the older half of its length's notes if these are full. Without
  /// memory for notes, it is not noted. \pre length <= kLongest.
  void note(const FreedRun& run, std::size_t length);

  /// \returns a note of that length, or what was one: a place to search at. nullptr: there was none.
  const FreedRun* place_of(std::size_t length) const;

  /// Forgets all notes. Call before a chunk ends.
  void forget();
  /// Frees the memory of the notes.
  void end();

  /// Calls check(note, length) for each note.
  template <typename Check>
  void for_each(Check check) const {
    for (std::size_t length = 1; length <= kLongest; ++length)
      for (const FreedRun* note = newest[length]; note != below_first(length); --note) check(*note, length);
  }

 private:
  bool has_memory(std::size_t length) const;
  /// The note that is never whole.
  FreedRun* below_first(std::size_t length) const;
  /// Makes room for a note. \returns false when memory is refused.
  bool make_room(std::size_t length);
};

}  // namespace tarn::internal
