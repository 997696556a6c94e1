// A chunk of a fixed pool: a span of blocks of one size, and the bits of the free ones.
//
// Invariant: bit i of the words is one exactly when block i is free, and in no magazine
// (thread_magazines.h). Bit w of the summary is one when word w has ones, unless these are yet to be
// reported (FixedPoolState). It may also be one for a word without ones, until the pool's walk leaves that
// word: blocks are taken without telling the summary. Behind the words is one more that is always 0, so that
// a run of up to 64 blocks can always be read and written as two words.
// A chunk of a pool that may have magazines has a byte for each block; while the pool has them, the byte is 1
// exactly when the block is live. A chunk of a buffer pool has a count of references for each block, which is
// 0 while the block is free.
// Threads: the pool's. Another thread may count the ones meanwhile, under the pool's `structure`.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/bitmap.h"
#include "os/fatal.h"
#include "page/chunk.h"
#include "page/returned_pages.h"
#include "page/span.h"

namespace tarn::internal {

struct alignas(kCacheLineBytes) PoolChunk {
  static constexpr std::size_t kLargestCount = 32768;  // blocks
  static constexpr std::size_t kColouredStride = 128;  // a stride that is a multiple leaves cache sets unused
  static constexpr std::size_t kLargestWordCount = kLargestCount / bitmap::kWordBits;
  static constexpr std::size_t kWordsBehind = 1;  // the last one

  PoolChunk* previous;  // in a list of ChunkRuns
  PoolChunk* next;
  Span* span;
  std::uint32_t slot;  // the chunk's place in the ring
  std::uint32_t block_count;
  std::uint32_t word_count;
  std::uint32_t longest_run;      // while the chunk is settled (ChunkRuns), no free run is longer
  std::uint32_t run_word;         // the search for the next run begins at this word
  std::uint32_t live_byte_count;  // 0, or a byte for each block
  std::uint64_t summary[kLargestWordCount / bitmap::kWordBits];
  // nullptr, or a count for each block (tarn/shared_buffer.h). Inlined calls find it two words before the
  // free bits (tarn/detail/buffer_front.h).
  std::uint32_t* references;
  bool may_lack_words;  // false: the summary has ones for all words

  std::uint64_t* words() { return reinterpret_cast<std::uint64_t*>(this + 1); }
  char* block(BlockIndex index) const { return span->block(index); }
  BlockIndex end() const { return BlockIndex{block_count}; }  // behind the last block

  /// \returns the first word at or after `from` that may have ones; word_count if there is none.
  std::uint32_t next_word(std::uint32_t from) const {
    return static_cast<std::uint32_t>(bitmap::find_one(summary, from, word_count));
  }
  bool may_have_free() const { return next_word(0) != word_count; }
  /// Call when the walk leaves a word without ones.
  void forget_word(std::uint32_t word) {
    bitmap::clear(summary, word);
    may_lack_words = true;
  }

  /// Whether a block is live. \pre the pool has magazines.
  bool is_live(BlockIndex index) const;
  /// Writes the live bytes: what is free by its bit is not live. \pre no other thread uses the pool.
  void write_live_bytes();

  std::size_t free_count() { return bitmap::count(words(), block_count); }
  void free_all();

  /// \returns the first of `count` free blocks in a row; end() if there are none.
  BlockIndex find_run(std::uint32_t count);

  /// Takes blocks. \pre they are free.
  void take(BlockIndex first, std::uint32_t count) {
    bitmap::for_each_word(number_of(first), count, [this](std::size_t i, std::uint64_t mask) {
      bitmap::store(words() + i, words()[i] & ~mask);
    });
  }
  /// Frees blocks. \returns end(); or a block that was already free, and then the chunk's state is broken.
  BlockIndex free(BlockIndex first, std::uint32_t count) {
    BlockIndex freed_twice = end();
    bitmap::for_each_word(number_of(first), count, [&](std::size_t i, std::uint64_t mask) {
      std::uint64_t* const word = words() + i;
      const std::uint64_t bits = *word;
      if ((bits & mask) != 0) [[unlikely]]
        freed_twice = bitmap::index_of_bit(static_cast<std::uint32_t>(i), std::countr_zero(bits & mask));
      bitmap::set(summary, i);
      bitmap::store(word, bits | mask);
    });
    return freed_twice;
  }

  /// Call when a word that was empty has got ones.
  void note_word(const std::uint64_t* word) {
    bitmap::set(summary, static_cast<std::size_t>(word - words()));
  }
  /// Call after words were noted that runs are freed to. \why runs then ask for `may_lack_words` alone.
  void note_whether_words_lack() { may_lack_words = bitmap::find_zero(summary, 0, word_count) != word_count; }

  /// Stops the process when the invariant is broken.
  /// \param is_unreported(word) whether its ones are yet to be reported.
  template <typename IsUnreported>
  void validate(IsUnreported is_unreported) {
    validate_record();
    for (std::uint32_t i = 0; i < word_count; ++i) {
      const std::uint64_t* const word = words() + i;
      const bool has_ones = *word != 0, is_noted = bitmap::test(summary, i), is_to_come = is_unreported(word);
      TARN_CHECK(is_noted || is_to_come || !has_ones);
      TARN_CHECK(is_noted || may_lack_words);
    }
  }

 private:
  void validate_record();
  BlockIndex find_run_in(std::uint32_t first_word, std::uint32_t end_word, std::uint32_t count);
};

/// \returns the chunk of a span. \pre the span is a chunk of a fixed pool.
inline PoolChunk& chunk_of(const detail::SpanHead& span) {
  return *reinterpret_cast<PoolChunk*>(span.free_bits - sizeof(PoolChunk) / sizeof(std::uint64_t));
}

/// \returns the bytes that say of each block whether it is live. \pre the chunk has them.
inline std::uint8_t* live_bytes(const detail::SpanHead& span) {
  const std::size_t words = bitmap::words_for(span.pool_blocks) + PoolChunk::kWordsBehind;
  return reinterpret_cast<std::uint8_t*>(span.free_bits) +
         round_up(words * sizeof(*span.free_bits), kCacheLineBytes);
}

inline bool PoolChunk::is_live(BlockIndex index) const {
  return __atomic_load_n(live_bytes(*span) + number_of(index), __ATOMIC_RELAXED) != 0;
}

/// A free block that its chunk's words do not name, in a magazine or depot.
struct FreeEntry {
  void* block;
  std::uint8_t* is_live;  // its byte
};

struct ChunkRequest {
  void* pool;
  std::size_t stride;
  std::uint32_t block_count;
  std::size_t colour_bytes;  // distance from the first page to the first block, if there is room
  Density density;           // of its pages
  bool poisons;
  bool has_live_bytes = false;  // a pool that may have magazines
  void* size_front = nullptr;   // of a buffer pool, whose blocks have references
};

/// \returns the number of blocks in a chunk when the program does not choose it.
std::uint32_t usual_chunk_count(std::size_t stride);

/// Makes a chunk whose blocks are all free, in no ring and no list. \returns nullptr when memory is refused.
PoolChunk* make_chunk(const ChunkRequest& request);

/// Ends a chunk. \pre it is in no ring and in no list.
void end_chunk(PoolChunk& chunk, bool poisons, ReturnedPages& returned);

}  // namespace tarn::internal
