// The runs of a fixed pool that were freed last, by their length: a request for as many blocks takes one of
// them without a search (docs/decisions/023-runs-in-churn.md).
//
// A note is a hint, the bits alone say what is free: they are set by the free, as those of any block, and a
// note whose blocks were taken since, by a search or one by one, is dropped when a request comes to it. So
// notes hide nothing: searches, counts, walks and the check of double frees need not know them.
//
// Invariant: the blocks of a note are `length` neighbours in a chunk of the pool, where `length` is that of
// its bin.
// Called by the runs' fast paths (fixed_pool.cc) and the pool's back end. Threads: the pool's. Memory: none
// before the first run is freed, then 576 bytes, and 2 KiB for each length that was freed.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/bitmap.h"
#include "tarn/detail/api.h"

namespace tarn::internal {

/// The bits of up to 64 blocks side by side, in one word or two. Where they lie in one, `high` is the same
/// word, and none of its bits is theirs. \why whether there are two is random, so a branch would be
/// mispredicted.
struct RunBits {
  std::uint64_t* low;
  std::uint64_t* high;
  std::uint64_t low_mask;
  std::uint64_t high_mask;

  TARN_INLINE RunBits(std::uint64_t* words, std::size_t first, std::size_t count) {
    const auto at = static_cast<unsigned>(first % bitmap::kWordBits);
    const std::uint64_t ones = ~std::uint64_t{0} >> (bitmap::kWordBits - count);
    low_mask = ones << at;
    high_mask = ones >> 1 >> (bitmap::kWordBits - 1 - at);
    low = words + first / bitmap::kWordBits;
    high = low + (high_mask != 0);
  }
};

class FreedRuns {
 public:
  static constexpr std::size_t kLongest = 64;  // blocks
  static constexpr std::size_t kNotes = 63;    // of each length; the older ones are dropped for others

  /// A run that was freed; its bits as in RunBits.
  struct Note {
    void* blocks;
    std::uint64_t* low;
    std::uint64_t low_mask;
    std::uint64_t high_mask;

    std::uint64_t* high() const { return low + (high_mask != 0); }
  };

  /// What a call has done; kLastOfAWord and kFirstOfAWord: the chunk's summary is to be told.
  enum class Taken : std::uint8_t { kNone, kSome, kLastOfAWord };
  enum class Freed : std::uint8_t { kNone, kSome, kFirstOfAWord };

  /// Whether runs of a length are noted. \pre length <= kLongest.
  TARN_INLINE bool knows(std::size_t length) const { return bins_[length] != nullptr; }

  /// Takes the noted run that was freed last: its bits become zeros. \pre knows(length).
  /// \param note what was taken, unless it is kNone; valid until the next call.
  TARN_INLINE Taken take(std::size_t length, const Note** note) {
    Bin& bin = *bins_[length];
    for (Note* top = bin.top; top != bin.notes;) {
      --top;
      std::uint64_t *const low = top->low, *const high = top->high();
      // Where all of a mask's bits are ones, they are zeros now.
      const std::uint64_t low_rest = bitmap::load(low) ^ top->low_mask;
      if ((low_rest & top->low_mask) != 0) continue;
      const std::uint64_t high_rest = bitmap::load(high) ^ top->high_mask;
      if ((high_rest & top->high_mask) != 0) continue;
      bin.top = top;
      *note = top;
      bitmap::store(high, high_rest);
      bitmap::store(low, low_rest);  // later: it may be the same word
      return low_rest == 0 || high_rest == 0 ? Taken::kLastOfAWord : Taken::kSome;
    }
    bin.top = bin.notes;
    return Taken::kNone;
  }

  /// Frees a run of live blocks and notes it. \pre knows(length). \param note what was noted.
  /// \returns kNone, and then nothing has changed, when a block is free already, or the notes are full.
  TARN_INLINE Freed free(const RunBits& run, std::size_t length, void* blocks, const Note** note) {
    Bin& bin = *bins_[length];
    Note* const top = bin.top;
    if (top == bin.notes + kNotes) [[unlikely]]
      return Freed::kNone;
    const std::uint64_t low = bitmap::load(run.low);
    if ((low & run.low_mask) != 0) [[unlikely]]
      return Freed::kNone;
    const std::uint64_t high = bitmap::load(run.high);
    if ((high & run.high_mask) != 0) [[unlikely]]
      return Freed::kNone;
    push(bin, run, blocks);
    *note = top;
    bitmap::store(run.high, high | run.high_mask);
    bitmap::store(run.low, low | run.low_mask);
    return low == 0 || high == 0 ? Freed::kFirstOfAWord : Freed::kSome;
  }

  /// Notes a run that has been freed; drops the older half of its length's notes if these are full. Without
  /// memory for notes, it is not noted. \pre length <= kLongest.
  void note(const RunBits& run, std::size_t length, void* blocks);

  /// \returns a note of that length, or what was one: a place to search at. nullptr: there was none.
  const Note* place_of(std::size_t length) const;

  /// Forgets all notes. Call before a chunk ends.
  void forget();
  /// Frees the memory of the notes.
  void end();

  /// Calls check(note, length) for each note.
  template <typename Check>
  void for_each(Check check) const {
    for (std::size_t length = 1; length <= kLongest; ++length)
      if (const Bin* const bin = bins_[length])
        for (const Note* note = bin->notes; note != bin->top; ++note) check(*note, length);
  }

 private:
  struct Bin {
    Note* top;  // behind the newest
    Note notes[kNotes];
  };

  TARN_INLINE static void push(Bin& bin, const RunBits& run, void* blocks) {
    Note* const top = bin.top;
    bin.top = top + 1;
    top->blocks = blocks;
    top->low = run.low;
    top->low_mask = run.low_mask;
    top->high_mask = run.high_mask;
  }
  static void forget(Bin& bin);

  Bin* bins_[kLongest + 1] = {};  // that of 0 is always nullptr
};

}  // namespace tarn::internal
