// A chunk of a fixed pool: a span of blocks of one size, and which of them are free.
//
// Invariant: bit i of the words is one exactly when block i is free. Bit w of the summary is one when word w
// has ones, and perhaps when the pool's walk stands on word w: the inlined paths empty that word and tell
// nobody.
// Threads: the pool's. Another thread may count the ones meanwhile, under the pool's `structure`.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/bitmap.h"
#include "page/returned_pages.h"
#include "page/span.h"

namespace tarn::internal {

struct PoolChunk {
  static constexpr std::size_t kLargestCount = 32768;  // blocks
  static constexpr std::size_t kColouredStride = 128;  // blocks at multiples of it leave cache sets unused
  static constexpr std::size_t kLargestWordCount = kLargestCount / bitmap::kWordBits;

  PoolChunk* previous;  // in a list of ChunkRuns
  PoolChunk* next;
  Span* span;
  std::uint32_t slot;  // in the ring
  std::uint32_t block_count;
  std::uint32_t word_count;
  std::uint32_t longest_run;  // no run of free blocks is longer, while the chunk is settled (ChunkRuns)
  std::uint32_t run_word;     // where the search for the next run begins
  std::uint64_t summary[kLargestWordCount / bitmap::kWordBits];

  std::uint64_t* words() { return reinterpret_cast<std::uint64_t*>(this + 1); }
  char* block(std::size_t index) const { return span->start + index * span->stride; }

  /// The first word at or after `from` that may have ones; word_count if there is none.
  std::uint32_t next_word(std::uint32_t from) const {
    return static_cast<std::uint32_t>(bitmap::find_one(summary, from, word_count));
  }
  bool may_have_free() const { return next_word(0) != word_count; }
  /// A word has lost its last one.
  void forget_word(std::uint32_t word) { bitmap::clear(summary, word); }

  std::size_t free_count() { return bitmap::count(words(), block_count); }
  void free_all();

  /// Index of the first of `count` free blocks in a row; block_count if there are none.
  std::uint32_t find_run(std::uint32_t count);

  /// Takes blocks. \pre they are free. \returns whether the summary has lost ones.
  bool take(std::uint32_t first, std::uint32_t count) {
    bool has_emptied = false;
    bitmap::for_each_word(first, count, [&](std::size_t i, std::uint64_t mask) {
      const std::uint64_t rest = words()[i] & ~mask;
      bitmap::store(words() + i, rest);
      if (rest != 0) return;
      forget_word(static_cast<std::uint32_t>(i));
      has_emptied = true;
    });
    return has_emptied;
  }
  /// Takes blocks back. \returns the index of one that was free already, with nothing to rely on then;
  /// block_count if none was.
  std::uint32_t free(std::uint32_t first, std::uint32_t count) {
    std::uint32_t freed_twice = block_count;
    bitmap::for_each_word(first, count, [&](std::size_t i, std::uint64_t mask) {
      std::uint64_t* const word = words() + i;
      const std::uint64_t bits = *word;
      if ((bits & mask) != 0) [[unlikely]]
        freed_twice = static_cast<std::uint32_t>(i * bitmap::kWordBits) +
                      static_cast<std::uint32_t>(std::countr_zero(bits & mask));
      bitmap::set(summary, i);
      bitmap::store(word, bits | mask);
    });
    return freed_twice;
  }

  /// Stops the process where the invariant does not hold. \param walk_word the word the walk stands on.
  void validate(const std::uint64_t* walk_word);

 private:
  std::uint32_t find_run_in(std::uint32_t first_word, std::uint32_t end, std::uint32_t count);
};

/// The chunk of a span that is one's.
inline PoolChunk& chunk_of(const Span& span) {
  return *reinterpret_cast<PoolChunk*>(span.free_bits - sizeof(PoolChunk) / sizeof(std::uint64_t));
}

struct ChunkRequest {
  void* pool;
  std::size_t stride;
  std::uint32_t block_count;
  std::size_t colour_bytes;  // the first block begins so far behind the first page, if there is room
  bool is_dense;             // its pages will all be touched
  bool poisons;
};

/// How many blocks a chunk has where the program does not say.
std::uint32_t usual_chunk_count(std::size_t stride);

/// A chunk whose blocks are all free, in no ring and in no list. \returns nullptr when memory is refused.
PoolChunk* make_chunk(const ChunkRequest& request);

/// Ends a chunk. \pre it is in no ring and in no list.
void end_chunk(PoolChunk& chunk, bool poisons, ReturnedPages& returned);

}  // namespace tarn::internal
